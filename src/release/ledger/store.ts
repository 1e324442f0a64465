import { Fault } from '../../base/errors.js';
import { makeFolder, syncFolder } from '../../base/files/folder.js';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from '../../base/platform/files.js';
import { basename, dirname, join, resolve } from '../../base/platform/paths.js';
import { bootOf } from './chain/boot.js';
import { BrokenChain, beginning, endOf, lineOf, type StoredLink } from './chain/chain.js';
import { chainPath, hasChainFile, type LedgerChainFile, makeChainFile, openChainFile } from './chain/file.js';
import type { Witness } from './chain/witness.js';
import { corrupt, ledgerFault, severalNames } from './faults.js';
import { follow } from './index/accounts.js';
import { checkSchema, createSchema, dataVersion, formatOf, schemaVersion } from './index/schema.js';
import { connect, inTurn, type SqliteConnection, transaction } from './index/sqlite.js';
import { indexOn } from './index/sqlite-rows.js';
import { type LedgerIndex, linkIn } from './index/tables.js';
import { makeLedgerFile } from './ledger-file.js';
import type { ChainState } from './ledger-storage.js';
import { mend } from './rescue/mend.js';
import { upgrade } from './rescue/upgrade.js';

/** The two copies of one ledger, open. */
export interface Store {
  readonly place: string;
  readonly db: SqliteConnection;
  readonly index: LedgerIndex;
  readonly chain: LedgerChainFile;
  readonly witness: Witness | undefined;
  /**
   * Entries are resumed only under the boot of the machine they were reserved in,
   * so an answer need not be synced before it is given out.
   */
  readonly boot: string | undefined;
  /** Brings the index up to the chain file and returns the state of both; under the write lock. */
  readonly reconciled: () => ChainState;
  /** The same if nothing is missing; undefined if the write lock is needed. */
  readonly agreed: () => ChainState | undefined;
  /** Accounts after a committed link: they follow from the chain alone, and hold as long as its end is the same. */
  readonly remember: (chainState: ChainState | undefined) => void;
  /** True if others have reserved costs recently. */
  readonly isContended: () => boolean;
  /** Writes pending account rows; nothing depends on it. */
  readonly flushRows: () => void;
  /** Refuses files that were replaced or deleted while they were open. */
  readonly checkFiles: () => void;
  /** The same for the chain file alone, which a recovery replaces first. */
  readonly checkChain: () => void;
  readonly close: () => void;
}

/** The real path behind all links: SQLite keeps its log next to the real name, so the chain file must be there too. */
export function realPlace(place: string): string {
  for (let name = resolve(place), hops = 0; hops < 40; hops++) {
    try {
      return realpathSync(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const link = lstatSync(name, { throwIfNoEntry: false });
    if (link?.isSymbolicLink()) name = resolve(dirname(name), readlinkSync(name));
    else return existsSync(dirname(name)) ? join(realpathSync(dirname(name)), basename(name)) : name;
  }
  return place;
}

/** SQLite would wait for ever on a device, a pipe or a system file. */
export function checkKinds(place: string): void {
  for (const path of [place, `${place}-wal`, `${place}-shm`, `${place}-journal`]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && !found.isFile()) throw noLedgerFile(path);
  }
  // Files of /proc and the like report size zero; nothing can be created next to them.
  if (statSync(place, { throwIfNoEntry: false })?.size !== 0 || existsSync(chainPath(place))) return;
  const probe = `${place}.${process.pid}.tmp`;
  rmSync(probe, { force: true });
  try {
    closeSync(openSync(probe, 'wx', 0o600));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? noLedgerFile(place) : error;
  }
  rmSync(probe, { force: true });
}

const noLedgerFile = (path: string): Fault =>
  new Fault('READ_ONLY', `${basename(path)} is no file that a ledger can be kept in.`, 'Name an ordinary file after ledger:.', {
    place: { file: path },
  });

/**
 * An existing file is never opened here: closing it would drop every lock of this process on it (POSIX), also those of other connections,
 * and another process could then remove the write-ahead log under them.
 */
function makeFile(place: string): void {
  checkKinds(place);
  if (existsSync(place)) {
    accessSync(place, constants.R_OK | constants.W_OK);
    if (statSync(place).nlink > 1) throw severalNames(place);
    return;
  }
  makeFolder(dirname(place), 0o700);
  try {
    closeSync(makeLedgerFile(place, 'ax'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  syncFolder(dirname(place));
}

export async function openStore(named: string, witness?: Witness): Promise<Store> {
  let place: string;
  try {
    place = realPlace(named);
    makeFile(place);
  } catch (error) {
    throw ledgerFault(error, named);
  }
  if (abandoned.has(place)) throw replaced(`${place}-shm`);
  return inTurn(place, () => {
    const db = connect(place);
    let store: Store | undefined;
    try {
      prepare(db, place);
      store = storeOn(db, place, witness);
      checkWitness(store);
      return store;
    } catch (error) {
      if (store) store.close();
      else db.close();
      throw error;
    }
  });
}

/** A ledger of this format with both its copies; created, rebuilt or upgraded where that loses nothing. */
function prepare(db: SqliteConnection, place: string): void {
  const path = chainPath(place);
  if (formatOf(db, place) === 'present') {
    if (!hasChainFile(path)) throw corrupt(place, 'the chain file beside it is missing');
    if (statSync(path).nlink > 1) throw severalNames(path);
    return;
  }
  transaction(db, 'IMMEDIATE', () => {
    const format = formatOf(db, place);
    if (format === 'former') upgrade(db, place);
    if (format !== 'none') return;
    // An index that is missing is built anew from the chain file; only recorded answers are lost with it.
    if (!hasChainFile(path)) makeChainFile(path, []);
    createSchema(db);
  });
}

function storeOn(db: SqliteConnection, place: string, witness: Witness | undefined): Store {
  checkSchema(db, place);
  const version = schemaVersion(db);
  let checked = version();
  const seen = dataVersion(db);
  const index = indexOn(db);
  const chain = openChainFile(chainPath(place));
  const checkTables = () => {
    if (version() === checked) return;
    checkSchema(db, place);
    checked = version();
  };
  let remembered: ChainState | undefined;
  /** Data version that `remembered` and `checked` belong to. */
  let after: number | undefined;
  /** Number of consecutive reads without a commit by another connection. */
  let alone = 0;
  const standingAt = (last: StoredLink | undefined): ChainState => {
    if (!last) return { end: beginning, books: index.books(undefined), last: undefined };
    const link = linkIn(last);
    const known = remembered;
    remembered = undefined;
    const missed = known ? last.sequence - known.end.sequence : 0;
    const near = missed > 0 && missed <= nearby;
    const followed = known && near && known.books.advance(index.linksAfter(known.end.sequence).map(linkIn));
    return { end: endOf(last, link), books: followed ? known.books : index.books(link), last: { link, stored: last } };
  };
  const chainState = (): { readonly found: ChainState; readonly whole: boolean } => {
    const now = seen();
    // The last commit of this connection is the end of the index, unless another connection has committed since.
    const known = now === after ? remembered : undefined;
    if (!known) checkTables();
    const last = known ? known.last?.stored : index.last();
    const held = last ? chain.holds(last) : chain.blank() && 'last';
    if (last && !held) throw new BrokenChain(`its two files differ at entry ${last.sequence}`);
    if (remembered?.end.hash !== (last ?? beginning).hash) remembered = standingAt(last);
    alone = after === undefined || now === after ? alone + 1 : 0;
    after = now;
    return { found: remembered, whole: held === 'last' };
  };
  const agreed = (): ChainState | undefined => {
    const { found, whole } = chainState();
    return whole ? found : undefined;
  };
  const reconciled = (thorough = false): ChainState => {
    const { found, whole } = chainState();
    if (whole && !thorough) return found;
    // The accounts are about to change, and if the transaction fails they have not.
    remembered = undefined;
    return catchUp(index, chain, found);
  };
  try {
    transaction(db, 'IMMEDIATE', () => {
      mend(index, chain);
      reconciled(true);
    });
    remembered = undefined;
    const checkFiles = filesOf(place, db.writeAhead, chain);
    const shared = existsSync(`${place}-shm`) ? identity(`${place}-shm`).size : 0;
    return {
      place,
      db,
      index,
      chain,
      witness,
      boot: bootOf(),
      reconciled,
      agreed,
      remember: (chainState) => {
        remembered = chainState;
      },
      isContended: () => alone < quiet,
      flushRows: () => {
        if (!remembered?.books.behind()) return;
        transaction(db, 'IMMEDIATE', () => agreed()?.books.flush());
        remembered = undefined;
      },
      checkFiles: () => checkFiles('all'),
      checkChain: () => checkFiles('chain'),
      close: () => {
        chain.close();
        // Closing would touch shared memory that no longer exists, and crash the process.
        const now = identity(`${place}-shm`);
        if (now.ino !== -1 && now.size < shared) abandoned.set(place, db);
        else db.close();
      },
    };
  } catch (error) {
    chain.close();
    throw error;
  }
}

/** Reads without other commits after which rows may wait. */
const quiet = 4;
/** Number of links that are applied in memory; beyond it reading the rows again is quicker. */
const nearby = 4;

/** References that protect them from the garbage collector, which would close them. */
const abandoned = new Map<string, SqliteConnection>();

/** Reads the links that the index lacks. */
function catchUp(index: LedgerIndex, chain: LedgerChainFile, from: ChainState): ChainState {
  const { books } = from;
  let { end, last } = from;
  const missed: StoredLink[] = [];
  const unsynced = index.linksAfter(end.since);
  const walk = chain.linksFrom(end);
  let step = walk.next();
  for (; !step.done; step = walk.next()) {
    const { link, stored } = step.value;
    follow(books, link);
    index.keepLink(link, stored);
    missed.push(stored);
    end = endOf(stored, link);
    last = step.value;
  }
  books.flush();
  const { kind, length, why } = step.value;
  if (kind === 'damaged') throw new BrokenChain(`the chain file is damaged after entry ${end.sequence} (${why ?? 'it was cut'})`);
  if (kind === 'cut') throw new BrokenChain(`the chain file was cut after entry ${end.sequence}`);
  // Nothing was given out on the account of an unfinished line.
  if (kind === 'torn') chain.write(end.offset, Buffer.alloc(length - end.offset));
  // A line may have been read from memory that never reached the disk; so may answers before it, after a failed sync.
  if (missed.length > 0) for (const link of [...unsynced, ...missed]) chain.write(link.offset, lineOf(link));
  if (kind === 'torn' || missed.length > 0) chain.sync();
  chain.allocate(end.offset + 1);
  return { end, books, last };
}

/** `chain` checks only the file that a recovery replaces first, and the one that carries the lock. */
function filesOf(place: string, writeAhead: boolean, chain: LedgerChainFile): (among?: 'all' | 'chain') => void {
  const shared = `${place}-shm`;
  const known = (path: string) => ({ path, ...identity(path) });
  const first = [{ ...known(chain.path), ...chain.identity(), size: 0 }, ...(writeAhead ? [known(shared)] : [])];
  const all = [...first, known(place), ...(writeAhead ? [known(`${place}-wal`)] : [])];
  return (among = 'all') => {
    for (const { path, dev, ino, size } of among === 'all' ? all : first) {
      const now = identity(path);
      // Truncated shared memory would crash the process when it is touched.
      if (now.dev !== dev || now.ino !== ino || (path === shared && now.size < size)) throw replaced(path);
    }
  };
}

function identity(path: string): { readonly dev: number; readonly ino: number; readonly size: number } {
  const { dev, ino, size } = statSync(path, { throwIfNoEntry: false }) ?? { dev: -1, ino: -1, size: 0 };
  return { dev, ino, size };
}

const replaced = (path: string): Fault =>
  new Fault(
    'LEDGER_CORRUPT',
    `${basename(path)} was replaced or deleted while the ledger was open.`,
    'If that was a restore or recovery, start again; otherwise put the file back, or run "fugu ledger POLICY recover --reason TEXT".',
    { place: { file: path } },
  );

/** A witness with more entries, or another one, has seen costs that both files have lost. */
export function checkWitness(store: Pick<Store, 'witness' | 'index' | 'place'>): void {
  const witnessed = store.witness?.head();
  if (!witnessed) return;
  const link = store.index.link(witnessed.sequence);
  if (link?.hash !== witnessed.hash)
    throw corrupt(
      store.place,
      link
        ? `the witness knows another entry ${witnessed.sequence}`
        : `the witness knows ${witnessed.sequence} entries of the chain, more than there are`,
    );
}
