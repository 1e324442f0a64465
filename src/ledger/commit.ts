import { Fault, type Outcome } from '../errors.js';
import { type Draft, linkFrom } from './accounts.js';
import { type End, endOf, lineOf, type Stored } from './chain.js';
import { asFault, checkRoom, sqliteCode } from './faults.js';
import { inTurn } from './sqlite.js';
import { askWitness, type Standing, type Store } from './store.js';

/** A transaction that is adding links: where the chain stands, and the lines to be made durable before the index is committed. */
export interface Adding extends Standing {
  end: End;
  last: Standing['last'];
  readonly lines: Stored[];
}

/** How a failure is told once a line may be in the chain file. */
export interface Late {
  readonly spent: Outcome;
  /** When the line could be taken back, which is sound while nobody was told of it. */
  readonly takenBack?: Outcome;
  /** When only the witness did not hear of it. */
  readonly unwitnessed: Outcome;
  /** The line may be lost when the machine goes down: the next one that is synced takes it along. */
  readonly unsynced?: boolean;
}

/** Adds a link to both copies; its line is written when the transaction ends. */
export function addLink({ index }: Store, on: Adding, draft: Draft, answer?: string): Stored {
  const { link, stored } = linkFrom(on.books, on.end, draft);
  on.lines.push(stored);
  index.keepLink(link, stored, answer);
  on.end = endOf(stored, link);
  on.last = { link, stored };
  return stored;
}

/**
 * The one way to write: the lock, where the chain stands, the work, the lines, the index (ledger.proof.md). Before a line is in the chain file every failure
 * leaves nothing behind; after that it is told as `late` says, and the next transaction finds the link there.
 */
export const writing = <T>(store: Store, work: (on: Adding) => T, late: (result: T) => Late | undefined): Promise<T> =>
  inTurn(store.place, () => {
    const { db, place } = store;
    store.checkFiles();
    db.exec('BEGIN IMMEDIATE');
    let ends: Late | undefined;
    let written = false;
    let outcome: Outcome | undefined;
    const lines: Stored[] = [];
    try {
      const on: Adding = { ...store.reconciled(), lines };
      askWitness(store);
      const result = work(on);
      if (on.lines.length > 0) {
        on.books.flushIfDue(store.crowded());
        ends = late(result);
        checkRoom(place, 65_536 + 8 * (on.end.offset - on.lines[0]!.offset));
        store.chain.room(on.end.offset + 1);
        for (const line of on.lines)
          putLine(store, line, ends?.unsynced !== true, (unsure) => {
            // An account that was opened, and nothing booked on it yet, is no harm.
            if (line !== on.lines.at(-1)) return;
            written = true;
            outcome = unsure && ends?.takenBack && takeBack(store, line) ? ends.takenBack : ends?.spent;
          });
      }
      const unheard = written ? tell(store, on.end) : undefined;
      try {
        commit(db);
      } catch (error) {
        const line = on.lines.at(-1);
        if (written && line && ends?.takenBack && !store.witness && db.inTransaction() && takeBack(store, line))
          outcome = ends.takenBack;
        throw error;
      }
      // Whoever took the files away meanwhile has a ledger without this link: nothing may be told on its account.
      if (written) store.checkChain();
      store.remember(on);
      if (unheard !== undefined) {
        outcome = ends?.unwitnessed;
        throw unheard;
      }
      return result;
    } catch (error) {
      // Books that nothing was added to are as they were.
      if (lines.length > 0) store.remember(undefined);
      if (db.inTransaction()) db.exec('ROLLBACK');
      throw written ? told(asFault(error, place), outcome) : error;
    }
  });

/** Without a write-ahead log readers can hold up a commit, and by then there is no way back. */
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

function tell({ witness }: Store, { sequence, hash }: End): unknown {
  try {
    witness?.tell(sequence, hash);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** `there` is called as soon as the line may be found by the next reader; `unsure` where it may not be on the disk. */
function putLine({ chain }: Store, line: Stored, sync: boolean, there: (unsure: boolean) => void): void {
  try {
    chain.write(line.offset, lineOf(line));
  } catch (error) {
    // The end of the line is its last byte, so half of it is no line; all of it may be there nevertheless.
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

/** Where even looking fails, it is taken for spent. */
function isThere(chain: Store['chain'], line: Stored): boolean {
  try {
    return chain.holds(line) !== false;
  } catch {
    return true;
  }
}

function takeBack({ chain }: Pick<Store, 'chain'>, line: Stored): boolean {
  try {
    chain.write(line.offset, Buffer.alloc(lineOf(line).length));
    chain.sync();
    return true;
  } catch {
    return false;
  }
}

function told(error: unknown, outcome: Outcome | undefined): Fault {
  const more = outcome && { outcome };
  if (!(error instanceof Fault))
    return new Fault('DISK_FAILED', 'The ledger could not be written to its end.', 'Run "fugu ledger POLICY verify".', {
      ...more,
    });
  const { code, message, hint, place, details } = error;
  return new Fault(code, message, hint, { ...(place && { place }), details, ...more });
}
