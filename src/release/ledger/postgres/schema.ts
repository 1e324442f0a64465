import { Fault } from '../../../base/errors.js';
import type { PostgresConnection } from '../../../data/engine/postgres/connection.js';
import { corrupt } from '../faults.js';

/** Tables and roles of a ledger: `link` is the chain; the others are computed from it or bound to it by hashes. */
const tables = {
  link: 'sequence bigint NOT NULL PRIMARY KEY, population text COLLATE "C", key text COLLATE "C", hash text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL',
  answer: 'of bigint NOT NULL PRIMARY KEY, sequence bigint NOT NULL, body text COLLATE "C"',
  account:
    'population text COLLATE "C" NOT NULL PRIMARY KEY, state text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL, summary text COLLATE "C" NOT NULL, totals text COLLATE "C" NOT NULL, entries bigint NOT NULL, closed integer NOT NULL, pending text COLLATE "C" NOT NULL',
  analyst:
    'population text COLLATE "C" NOT NULL, analyst text COLLATE "C" NOT NULL, pin text COLLATE "C" NOT NULL, totals text COLLATE "C" NOT NULL, PRIMARY KEY (population, analyst)',
  mark: 'one integer NOT NULL PRIMARY KEY, version integer NOT NULL, incomplete integer NOT NULL',
} as const;
const version = 1;

const creation = [
  'CREATE SCHEMA IF NOT EXISTS fugu_ledger',
  ...Object.entries(tables).map(([name, columns]) => `CREATE TABLE fugu_ledger.${name} (${columns})`),
  'CREATE INDEX link_of_key ON fugu_ledger.link (population, key) WHERE key IS NOT NULL',
  'CREATE INDEX link_of_nobody ON fugu_ledger.link (sequence) WHERE population IS NULL',
  `INSERT INTO fugu_ledger.mark VALUES (1, ${version}, 0)`,
].join('; ');

/** Prevents two processes that both find nothing from both creating it. */
const making = 'SELECT pg_advisory_xact_lock(5061437209)';

/** Creates the tables if there are none; refuses tables that are not exactly these. */
export async function prepareTables(connection: PostgresConnection, place: string): Promise<void> {
  await refuseForgetful(connection, place);
  if (!(await isThere(connection))) {
    await connection.begin(`BEGIN; ${making}`);
    if (!(await isThere(connection))) await connection.run(creation);
    await connection.run('COMMIT');
  }
  await checkTables(connection, place);
}

const isThere = async (connection: PostgresConnection): Promise<boolean> =>
  (
    await connection.run(
      "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'fugu_ledger' AND c.relkind <> 'i' LIMIT 1",
    )
  ).rows.length > 0;

/** A server that does not wait for its disk loses acknowledged writes in a crash. */
async function refuseForgetful(connection: PostgresConnection, place: string): Promise<void> {
  const { rows } = await connection.run(
    "SELECT current_setting('fsync'), pg_is_in_recovery(), current_setting('synchronous_commit')",
  );
  const [fsync, copy, commit] = rows[0]!;
  if (fsync !== 'on')
    throw new Fault(
      'DISK_FAILED',
      'The server of the ledger does not wait for its disk: with fsync = off it may forget what was spent.',
      'Set fsync = on.',
      { place: { file: place } },
    );
  if (copy === 't')
    throw new Fault('READ_ONLY', 'This server is a copy of another, and cannot be written.', 'Name the other after ledger:.', {
      place: { file: place },
    });
  if (commit !== 'on' && commit !== 'remote_apply')
    throw new Fault(
      'DISK_FAILED',
      'The server of the ledger answers before its disk has.',
      'Let synchronous_commit be set to on.',
      {
        place: { file: place },
      },
    );
}

/** The columns and keys that matter are compared with these; other objects of the schema (views, indexes) cannot change them. */
const shape = `SELECT c.relname,
    c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relrowsecurity AND NOT c.relhasrules AND NOT c.relhassubclass AND NOT c.relispartition
      AND NOT EXISTS (SELECT 1 FROM pg_trigger AS t WHERE t.tgrelid = c.oid)
      AND NOT EXISTS (SELECT 1 FROM pg_inherits AS i WHERE i.inhrelid = c.oid),
    (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || CASE WHEN a.attcollation <> 0 THEN ' ' || (SELECT o.collname FROM pg_collation AS o WHERE o.oid = a.attcollation) ELSE '' END
        || CASE WHEN a.attnotnull THEN ' must' ELSE '' END || CASE WHEN a.atthasdef THEN ' made' ELSE '' END, ', ' ORDER BY a.attnum)
      FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    (SELECT string_agg(CAST(k.contype AS TEXT) || ' ' || pg_get_constraintdef(k.oid), ', ' ORDER BY k.conname)
      FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype <> 'n' AND k.convalidated)
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = 'fugu_ledger' AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND c.relname IN (${Object.keys(tables)
    .map((name) => `'${name}'`)
    .join(', ')})
  ORDER BY c.relname COLLATE "C"`;

const expected = Object.entries(tables)
  .map(([name, text]) => {
    const key = /, PRIMARY KEY (\(.*\))$/.exec(text);
    const columns = text.replace(/, PRIMARY KEY \(.*\)$/, '').split(', ');
    const own = columns.find((column) => column.endsWith(' PRIMARY KEY'))?.split(' ')[0];
    const shown = columns.map((column) =>
      column.replace(' PRIMARY KEY', '').replace(' COLLATE "C"', ' C').replace(' NOT NULL', ' must'),
    );
    return [name, 't', shown.join(', '), `p PRIMARY KEY ${key?.[1] ?? `(${own})`}`];
  })
  .sort(([a], [b]) => (a! < b! ? -1 : 1));

async function checkTables(connection: PostgresConnection, place: string): Promise<void> {
  const { rows } = await connection.run(shape);
  if (JSON.stringify(rows) !== JSON.stringify(expected))
    throw corrupt(place, 'its tables are not those of a ledger, or have triggers, rules or row security');
  const marks = await connection.run('SELECT one, version FROM fugu_ledger.mark');
  const [one, found] = marks.rows[0]?.map(Number) ?? [];
  if (marks.rows.length !== 1 || one !== 1) throw corrupt(place, 'its mark is gone');
  if (found! > version)
    throw new Fault('LEDGER_MISMATCH', 'The ledger was written by a newer version of Fugu.', 'Update Fugu.', {
      place: { file: place },
    });
}
