import { accessSync, closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { Fault } from '../errors.js';

/** "FUGU": marks the file as ours. */
const applicationId = 0x46554755;
const version = 1;
/** How long a process waits for its turn before it gives up with nothing booked. */
const patience = 30_000;

const schema = `
CREATE TABLE entry (sequence INTEGER PRIMARY KEY, population TEXT NOT NULL, key TEXT, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE INDEX entry_of_population ON entry (population, sequence);
CREATE INDEX entry_of_key ON entry (key, population) WHERE key IS NOT NULL;
CREATE TABLE account (population TEXT PRIMARY KEY, digest TEXT NOT NULL, summary TEXT NOT NULL, totals TEXT NOT NULL, head INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE analyst (population TEXT NOT NULL, analyst TEXT NOT NULL, totals TEXT NOT NULL, PRIMARY KEY (population, analyst)) STRICT, WITHOUT ROWID;
CREATE TABLE answer (sequence INTEGER PRIMARY KEY REFERENCES entry, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
PRAGMA application_id = ${applicationId};
PRAGMA user_version = ${version};
`;

export const corrupt = (place: string, what: string): Fault =>
  new Fault(
    'LEDGER_CORRUPT',
    `The ledger is damaged: ${what}.`,
    'Nothing was spent or released. Restore the ledger from a backup; run "fugu ledger POLICY verify" to see where the chain breaks.',
    { place: { file: place } },
  );

const readOnly = (place: string) =>
  new Fault(
    'READ_ONLY',
    'The ledger cannot be written.',
    'Nothing was spent. Give this user write access to the ledger and its folder.',
    {
      place: { file: place },
    },
  );
const full = (place: string) =>
  new Fault('DISK_FULL', 'There is no room left to write the ledger.', 'Nothing was spent. Free some disk space and try again.', {
    place: { file: place },
  });
const busy = (place: string) =>
  new Fault(
    'LEDGER_BUSY',
    'The ledger stayed locked by another process.',
    'Nothing was spent. Try again; if it persists, look for a process that holds the ledger open in a transaction.',
    { place: { file: place } },
  );

/** SQLite keeps what was written last beside the name it was opened by: under another name it would not be seen. */
const severalNames = (place: string) =>
  new Fault(
    'LEDGER_MISMATCH',
    'The ledger file has a second name (a hard link), under which spending would be missed.',
    'Nothing was spent. Remove the other name; a link with "ln -s" is safe.',
    { place: { file: place } },
  );

const crowded = (place: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(dirname(place));
    return bavail * bsize < 65_536;
  } catch {
    return false;
  }
};

const byNode: Record<string, (place: string) => Fault> = {
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  EROFS: readOnly,
  EACCES: readOnly,
  EPERM: readOnly,
  EISDIR: readOnly,
  ENOTDIR: readOnly,
  ENOENT: readOnly,
  EEXIST: readOnly,
};
/** SQLite's primary result codes. */
const bySqlite: Record<number, (place: string) => Fault> = {
  3: readOnly,
  5: busy,
  6: busy,
  8: readOnly,
  10: (place) => (crowded(place) ? full(place) : readOnly(place)),
  11: (place) => corrupt(place, 'SQLite finds the file malformed'),
  13: full,
  14: (place) => (crowded(place) ? full(place) : readOnly(place)),
  26: (place) => corrupt(place, 'the file is not a SQLite database'),
};
const sqliteCode = (error: unknown): number | undefined => {
  const { rawCode, message } = error as { rawCode?: number; message?: string };
  if (typeof rawCode === 'number') return rawCode & 0xff;
  const opening = /^ConnectionFailed\(.*: (\d+)"\)$/.exec(message ?? '');
  return opening ? Number(opening[1]) & 0xff : undefined;
};

/** Driver and system errors as faults; whatever is neither passes unchanged. */
export function asFault(error: unknown, place: string): unknown {
  if (error instanceof Fault) return error;
  const known = bySqlite[sqliteCode(error) ?? -1] ?? byNode[(error as NodeJS.ErrnoException).code ?? ''];
  return known ? known(place) : error;
}

/** Runs `work` (synchronous, hence never interleaved within a process), waiting without blocking while another process has the lock. */
export async function inTurn<T>(place: string, work: () => T): Promise<T> {
  const deadline = Date.now() + patience;
  for (let attempt = 0; ; attempt++) {
    try {
      return work();
    } catch (error) {
      const code = sqliteCode(error);
      if ((code !== 5 && code !== 6) || Date.now() > deadline) throw asFault(error, place);
      await sleep(1 + ((attempt * 7 + process.pid) % 11));
    }
  }
}

/** One exclusive transaction, durable when it returns; anything thrown inside leaves no trace. */
export function exclusively<T>(db: Database.Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Readable by its owner only from the first byte on. A file that is there is never opened here: closing it would drop every lock this process holds
 * on it (POSIX), also those of other connections, and another process could then take the write-ahead log away under them.
 */
function makeFile(place: string): void {
  if (existsSync(place)) {
    accessSync(place, constants.R_OK | constants.W_OK);
    const found = statSync(place);
    if (found.isFile() && found.nlink > 1) throw severalNames(place);
    return;
  }
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(place, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const folder = openSync(dirname(place), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Write-ahead log with synchronous=FULL: a commit returns after fsync, a killed writer leaves at worst a tail that fails its checksum and is
 * dropped on the next open. Where the file system has no shared memory SQLite stays with the rollback journal, which is as durable.
 */
export async function openFile(place: string): Promise<Database.Database> {
  try {
    makeFile(place);
  } catch (error) {
    throw asFault(error, place);
  }
  return inTurn(place, () => {
    const db = new Database(place);
    try {
      db.pragma('journal_mode = WAL');
      db.pragma('synchronous = FULL');
      prepareSchema(db, place);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/**
 * A second connection whose commits survive the death of the process at once, and a power cut from the next durable commit on (synchronous=NORMAL in a
 * write-ahead log). Its own, so that the connection that books reservations never waits for less than the disk. Without a write-ahead log: the same one.
 */
export async function openBeside(db: Database.Database, place: string): Promise<Database.Database> {
  const [mode] = db.prepare('PRAGMA journal_mode').raw().get() as [string];
  if (mode !== 'wal') return db;
  return inTurn(place, () => {
    const beside = new Database(place);
    beside.pragma('synchronous = NORMAL');
    return beside;
  });
}

const number = (db: Database.Database, sql: string): number => (db.prepare(sql).raw().get() as [number])[0];

function prepareSchema(db: Database.Database, place: string): void {
  const state = () => ({
    id: number(db, 'PRAGMA application_id'),
    version: number(db, 'PRAGMA user_version'),
    tables: number(db, 'SELECT count(*) FROM sqlite_master'),
  });
  const ours = (s: ReturnType<typeof state>) => {
    if (s.id === applicationId && s.version === version) return true;
    if (s.id === applicationId)
      throw new Fault('LEDGER_MISMATCH', 'The ledger was written by a newer version of Fugu.', 'Update Fugu.', {
        place: { file: place },
      });
    if (s.tables > 0) throw corrupt(place, 'the file is a database of another program');
    return false;
  };
  if (ours(state())) return;
  exclusively(db, () => {
    if (!ours(state())) db.exec(schema);
  });
}
