import { spawn } from '../../base/platform/programs.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Command that opens a page on this platform; undefined where nobody would see it. */
export function browserCommand(
  platform: NodeJS.Platform = process.platform,
  env: Env = process.env,
): readonly string[] | undefined {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['cmd', '/c', 'start', ''];
  // Without a screen a text browser would open in the terminal that the service needs.
  return env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER ? ['xdg-open'] : undefined;
}

/** Opens a page in the user's browser. False where there is none: then the address must be printed. */
export function openInBrowser(page: string, program = browserCommand()): Promise<boolean> {
  const [command, ...words] = program ?? [];
  if (command === undefined) return Promise.resolve(false);
  return new Promise((done) => {
    const child = spawn(command, [...words, page], { stdio: 'ignore', detached: true });
    // Some openers run as long as their browser does.
    const opened = setTimeout(() => done(true), 2000);
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
    for (const event of ['error', 'exit']) child.once(event, () => clearTimeout(opened));
    child.unref();
  });
}

/**
 * Page that redirects to a link. Other users of the machine see a program's arguments, so a sign-in link is passed in a file that
 * only its owner can read.
 */
export const onwardPage = (link: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${link}"><title>Fugu</title><a href="${link}">Open the console</a>\n`;
