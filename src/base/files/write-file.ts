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
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Draft, draftFor, remove } from './draft.js';
import { makeFolder, syncFolder } from './folder.js';
import { errnoOf, type Progress, unwritten } from './unwritten.js';

export interface Writing {
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
export function writeWhole(file: string, text: string, writing: Writing): void {
  told(file, writing, (progress) => {
    if (isPipe(file)) writeFileSync(file, text);
    else moveAll([draftFor(file, text, writing.mode)], progress);
  });
}

/**
 * All of them as they were or all as they should be, short of a crash between two moves: every one is drafted before the first is moved. Files that are `gone` are
 * removed after that.
 */
export function writeFolder(folder: string, files: readonly NamedFile[], writing: Writing, gone: readonly string[] = []): void {
  told(folder, writing, (progress) => {
    makeFolder(folder);
    const drafts: Draft[] = [];
    try {
      for (const [name, text] of files) {
        progress.file = join(folder, name);
        drafts.push(draftFor(progress.file, text, writing.mode));
      }
      moveAll(drafts, progress);
      for (const name of gone) rmSync(join(folder, name), { force: true });
    } finally {
      for (const { draft } of drafts) remove(draft);
    }
  });
}

/** Throws the fault that writing the file would throw, before any budget is spent. Creates and removes an empty draft. */
export function refuseUnwritable(file: string, writing: Writing): void {
  told(file, writing, () => {
    if (isPipe(file)) accessSync(file, constants.W_OK);
    else tryDraft(file);
  });
}

/** The same for files of a folder. A folder that is not there yet is not made: the nearest one above it must be writable. */
export function refuseUnwritableFolder(folder: string, names: readonly string[], writing: Writing): void {
  told(folder, writing, (progress) => {
    const wanted = resolve(folder);
    let nearest = wanted;
    // A link to nothing is there, and no folder can be made in its place.
    while (!isThere(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
    if (nearest !== wanted) tryDraft(join(nearest, 'draft'));
    for (const name of nearest === wanted ? names : []) {
      progress.file = join(folder, name);
      tryDraft(progress.file);
    }
    // A name that no file system takes is found by looking for it.
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
  const { draft, found } = draftFor(file, '', 0o600);
  remove(draft);
  if (found?.isDirectory()) throw Object.assign(new Error('a folder has this name'), { code: 'EISDIR' });
}

/** False where something has that name already, which stays as it is. Nobody ever sees half of it under its name. */
export function writeNew(file: string, text: string, writing: Writing): boolean {
  return told(file, writing, (progress) => {
    const { draft, target, found } = draftFor(file, text, writing.mode);
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

function told<T>(file: string, { hint }: Writing, work: (progress: Progress) => T): T {
  const progress = { file, moved: false };
  try {
    return work(progress);
  } catch (error) {
    throw unwritten(error, progress, hint);
  }
}

function isPipe(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

function moveAll(drafts: readonly Draft[], progress: Progress): void {
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

/** Another name for what is there now, to move it back by; none where there is nothing, or no second name can be given. */
function secondName({ draft, target, found }: Draft): string | undefined {
  if (!found) return undefined;
  try {
    linkSync(target, `${draft}.old`);
    return `${draft}.old`;
  } catch {
    return undefined;
  }
}

function moveBack({ target, found }: Draft, old: string | undefined): boolean {
  try {
    if (!found) return remove(target);
    if (old !== undefined) renameSync(old, target);
    return old !== undefined;
  } catch {
    return false;
  }
}

/** A second name in one step; where a file system has none, the name is taken first and what belongs there is moved over it. */
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
