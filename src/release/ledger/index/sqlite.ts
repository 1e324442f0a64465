import Database from 'libsql';
import { setTimeout as sleep } from '../../../base/platform/timers.js';
import { ledgerFault, sqliteCode } from '../faults.js';
import type { IndexRow } from './row.js';

/** Time that a process waits for the lock before it gives up with nothing reserved. */
const lockTimeout = 30_000;

type Value = string | number | null;
/** Text is read as bytes: the driver aborts the process on text that is not UTF-8. */
export interface SqliteQuery {
  readonly get: (...values: Value[]) => IndexRow | undefined;
  readonly all: (...values: Value[]) => readonly IndexRow[];
  readonly iterate: (...values: Value[]) => Iterable<IndexRow>;
}
export interface SqliteConnection {
  readonly exec: (sql: string) => void;
  readonly query: (sql: string) => SqliteQuery;
  readonly command: (sql: string) => (...values: Value[]) => void;
  readonly inTransaction: () => boolean;
  readonly writeAhead: boolean;
  readonly close: () => void;
}

/** Attached to an in-memory connection, because detaching closes the files at once, whatever statements are left. */
export function connect(place: string): SqliteConnection {
  const db = new Database(':memory:');
  const query = (sql: string): SqliteQuery => {
    const statement = db.prepare(sql).raw();
    return {
      get: (...values) => statement.get(...values) as IndexRow | undefined,
      all: (...values) => statement.all(...values) as IndexRow[],
      iterate: (...values) => statement.iterate(...values) as Iterable<IndexRow>,
    };
  };
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    try {
      if (db.inTransaction) db.exec('ROLLBACK');
      db.exec('DETACH book');
    } finally {
      db.close();
    }
  };
  db.prepare('ATTACH ? AS book').run(place);
  try {
    db.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
    const mode = query('PRAGMA book.journal_mode = WAL').get()?.[0] as unknown;
    // On a file system without shared memory SQLite keeps the rollback journal.
    const writeAhead = mode === 'wal';
    // Costs are durable in the chain file; a write-ahead log that lost its end is completed from there.
    db.exec(`PRAGMA book.synchronous = ${writeAhead ? 'NORMAL' : 'FULL'}`);
    return {
      exec: (sql) => db.exec(sql),
      query,
      command: (sql) => {
        const statement = db.prepare(sql);
        return (...values) => void statement.run(...values);
      },
      inTransaction: () => db.inTransaction,
      writeAhead,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Runs `work` (synchronous, hence never interleaved within a process), waiting without blocking while another process has the lock. */
export async function inTurn<T>(place: string, work: () => T): Promise<T> {
  const deadline = performance.now() + lockTimeout;
  for (let attempt = 0; ; attempt++) {
    try {
      return work();
    } catch (error) {
      const code = sqliteCode(error);
      if ((code !== 5 && code !== 6) || performance.now() > deadline) throw ledgerFault(error, place);
      await sleep(1 + ((attempt * 7 + process.pid) % 11));
    }
  }
}

/** One transaction; anything thrown inside leaves no trace in the index. */
export function transaction<T>(db: SqliteConnection, kind: 'IMMEDIATE' | 'DEFERRED', work: () => T): T {
  db.exec(`BEGIN ${kind}`);
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.inTransaction()) db.exec('ROLLBACK');
    throw error;
  }
}
