import { spawn } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

/** What opens a page where this runs; undefined where nobody would see it. */
export function openerOf(platform: NodeJS.Platform = process.platform, env: Env = process.env): readonly string[] | undefined {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['cmd', '/c', 'start', ''];
  // Without a screen it would open a browser of letters, in the terminal that the service needs.
  return env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER ? ['xdg-open'] : undefined;
}

/** Opens a page in whatever browser its user has. False where there is none: then somebody has to be told where the page is. */
export function openInBrowser(page: string, opener = openerOf()): Promise<boolean> {
  const [command, ...words] = opener ?? [];
  if (command === undefined) return Promise.resolve(false);
  return new Promise((done) => {
    const child = spawn(command, [...words, page], { stdio: 'ignore', detached: true });
    // Some openers stay as long as their browser does.
    const opened = setTimeout(() => done(true), 2000);
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
    for (const event of ['error', 'exit']) child.once(event, () => clearTimeout(opened));
    child.unref();
  });
}

/**
 * A page that goes on to a link. Other users of the machine see what a program is called with, so a link that signs somebody in is handed over in a file
 * that only its owner can read.
 */
export const onwardPage = (link: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${link}"><title>Fugu</title><a href="${link}">Open the console</a>\n`;
