import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '../errors.js';

/** The host is part of the name: a process number means nothing on another machine or in another container. */
const prefix = () => `fugu-engine-${hostname().replace(/[^A-Za-z0-9]/g, '')}-`;

/** A folder only this user can read, for what the engine spills; the caller removes it. */
export async function makeTempFolder(parent = tmpdir()): Promise<string> {
  await sweepTempFolders(parent);
  try {
    return await mkdtemp(join(parent, `${prefix()}${process.pid}-`));
  } catch {
    throw new Fault(
      'READ_ONLY',
      'No private folder can be made for temporary data.',
      'Set TMPDIR to a folder that can be written to.',
    );
  }
}

/** Removes what engines of processes that no longer live have left behind; never a folder of a living one. */
export async function sweepTempFolders(parent = tmpdir()): Promise<number> {
  const mine = prefix();
  let swept = 0;
  for (const name of await readdir(parent).catch(() => [])) {
    const owner = name.startsWith(mine) ? Number(/^(\d+)-/.exec(name.slice(mine.length))?.[1]) : Number.NaN;
    if (!Number.isInteger(owner) || isAlive(owner)) continue;
    const path = join(parent, name);
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isDirectory() || (process.getuid && found.uid !== process.getuid())) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    swept++;
  }
  return swept;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
