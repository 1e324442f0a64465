import {
  accessSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from '../platform/files.js';
import { dirname, join, resolve } from '../platform/paths.js';
import { draftFile, type FileDraft, remove } from './file-draft.js';
import { makeFolder, syncFolder } from './folder.js';
import { errnoOf, type WriteProgress, writeFault } from './write-fault.js';

export interface WriteOptions {
  /** Advice for the user when the file cannot be written. */
  readonly hint: string;
  /** Of a file that is not there yet. */
  readonly mode?: number;
}
export type NamedFile = readonly [name: string, holds: string | Uint8Array];

/**
 * Replaces a file atomically: draft in the same folder, flush, rename, flush the folder. Links are followed, owner and mode are
 * kept; devices and pipes are written directly.
 */
export function writeWhole(file: string, text: string, options: WriteOptions): void {
  withWriteFault(file, options, (progress) => {
    if (isPipe(file)) writeFileSync(file, text);
    else moveAll([draftFile(file, text, options.mode)], progress);
  });
}

/**
 * Replaces several files: all or none, except for a crash between two renames, since all drafts are complete before the first
 * rename. Files marked `gone` are removed afterwards.
 */
export function writeFolder(
  folder: string,
  files: readonly NamedFile[],
  options: WriteOptions,
  gone: readonly string[] = [],
): void {
  withWriteFault(folder, options, (progress) => {
    makeFolder(folder);
    const drafts: FileDraft[] = [];
    try {
      for (const [name, text] of files) {
        progress.file = join(folder, name);
        drafts.push(draftFile(progress.file, text, options.mode));
      }
      moveAll(drafts, progress);
      for (const name of gone) rmSync(join(folder, name), { force: true });
    } finally {
      for (const { draft } of drafts) remove(draft);
    }
  });
}

/** Throws the fault that writing the file would throw, before any budget is spent. Creates and removes an empty draft. */
export function refuseUnwritable(file: string, options: WriteOptions): void {
  withWriteFault(file, options, () => {
    if (isPipe(file)) accessSync(file, constants.W_OK);
    else tryDraft(file);
  });
}

/** The same check for the files of a folder. A missing folder is not created: its nearest existing parent must be writable. */
export function refuseUnwritableFolder(folder: string, names: readonly string[], options: WriteOptions): void {
  withWriteFault(folder, options, (progress) => {
    const wanted = resolve(folder);
    let nearest = wanted;
    // A dangling link exists, and no folder can be created in its place.
    while (!isThere(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
    if (nearest !== wanted) tryDraft(join(nearest, 'draft'));
    for (const name of nearest === wanted ? names : []) {
      progress.file = join(folder, name);
      tryDraft(progress.file);
    }
    // A name that no file system accepts is found by a lookup.
    statSync(wanted, { throwIfNoEntry: false });
  });
}

const isThere = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};

function tryDraft(file: string): void {
  const { draft, found } = draftFile(file, '', 0o600);
  remove(draft);
  if (found?.isDirectory()) throw Object.assign(new Error('a folder has this name'), { code: 'EISDIR' });
}

/** Creates a file; false if the name is taken, which leaves that file as it is. Nobody sees a partial file under its name. */
export function writeNew(file: string, text: string, options: WriteOptions): boolean {
  return withWriteFault(file, options, (progress) => {
    const { draft, target, found } = draftFile(file, text, options.mode);
    try {
      if (found || !claim(draft, target)) return false;
      try {
        syncFolder(dirname(target));
      } catch (error) {
        progress.moved = !remove(target);
        throw error;
      }
      return true;
    } finally {
      remove(draft);
    }
  });
}

function withWriteFault<T>(file: string, { hint }: WriteOptions, work: (progress: WriteProgress) => T): T {
  const progress = { file, moved: false };
  try {
    return work(progress);
  } catch (error) {
    throw writeFault(error, progress, hint);
  }
}

function isPipe(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

function moveAll(drafts: readonly FileDraft[], progress: WriteProgress): void {
  const olds = drafts.length > 1 ? drafts.map(secondName) : [];
  const done: number[] = [];
  try {
    for (const [k, { draft, target }] of drafts.entries()) {
      progress.file = target;
      renameSync(draft, target);
      done.push(k);
    }
    progress.moved = true;
    for (const folder of new Set(drafts.map(({ target }) => dirname(target)))) syncFolder(folder);
  } catch (error) {
    if (!progress.moved) progress.moved = !done.every((k) => moveBack(drafts[k]!, olds[k]));
    throw error;
  } finally {
    for (const { draft } of drafts) remove(draft);
    for (const old of olds) if (old !== undefined) remove(old);
  }
}

/** Second name of the current file, to restore it by; undefined if there is no file or no second name is possible. */
function secondName({ draft, target, found }: FileDraft): string | undefined {
  if (!found) return undefined;
  try {
    linkSync(target, `${draft}.old`);
    return `${draft}.old`;
  } catch {
    return undefined;
  }
}

function moveBack({ target, found }: FileDraft, old: string | undefined): boolean {
  try {
    if (!found) return remove(target);
    if (old !== undefined) renameSync(old, target);
    return old !== undefined;
  } catch {
    return false;
  }
}

/** Hard link in one step; on file systems without links the name is reserved first and the content moved over it. */
function claim(draft: string, target: string): boolean {
  try {
    linkSync(draft, target);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
  }
  try {
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    renameSync(draft, target);
    return true;
  } catch (error) {
    remove(target);
    throw error;
  }
}
