import { Fault } from '../../base/errors.js';
import { writeFaultCode } from '../../base/files/write-fault.js';
import { lstat, mkdtemp, readdir, rm, rmSync } from '../../base/platform/files.js';
import { hostname, tmpdir } from '../../base/platform/host.js';
import { join } from '../../base/platform/paths.js';

/** The host is part of the name: a process number means nothing on another machine or in another container. */
const prefix = () => `fugu-engine-${hostname().replace(/[^A-Za-z0-9]/g, '')}-`;

/** Folders of this process that are still there. */
const kept = new Set<string>();

/** An orderly exit, also by a signal, removes the folders of the process; after kill -9 the next process removes them. */
function removeKept(): void {
  for (const folder of kept) {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // The next process sweeps it.
    }
  }
}

let listening = false;
function listen(): void {
  if (!listening) process.on('exit', removeKept);
  listening = true;
}

export async function removeTempFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  kept.delete(folder);
}

/** A folder only this user can read, for what the engine spills; `removeTempFolder` removes it. */
export async function makeTempFolder(parent = tmpdir()): Promise<string> {
  await sweepTempFolders(parent);
  try {
    const folder = await mkdtemp(join(parent, `${prefix()}${process.pid}-`));
    listen();
    kept.add(folder);
    return folder;
  } catch (error) {
    throw new Fault(
      writeFaultCode(error),
      'No private folder can be made for temporary data.',
      'Set TMPDIR to a folder that can be written to and has room.',
    );
  }
}

/** Removes folders of dead processes; never a folder of a running one. */
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
