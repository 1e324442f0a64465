import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
export const mainFile = fileURLToPath(new URL('../dist/start/main.js', import.meta.url));

/** `npm test` builds before it tests; a test run by itself builds what is not there. */
export function builtOnce(): void {
  if (existsSync(mainFile)) return;
  for (const words of [
    ['scripts/client.mjs'],
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
    ['scripts/bundle.mjs'],
  ])
    execFileSync(process.execPath, words, { cwd: root });
}

export interface CommandResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

interface CommandSettings {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Shell words before the command: ulimit -f 100; … */
  readonly shell?: string;
}

/** The command line as a user meets it: a process of its own. */
export function fugu(settings: CommandSettings, ...words: string[]): Promise<CommandResult> {
  const [file, args] =
    settings.shell === undefined
      ? [process.execPath, [mainFile, ...words]]
      : ['bash', ['-c', `${settings.shell} exec "$0" "$@"`, process.execPath, mainFile, ...words]];
  return new Promise((done) => {
    const child = execFile(
      file,
      args,
      { cwd: settings.cwd, env: { ...process.env, NO_COLOR: '1', ...settings.env }, maxBuffer: 2 ** 27 },
      (_error, out, err) => done({ code: child.exitCode, signal: child.signalCode, out, err }),
    );
    child.stdin?.end();
  });
}
