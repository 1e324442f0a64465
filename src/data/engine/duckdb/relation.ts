import { Fault } from '../../../base/errors.js';
import type { RelationSource } from '../source.js';
import { duckdb } from './dialect.js';
import { oddsIn } from './odds.js';
import type { Scan, ScanColumn } from './scan.js';

/** A relation as it is shown, from the table that keeps it: a symmetric one is kept one way round and shown both ways. */
export function bothWays(table: string, { symmetric, odds }: RelationSource): string {
  if (!symmetric) return `SELECT * FROM ${table}`;
  const strength = odds === undefined ? '' : ', odds';
  return `SELECT c0, c1${strength} FROM ${table} UNION ALL SELECT c1 AS c0, c0 AS c1${strength} FROM ${table}`;
}

/**
 * The tuples of a relation as c0, c1, … : names, each tuple once, none incomplete. A symmetric relation holds ties between two different members, one way
 * round: a tie of somebody with themselves is none.
 */
export function tuplesOnce(scan: Scan, relation: RelationSource, file: string): string {
  const find = (own: string) => columnOf(scan, own, relation.name, file);
  const ends = relation.columns.map(find);
  const keys = ends.map((_, i) => `c${i}`);
  const weighed = relation.odds !== undefined;
  const cells = ends.map(({ expression }, i) => `${expression} AS c${i}`);
  if (weighed) cells.push(`coalesce(${oddsIn(find(relation.odds!))}, 'infinity'::DOUBLE) AS odds`);
  const list = (columns: readonly string[], odds: string) => [...columns, ...(weighed ? [odds] : [])].join(', ');
  const named = keys.map((k, i) => `${duckdb.name(k, ends[i]!.type)} AS ${k}`);
  // Whole numbers are one where their names are: named last, they are compared as numbers.
  const whole = ends.every(({ type }) => type === 'integer');
  const tuples = `SELECT ${list(whole ? keys : named, strength)} FROM (SELECT ${cells.join(', ')} FROM ${scan.from})`;
  const complete = relation.symmetric ? 'c0 <> c1' : keys.map((k) => `${k} IS NOT NULL`).join(' AND ');
  const sorted = relation.symmetric ? ['least(c0, c1) AS c0', 'greatest(c0, c1) AS c1'] : keys;
  // Declared twice, the stronger tie counts.
  const once = `SELECT ${list(keys, 'max(odds) AS odds')} FROM (SELECT ${list(sorted, 'odds')} FROM (${tuples}) WHERE ${complete}) GROUP BY ${keys.join(', ')}`;
  if (!whole) return once;
  const names = `SELECT ${list(named, 'odds')} FROM (${once})`;
  // A query for c0 < c1 finds every tie as it is stored.
  return relation.symmetric ? `SELECT ${list(sorted, 'odds')} FROM (${names})` : names;
}

/** A strength that cannot be read counts as a copy. */
const strength = `CASE WHEN isnan(odds) THEN 'infinity'::DOUBLE ELSE odds END AS odds`;

function columnOf(scan: Scan, own: string, relation: string, file: string): ScanColumn {
  const column = scan.columns.find((c) => c.name === own);
  if (column) return column;
  throw new Fault(
    'COLUMN_UNKNOWN',
    `The table of relation "${relation}" has no column "${own}".`,
    `Its columns: ${scan.columns.map((c) => c.name).join(', ')}.`,
    { place: { file } },
  );
}
