import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  rmSync,
  type Stats,
  writeFileSync,
} from '../platform/files.js';
import { dirname, join, resolve } from '../platform/paths.js';
import { errnoOf } from './write-fault.js';

/** Complete new content of a file, written and flushed under a temporary name in the same folder. */
export interface FileDraft {
  readonly draft: string;
  /** Destination: the file itself, or the target of its symbolic links. */
  readonly target: string;
  /** Status of the file at the destination; undefined if there is none. */
  readonly found: Stats | undefined;
}

const mostLinks = 40;

function behindLinks(file: string, left = mostLinks): Pick<FileDraft, 'target' | 'found'> {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isSymbolicLink() || left === 0) return { target: file, found };
  return behindLinks(resolve(dirname(file), readlinkSync(file)), left - 1);
}

let drafts = 0;
const { O_CREAT, O_EXCL, O_WRONLY } = constants;

/** New file under a free name in the folder; files left behind by a crashed process are not touched. */
function openDraft(folder: string, mode: number): { readonly draft: string; readonly opened: number } {
  for (;;) {
    const draft = join(folder, `.fugu-${process.pid}-${++drafts}.tmp`);
    try {
      return { draft, opened: openSync(draft, O_CREAT | O_EXCL | O_WRONLY, mode) };
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** Copies mode and owner of the file to be replaced. If the group cannot be restored, no other group may read the file. */
function keepOwner(opened: number, { uid, gid, mode }: Stats): void {
  const given = [uid, -1].some((owner) => {
    try {
      fchownSync(opened, owner, gid);
      return true;
    } catch {
      return false;
    }
  });
  fchmodSync(opened, mode & (given ? 0o777 : 0o707));
}

/** `mode` is for a file that is not there yet. */
export function draftFile(file: string, text: string | Uint8Array, mode = 0o666): FileDraft {
  const { target, found } = behindLinks(resolve(file));
  const { draft, opened } = openDraft(dirname(target), found ? 0o600 : mode);
  try {
    try {
      if (found) keepOwner(opened, found);
      writeFileSync(opened, text);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    remove(draft);
    throw error;
  }
  return { draft, target, found };
}

/** Removes a file; false if that fails, without an error, because the fault that led here matters more. */
export function remove(file: string): boolean {
  try {
    rmSync(file, { force: true });
    return true;
  } catch {
    return false;
  }
}
