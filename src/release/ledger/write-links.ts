import { Fault, type Outcome } from '../../base/errors.js';
import { type ChainEnd, lineOf, type StoredLink } from './chain/chain.js';
import { checkFreeSpace, ledgerFault, sqliteCode } from './faults.js';
import { inTurn } from './index/sqlite.js';
import { type ChainAppend, type FreeFailure, isFreeFailure, type LateFailure } from './ledger-storage.js';
import { checkWitness, type Store } from './store.js';

/**
 * The only way to write: lock, chain state, work, lines, index (ledger.proof.md). A failure before a line is in the chain
 * file leaves nothing behind; a later one is reported as `late` states, and the next transaction finds the link.
 */
export const writeLinks = <T>(
  store: Store,
  work: (on: ChainAppend) => T,
  late: (result: T) => LateFailure | FreeFailure,
): Promise<T> =>
  inTurn(store.place, () => {
    const { db, place } = store;
    store.checkFiles();
    db.exec('BEGIN IMMEDIATE');
    let ends: LateFailure | FreeFailure | undefined;
    let written = false;
    let end: Outcome | string | undefined;
    const lines: StoredLink[] = [];
    try {
      const on: ChainAppend = { ...store.reconciled(), lines };
      checkWitness(store);
      const result = work(on);
      if (on.lines.length > 0) {
        on.books.flushIfDue(store.isContended());
        ends = late(result);
        checkFreeSpace(place, 65_536 + 8 * (on.end.offset - on.lines[0]!.offset));
        store.chain.allocate(on.end.offset + 1);
        const paying = isFreeFailure(ends) ? undefined : ends;
        for (const line of on.lines)
          putLine(store, line, paying?.unsynced !== true, (unsure) => {
            // An account that was opened without a cost yet does no harm.
            if (line !== on.lines.at(-1)) return;
            const back = unsure && (!paying || paying.takenBack !== undefined) && takeBack(store, line);
            written = !back || paying !== undefined;
            end = back ? paying?.takenBack : (paying?.spent ?? (ends as FreeFailure).doubt);
          });
      }
      const witnessError = written ? notifyWitness(store, on.end) : undefined;
      let behind = false;
      try {
        commit(db);
      } catch (error) {
        const line = on.lines.at(-1);
        behind = written && isFreeFailure(ends);
        if (
          written &&
          line &&
          !isFreeFailure(ends) &&
          ends?.takenBack &&
          !store.witness &&
          db.inTransaction() &&
          takeBack(store, line)
        )
          end = ends.takenBack;
        if (!behind) throw error;
        rollBack(db);
      }
      // Anyone who removed the files meanwhile has a ledger without this link, so nothing may be given out on its account.
      if (written) store.checkChain();
      store.remember(behind ? undefined : on);
      if (witnessError !== undefined) {
        end = isFreeFailure(ends) ? ends.unwitnessedText : ends?.unwitnessed;
        throw witnessError;
      }
      return result;
    } catch (error) {
      // Accounts without additions are unchanged.
      if (lines.length > 0) store.remember(undefined);
      rollBack(db);
      throw written ? writeFault(ledgerFault(error, place), end) : error;
    }
  });

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

function writeFault(error: unknown, end: Outcome | string | undefined): Fault {
  const more = typeof end === 'object' && { outcome: end };
  const known =
    error instanceof Fault
      ? error
      : new Fault('DISK_FAILED', 'The ledger could not be written to its end.', 'Run "fugu ledger POLICY verify".');
  const { code, message, hint, place, details } = known;
  return new Fault(code, message, typeof end === 'string' ? `${hint} ${end}` : hint, {
    ...(place && { place }),
    details: { ...details },
    ...more,
  });
}
