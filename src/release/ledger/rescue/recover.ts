import { Fault } from '../../../base/errors.js';
import { remove } from '../../../base/files/file-draft.js';
import { makeFolder, syncFolder } from '../../../base/files/folder.js';
import { closeSync, existsSync, linkSync, renameSync } from '../../../base/platform/files.js';
import { dirname } from '../../../base/platform/paths.js';
import { type Link, lineOf, type StoredLink } from '../chain/chain.js';
import { chainPath, claimedLength, hasChainFile, makeChainFile, readChain } from '../chain/file.js';
import type { Witness } from '../chain/witness.js';
import { busyFault, ledgerFault } from '../faults.js';
import { follow, MemoryBooks } from '../index/accounts.js';
import { createSchema } from '../index/schema.js';
import { connect, transaction } from '../index/sqlite.js';
import { makeLedgerFile } from '../ledger-file.js';
import { checkKinds, realPlace } from '../place.js';
import { boundAnswers, type Copy } from './copy.js';
import { salvaged } from './salvaged.js';
import { begins, continueChain, fillIndex, upgraded } from './upgrade.js';

export interface Recovery {
  readonly links: number;
  readonly entries: number;
  /** Source of the chain. */
  readonly from: 'chain file' | 'index' | 'backup' | 'database';
  /** True if entries may be missing; then all accounts are closed. */
  readonly incomplete: boolean;
  readonly closed: readonly string[];
  /** Entries that were answered and whose recorded text is lost. */
  readonly textsLost: number;
  /** Paths under which the old files are kept. */
  readonly kept: readonly string[];
  readonly head: string;
}

interface FoundCopy {
  readonly from: Recovery['from'];
  readonly links: readonly StoredLink[];
}

/**
 * Rebuilds both files from the longest sound beginning in one of them or a backup. Unless the end of the chain was seen, entries
 * may be missing: all accounts are then closed until their terms are amended, and none is opened without a reason.
 */
export function recoverStorage(named: string, reason: string, witness?: Witness, backup?: Copy): Recovery {
  const place = realPlace(named);
  try {
    checkKinds(place);
    for (let attempt = 0; attempt < 5; attempt++) {
      const done = attemptRecovery(place, reason, witness, backup);
      if (done) return done;
    }
  } catch (error) {
    throw ledgerFault(error, place);
  }
  throw busyFault(place);
}

function attemptRecovery(
  place: string,
  reason: string,
  witness: Witness | undefined,
  backup: Copy | undefined,
): Recovery | undefined {
  const path = chainPath(place);
  const file = hasChainFile(path) ? { ...readChain(path), ...claimedLength(path) } : undefined;
  const index = existsSync(place) ? salvaged(place) : undefined;
  const found: FoundCopy[] = [
    ...(file ? [{ from: 'chain file' as const, links: file.links }] : []),
    ...(index ? [{ from: 'index' as const, links: index.copy.links }] : []),
    ...(backup ? [{ from: 'backup' as const, links: backup.links }] : []),
  ].map(({ from, links }) => ({ from, links: meaningfulLinks(links) }));
  if (found.length === 0) throw noLedger(place);
  const chosen = found.reduce((best, next) => (next.links.length > best.links.length ? next : best));
  // The longer one would forget costs that only the other records.
  if (!found.every(({ links }) => begins(chosen.links, links))) throw forked(place, found);
  const witnessed = witness?.head();
  const length = chosen.links.length;
  const contradicted =
    (index?.highest ?? 0) > length || (witnessed !== undefined && chosen.links[witnessed.sequence - 1]?.hash !== witnessed.hash);
  const endSeen =
    file?.endSeen === true && length >= file.highest && lastButAnswers(chosen.links) <= file.highest + (file.unfinished ? 1 : 0);
  const complete = !contradicted && (endSeen || witnessed?.sequence === length);
  const answers = new Map([...(backup?.answers ?? []), ...(index?.copy.answers ?? [])]);
  const rootless = chosen.links.length > 0 && (JSON.parse(chosen.links.at(-1)!.body) as Link).root === undefined;
  const chain = continueChain(rootless ? upgraded({ links: chosen.links, answers }) : chosen.links);
  const closed = complete ? [] : chain.populations().filter((population) => !chain.closed(population));
  chain.add({ kind: 'recover', at: Date.now(), reason, incomplete: !complete, closes: closed });
  const texts = boundAnswers(chain.links, answers);
  const kept = replaceFiles(place, chain.links, texts, file?.links.at(-1)?.hash);
  if (!kept) return undefined;
  const head = chain.links.at(-1)!;
  witness?.put(head.sequence, head.hash);
  const kinds = chain.links.map(({ body }) => (JSON.parse(body) as Link).kind);
  return {
    links: chain.links.length,
    entries: kinds.filter((kind) => kind === 'spend').length,
    from: chosen.from,
    incomplete: !complete,
    closed: chain.populations().filter(chain.closed),
    textsLost: kinds.filter((kind) => kind === 'answer').length - texts.size,
    kept,
    head: head.hash,
  };
}

/** Sequence of the last link that is no answer: answers at the end may be lost from the chain file in a crash. */
const lastButAnswers = (links: readonly StoredLink[]): number =>
  links.findLast(({ body }) => (JSON.parse(body) as Link).kind !== 'answer')?.sequence ?? 0;

/** Links with correct hashes may still be meaningless: the meaningful ones up to the first that is not. */
function meaningfulLinks(links: readonly StoredLink[]): readonly StoredLink[] {
  const books = new MemoryBooks();
  for (const [i, { body }] of links.entries())
    try {
      follow(books, JSON.parse(body) as Link);
    } catch {
      return links.slice(0, i);
    }
  return links;
}

/**
 * Replaces the chain file first: from then on a process with the old one open is refused. If a reservation was added to it meanwhile it is
 * put back (undefined). An index that is missing afterwards would be rebuilt from the chain file.
 */
function replaceFiles(
  place: string,
  links: readonly StoredLink[],
  texts: ReadonlyMap<number, string>,
  lastSeen: string | undefined,
): readonly string[] | undefined {
  const path = chainPath(place);
  const fresh = `${place}.${process.pid}.new`;
  const aside = `damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  const removeFresh = () => {
    for (const end of ['', '-wal', '-shm', '-journal', '.chain']) remove(`${fresh}${end}`);
  };
  makeFolder(dirname(place), 0o700);
  removeFresh();
  try {
    makeChainFile(chainPath(fresh), links.map(lineOf));
    makeIndex(fresh, links, texts);
    const kept: string[] = [];
    if (existsSync(path)) {
      const old = `${path}.${aside}`;
      keepAside(path, old);
      try {
        renameSync(chainPath(fresh), path);
      } catch (error) {
        putBack(old, path);
        throw error;
      }
      if (readChain(old).links.at(-1)?.hash !== lastSeen) {
        renameSync(old, path);
        return undefined;
      }
      kept.push(old);
    } else renameSync(chainPath(fresh), path);
    syncFolder(dirname(path));
    kept.push(...replaceIndex(place, fresh, aside));
    syncFolder(dirname(place));
    return kept;
  } finally {
    removeFresh();
  }
}

/** On failure the old index stays, with its log: it may be the only copy of some answers. */
function replaceIndex(place: string, fresh: string, aside: string): readonly string[] {
  const moved: (readonly [from: string, to: string])[] = [];
  const isThere = (end: string) => existsSync(`${place}${end}`);
  const names = (end: string) => [`${place}${end}`, `${place}.${aside}${end}`] as const;
  try {
    // An old log would be taken for that of the new file.
    for (const [from, to] of ['-wal', '-shm', '-journal'].filter(isThere).map(names)) {
      renameSync(from, to);
      moved.push([from, to]);
    }
    if (isThere('')) {
      const [from, to] = names('');
      keepAside(from, to);
      moved.push([from, to]);
    }
    renameSync(fresh, place);
    return moved.map(([, to]) => to);
  } catch (error) {
    for (const [from, to] of moved.toReversed()) putBack(to, from);
    throw error;
  }
}

/** Undoes `keepAside`, or a move. */
function putBack(aside: string, path: string): void {
  try {
    if (existsSync(path)) remove(aside);
    else renameSync(aside, path);
  } catch {}
}

/** Keeps the file under a second name as well; on file systems without links, under that name only. */
function keepAside(path: string, aside: string): void {
  try {
    linkSync(path, aside);
  } catch {
    renameSync(path, aside);
  }
}

function makeIndex(path: string, links: readonly StoredLink[], texts: ReadonlyMap<number, string>): void {
  closeSync(makeLedgerFile(path, 'wx'));
  const db = connect(path);
  try {
    db.exec('PRAGMA book.synchronous = FULL');
    transaction(db, 'IMMEDIATE', () => {
      createSchema(db);
      fillIndex(db, links, texts);
    });
    db.query('PRAGMA book.wal_checkpoint(TRUNCATE)').get();
  } finally {
    db.close();
  }
}

const forked = (place: string, found: readonly FoundCopy[]): Fault =>
  new Fault(
    'LEDGER_CORRUPT',
    `The ${found.map(({ from }) => from).join(' and the ')} tell different histories: each knows of spending that the other does not.`,
    'Nothing was changed. Put back the files, or the backup, that belong together.',
    { place: { file: place } },
  );
export const noLedger = (place: string): Fault =>
  new Fault(
    'DATA_NOT_FOUND',
    'There is nothing to recover a ledger from.',
    'Look for a backup: "fugu ledger POLICY restore FILE".',
    {
      place: { file: place },
    },
  );
