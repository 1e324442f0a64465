import { readFileSync, statSync } from '../../base/platform/files.js';
import { sha256 } from '../../base/platform/hash.js';
import { BrokenChain, beginning, endOf, lineOf, type StoredLink } from './chain/chain.js';
import { chainPath, hasChainFile, type LedgerChainFile, makeChainFile, openChainFile } from './chain/file.js';
import type { Witness } from './chain/witness.js';
import { corrupt, ledgerFault, severalNames } from './faults.js';
import { follow } from './index/accounts.js';
import { linkIn } from './index/row.js';
import { checkSchema, createSchema, dataVersion, formatOf, schemaVersion } from './index/schema.js';
import { connect, inTurn, type SqliteConnection, transaction } from './index/sqlite.js';
import { indexOn } from './index/sqlite-rows.js';
import type { LedgerIndex } from './index/tables.js';
import { type ChainState, type LedgerStorage, refuseUnwitnessed, stateAt } from './ledger-storage.js';
import { filesOf, makeFile, realPlace, replaced, sharedMemory } from './place.js';
import { mend } from './rescue/mend.js';
import { upgrade } from './rescue/upgrade.js';

/** The two copies of one ledger, open. */
export interface Store extends Pick<LedgerStorage, 'place' | 'index' | 'boot'> {
  readonly db: SqliteConnection;
  readonly chain: LedgerChainFile;
  readonly witness: Witness | undefined;
  /** Brings the index up to the chain file and returns the state of both; under the write lock. */
  reconciled(): ChainState;
  /** The same if nothing is missing; undefined if the write lock is needed. */
  agreed(): ChainState | undefined;
  /** Accounts after a committed link: they follow from the chain alone, and hold as long as its end is the same. */
  remember(chainState: ChainState | undefined): void;
  /** True if others have reserved costs recently. */
  isContended(): boolean;
  /** Writes pending account rows; nothing depends on it. */
  flushRows(): void;
  /** Refuses files that were replaced or deleted while they were open. */
  checkFiles(): void;
  /** The same for the chain file alone, which a recovery replaces first. */
  checkChain(): void;
  close(): void;
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
      store = new FileStore(db, place, witness);
      refuseUnwitnessed(store, witness?.head());
      return store;
    } catch (error) {
      (store ?? db).close();
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

class FileStore implements Store {
  readonly place: string;
  readonly db: SqliteConnection;
  readonly index: LedgerIndex;
  readonly chain: LedgerChainFile;
  readonly witness: Witness | undefined;
  readonly boot = bootOf();
  readonly #dataVersion: () => number;
  readonly #schemaVersion: () => number;
  #schemaChecked: number;
  readonly #checkFiles: (among: 'all' | 'chain') => void;
  /** Size of the shared memory when it was opened. */
  readonly #shared: number;
  #remembered: ChainState | undefined;
  /** Data version that `#remembered` and `#schemaChecked` belong to. */
  #after: number | undefined;
  /** Number of consecutive reads without a commit by another connection. */
  #alone = 0;

  constructor(db: SqliteConnection, place: string, witness: Witness | undefined) {
    checkSchema(db, place);
    this.place = place;
    this.db = db;
    this.witness = witness;
    this.#schemaVersion = schemaVersion(db);
    this.#schemaChecked = this.#schemaVersion();
    this.#dataVersion = dataVersion(db);
    this.index = indexOn(db);
    this.chain = openChainFile(chainPath(place));
    try {
      transaction(db, 'IMMEDIATE', () => {
        mend(this.index, this.chain);
        this.#catchUp(this.#state().found);
      });
      this.#remembered = undefined;
      this.#checkFiles = filesOf(place, db.writeAhead, this.chain);
      this.#shared = sharedMemory(place)?.size ?? 0;
    } catch (error) {
      this.chain.close();
      throw error;
    }
  }

  agreed(): ChainState | undefined {
    const { found, whole } = this.#state();
    return whole ? found : undefined;
  }
  reconciled(): ChainState {
    const { found, whole } = this.#state();
    return whole ? found : this.#catchUp(found);
  }
  remember(chainState: ChainState | undefined): void {
    this.#remembered = chainState;
  }
  isContended(): boolean {
    return this.#alone < quiet;
  }
  flushRows(): void {
    if (!this.#remembered?.books.behind()) return;
    transaction(this.db, 'IMMEDIATE', () => this.agreed()?.books.flush());
    this.#remembered = undefined;
  }
  checkFiles(): void {
    this.#checkFiles('all');
  }
  checkChain(): void {
    this.#checkFiles('chain');
  }
  close(): void {
    this.chain.close();
    // Closing would touch shared memory that no longer exists, and crash the process.
    const now = sharedMemory(this.place);
    if (now && now.size < this.#shared) abandoned.set(this.place, this.db);
    else this.db.close();
  }

  #state(): { readonly found: ChainState; readonly whole: boolean } {
    const now = this.#dataVersion();
    // The last commit of this connection is the end of the index, unless another connection has committed since.
    const known = now === this.#after ? this.#remembered : undefined;
    if (!known) this.#checkTables();
    const last = known ? known.last?.stored : this.index.last();
    const held = last ? this.chain.holds(last) : this.chain.blank() && 'last';
    if (last && !held) throw new BrokenChain(`its two files differ at entry ${last.sequence}`);
    if (this.#remembered?.end.hash !== (last ?? beginning).hash) this.#remembered = this.#stateAt(last);
    this.#alone = this.#after === undefined || now === this.#after ? this.#alone + 1 : 0;
    this.#after = now;
    return { found: this.#remembered!, whole: held === 'last' };
  }

  /** Accounts that are a few links behind are brought forward; others are read again. */
  #stateAt(last: StoredLink | undefined): ChainState {
    const known = this.#remembered;
    this.#remembered = undefined;
    const missed = known && last ? last.sequence - known.end.sequence : 0;
    const isNear = missed > 0 && missed <= nearby;
    const follows = isNear && known!.books.advance(this.index.linksAfter(known!.end.sequence).map(linkIn));
    return stateAt(this.index, last, follows ? known!.books : undefined);
  }

  /** The accounts are about to change, and if the transaction fails they have not. */
  #catchUp(found: ChainState): ChainState {
    this.#remembered = undefined;
    return catchUp(this.index, this.chain, found);
  }

  #checkTables(): void {
    if (this.#schemaVersion() === this.#schemaChecked) return;
    checkSchema(this.db, this.place);
    this.#schemaChecked = this.#schemaVersion();
  }
}

/** Under one boot of the machine all processes see each other's writes, synced or not; undefined where it has no name. */
function bootOf(): string | undefined {
  try {
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? sha256(`fugu boot ${id}`).slice(0, 32) : undefined;
  } catch {
    return undefined;
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
