import { Fault } from '../../../base/errors.js';
import { corrupt } from '../faults.js';
import { decodeInteger, decodeText } from './row.js';
import { type SqliteConnection, transaction } from './sqlite.js';

/** "FUGU": marks the file as ours. */
const applicationId = 0x46554755;
/** Version 1 was written before there was a chain file. */
const version = 2;

/** Tables and indexes as SQLite lists them: one statement each, by name. */
const statements: Readonly<Record<string, string>> = {
  account:
    'CREATE TABLE account (population TEXT PRIMARY KEY, state TEXT NOT NULL, digest TEXT NOT NULL, summary TEXT NOT NULL, totals TEXT NOT NULL, entries INTEGER NOT NULL, closed INTEGER NOT NULL, pending TEXT NOT NULL) STRICT, WITHOUT ROWID',
  analyst:
    'CREATE TABLE analyst (population TEXT NOT NULL, analyst TEXT NOT NULL, pin TEXT NOT NULL, totals TEXT NOT NULL, PRIMARY KEY (population, analyst)) STRICT, WITHOUT ROWID',
  answer: 'CREATE TABLE answer (of INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT) STRICT',
  link: 'CREATE TABLE link (sequence INTEGER PRIMARY KEY, "offset" INTEGER NOT NULL, population TEXT, key TEXT, hash TEXT NOT NULL, body TEXT NOT NULL) STRICT',
  link_of_key: 'CREATE INDEX link_of_key ON link (population, key) WHERE key IS NOT NULL',
  mark: 'CREATE TABLE mark (incomplete INTEGER NOT NULL) STRICT',
};

export function createSchema(db: SqliteConnection): void {
  // Tables before the indexes on them.
  const made = Object.values(statements).sort((a, b) => (a < b ? 1 : -1));
  for (const statement of made) db.exec(statement.replace(/^CREATE (TABLE|INDEX) /, 'CREATE $1 book.'));
  db.exec(
    `INSERT INTO book.mark (incomplete) VALUES (0); PRAGMA book.application_id = ${applicationId}; PRAGMA book.user_version = ${version};`,
  );
}

/** Nothing but our tables and indexes: a trigger or a view could change what is written. */
export function checkSchema(db: SqliteConnection, place: string): void {
  const rows = db
    .query('SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(sql AS BLOB) FROM book.sqlite_master ORDER BY CAST(name AS BLOB)')
    .all();
  // SQLite adds an index without a statement for a primary key that it cannot store otherwise.
  const found = rows.map(
    ([type, name, sql]) => [decodeText(type), decodeText(name), sql === null ? null : decodeText(sql)] as const,
  );
  const expected = Object.entries(statements).map(([name, sql]) => [
    sql.startsWith('CREATE INDEX') ? 'index' : 'table',
    name,
    sql,
  ]);
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw corrupt(place, 'it holds other tables, indexes, triggers or views than a ledger has');
}

export type Format = 'none' | 'former' | 'present';

/** Format of the file, read from one snapshot; a fault where it is not a ledger of ours. */
export const formatOf = (db: SqliteConnection, place: string): Format =>
  db.inTransaction() ? formatInSnapshot(db, place) : transaction(db, 'DEFERRED', () => formatInSnapshot(db, place));

function formatInSnapshot(db: SqliteConnection, place: string): Format {
  const number = (sql: string) => decodeInteger(db.query(sql).get()?.[0]);
  const id = number('PRAGMA book.application_id');
  const found = number('PRAGMA book.user_version');
  if (id === applicationId && found === version) return 'present';
  if (id === applicationId && found === 1) return 'former';
  if (id === applicationId && found > version && found < 100)
    throw new Fault('LEDGER_MISMATCH', 'The ledger was written by a newer version of Fugu.', 'Update Fugu.', {
      place: { file: place },
    });
  if (number('SELECT count(*) FROM book.sqlite_master') > 0 || id !== 0)
    throw corrupt(place, 'the file is a database of another program, or its first page is damaged');
  return 'none';
}

/** Changes whenever another connection has committed: until then everything is as this connection left it. */
export const dataVersion = (db: SqliteConnection): (() => number) => {
  const query = db.query('PRAGMA book.data_version');
  return () => decodeInteger(query.get()?.[0]);
};
export const schemaVersion = (db: SqliteConnection): (() => number) => {
  const query = db.query('PRAGMA book.schema_version');
  return () => decodeInteger(query.get()?.[0]);
};
