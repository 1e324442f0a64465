import { Fault } from '../../base/errors.js';
import { type ChainEnd, lineOf, type StoredLink } from './chain/chain.js';
import { checkFreeSpace, type Ending, ledgerFault, sqliteCode, withEnding } from './faults.js';
import { inTurn } from './index/sqlite.js';
import { type ChainAppend, isWithoutCost, type LateFailure, refuseUnwitnessed } from './ledger-storage.js';
import type { Store } from './store.js';

/** A transaction so far: whether its last line is in the chain file, and what a failure ends in. */
interface Attempt {
  readonly lines: StoredLink[];
  late?: LateFailure;
  written: boolean;
  end?: Ending | undefined;
}

/**
 * The only way to write: lock, chain state, work, lines, index (ledger.proof.md). A failure before a line is in the chain
 * file leaves nothing behind; a later one is reported as `late` says, and the next transaction finds the link.
 */
export const writeLinks = <T>(store: Store, work: (on: ChainAppend) => T, late: (result: T) => LateFailure): Promise<T> =>
  inTurn(store.place, () => {
    const { db, place } = store;
    store.checkFiles();
    db.exec('BEGIN IMMEDIATE');
    const attempt: Attempt = { lines: [], written: false };
    try {
      const on: ChainAppend = { ...store.reconciled(), lines: attempt.lines };
      refuseUnwitnessed(store, store.witness?.head());
      const result = work(on);
      if (on.lines.length > 0) putLines(store, on, attempt, late(result));
      const witnessError = attempt.written ? notifyWitness(store, on.end) : undefined;
      const isIndexed = commitIndex(store, attempt);
      // Anyone who removed the files meanwhile has a ledger without this link, so nothing may be given out on its account.
      if (attempt.written) store.checkChain();
      store.remember(isIndexed ? on : undefined);
      if (witnessError !== undefined) {
        attempt.end = attempt.late?.unwitnessed;
        throw witnessError;
      }
      return result;
    } catch (error) {
      // Accounts without additions are unchanged.
      if (attempt.lines.length > 0) store.remember(undefined);
      rollBack(db);
      throw attempt.written ? withEnding(writeFault(error, place), attempt.end) : error;
    }
  });

function putLines(store: Store, on: ChainAppend, attempt: Attempt, late: LateFailure): void {
  on.books.flushIfDue(store.isContended());
  attempt.late = late;
  checkFreeSpace(store.place, 65_536 + 8 * (on.end.offset - on.lines[0]!.offset));
  store.chain.allocate(on.end.offset + 1);
  for (const line of on.lines)
    putLine(store, line, late.unsynced !== true, (unsure) => {
      // An account that was opened without a cost yet does no harm.
      if (line !== on.lines.at(-1)) return;
      const back = unsure && (isWithoutCost(late) || late.takenBack !== undefined) && takeBack(store, line);
      attempt.written = !back || !isWithoutCost(late);
      attempt.end = back ? late.takenBack : late.written;
    });
}

/** False where a link without a cost is missing from the index: the next transaction reads it from the chain file. */
function commitIndex(store: Store, attempt: Attempt): boolean {
  const { db, witness } = store;
  try {
    commit(db);
    return true;
  } catch (error) {
    const { late, written, lines } = attempt;
    if (!written || !late) throw error;
    if (isWithoutCost(late)) {
      rollBack(db);
      return false;
    }
    if (late.takenBack && !witness && db.inTransaction() && takeBack(store, lines.at(-1)!)) attempt.end = late.takenBack;
    throw error;
  }
}

/** A failure here does not hide the outcome: the next process to open the file rolls an open transaction back. */
function rollBack(db: Store['db']): void {
  try {
    if (db.inTransaction()) db.exec('ROLLBACK');
  } catch {}
}

/** Without a write-ahead log readers can delay a commit, and by then the line is written. */
function commit(db: Store['db']): void {
  const deadline = performance.now() + 5000;
  for (;;) {
    try {
      db.exec('COMMIT');
      return;
    } catch (error) {
      if (sqliteCode(error) !== 5 || !db.inTransaction() || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function notifyWitness({ witness }: Store, { sequence, hash }: ChainEnd): unknown {
  try {
    witness?.put(sequence, hash);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** `there` is called as soon as the line may be found by the next reader; `unsure` where it may not be on the disk. */
function putLine({ chain }: Store, line: StoredLink, sync: boolean, there: (unsure: boolean) => void): void {
  try {
    chain.write(line.offset, lineOf(line));
  } catch (error) {
    // The end of the line is its last byte, so half of it is no line; the whole line may be there nevertheless.
    if (!takeBack({ chain }, line) && isThere(chain, line)) there(false);
    throw error;
  }
  try {
    if (sync) chain.sync();
  } catch (error) {
    there(true);
    throw error;
  }
  there(false);
}

/** If even reading fails, the line counts as written and the budget as spent. */
function isThere(chain: Store['chain'], line: StoredLink): boolean {
  try {
    return chain.holds(line) !== false;
  } catch {
    return true;
  }
}

function takeBack({ chain }: Pick<Store, 'chain'>, line: StoredLink): boolean {
  try {
    chain.write(line.offset, Buffer.alloc(lineOf(line).length));
    chain.sync();
    return true;
  } catch {
    return false;
  }
}

function writeFault(error: unknown, place: string): Fault {
  const fault = ledgerFault(error, place);
  if (fault instanceof Fault) return fault;
  return new Fault('DISK_FAILED', 'The ledger could not be written to its end.', 'Run "fugu ledger POLICY verify".');
}
