import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { mainFile } from '../fugu.js';

/** True if the system has a program that makes terminals. */
export const hasScript = (() => {
  try {
    return execFileSync('script', ['-qec', 'echo here', '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] }).includes('here');
  } catch {
    return false;
  }
})();

export interface Desktop {
  readonly bin: string;
  readonly env: NodeJS.ProcessEnv;
  /** The page that a browser was given, and the link it goes on to. */
  opened(): Promise<{ readonly page: string; readonly link: string }>;
  readonly hasOpened: boolean;
  remove(): void;
}

/** A stand-in for the program of a desktop that opens pages; it records its arguments. */
export function openDesktop(): Desktop {
  const bin = mkdtempSync(join(tmpdir(), 'fugu-opener-'));
  const openedFile = join(bin, 'asked');
  writeFileSync(
    join(bin, 'xdg-open'),
    `#!/bin/sh\nprintf '%s' "$1" > '${openedFile}.part'\nmv '${openedFile}.part' '${openedFile}'\n`,
  );
  chmodSync(join(bin, 'xdg-open'), 0o755);
  return {
    bin,
    env: { ...process.env, NO_COLOR: '1', DISPLAY: ':99', PATH: `${bin}:${process.env.PATH}` },
    async opened() {
      await expect.poll(() => existsSync(openedFile), { timeout: 600_000 }).toBe(true);
      const page = readFileSync(openedFile, 'utf8');
      return { page, link: /url=([^"]+)"/.exec(readFileSync(page, 'utf8'))![1]! };
    },
    get hasOpened() {
      return existsSync(openedFile);
    },
    remove: () => rmSync(bin, { recursive: true, force: true }),
  };
}

/** Runs a command on a terminal of its own; `say` types. It takes the shell's place: a shell that waits for it would hear Ctrl-C, too. */
export function terminal(folder: string, words: string, env: NodeJS.ProcessEnv) {
  const child = spawn('script', ['-qec', `exec "${process.execPath}" "${mainFile}" ${words}`, '/dev/null'], { cwd: folder, env });
  const seen = { out: '' };
  child.stdout.on('data', (text: Buffer) => {
    seen.out += String(text);
  });
  const ended = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
  return {
    seen,
    ended,
    say: (text: string) => child.stdin.write(text),
    until: (words: RegExp) => expect.poll(() => seen.out, { timeout: 600_000 }).toMatch(words),
  };
}
