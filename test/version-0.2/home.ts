import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

export const fixtures = join(import.meta.dirname, 'fixtures');
/** Full paths are part of the accounts and keys of version 0.2, so its folder lies where it lay. */
export const home = '/tmp/fugu-version-0.2';
const owner = `${home}.owner`;

/** The folder of version 0.2 as it was left, or a copy of it elsewhere. Git keeps no modes: ledgers and tokens are their owner's only. */
export function unpack(to: string): void {
  const from = join(fixtures, 'home');
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const { parentPath, name } of readdirSync(from, { recursive: true, withFileTypes: true }).filter((f) => f.isFile())) {
    const bytes = readFileSync(join(parentPath, name));
    const place = join(to, relative(from, parentPath), name.replace(/\.gz$/, ''));
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    writeFileSync(place, name.endsWith('.gz') ? gunzipSync(bytes) : bytes, { mode: 0o600 });
  }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** The folder at its own path, for one process at a time; whatever a process that was killed left there is taken away. */
export async function takeHome(): Promise<void> {
  for (;;) {
    try {
      writeFileSync(owner, `${process.pid}`, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const pid = existsSync(owner) ? Number(readFileSync(owner, 'utf8')) : 0;
      if (pid > 0 && !isRunning(pid)) rmSync(owner, { force: true });
      await after(50);
    }
  }
  rmSync(home, { recursive: true, force: true });
  unpack(home);
}

export function leaveHome(): void {
  rmSync(home, { recursive: true, force: true });
  rmSync(owner, { force: true });
}
