import { Fault } from '../../errors.js';
import { nameReader } from '../name.js';
import type { RelationSource } from '../source.js';
import { oddsIn } from './odds.js';
import type { Scan, ScanColumn } from './scan.js';

/**
 * The tuples of a relation as c0, c1, … : names, each tuple once, none incomplete. A symmetric relation holds ties between two different members, both
 * ways round: a tie of somebody with themselves is none.
 */
export function selectRelation(scan: Scan, relation: RelationSource, file: string): string {
  const find = (own: string) => columnOf(scan, own, relation.name, file);
  const ends = relation.columns.map(find);
  const keys = ends.map((_, i) => `c${i}`);
  const name = nameReader('duckdb');
  const named = keys.map((k, i) => `${name(k, ends[i]!.type)} AS ${k}`);
  const cells = ends.map(({ expression }, i) => `${expression} AS c${i}`);
  const weighed = relation.odds !== undefined;
  if (weighed) cells.push(`coalesce(${oddsIn(find(relation.odds!))}, 'infinity'::DOUBLE) AS odds`);
  const list = (columns: readonly string[], odds: string) => [...columns, ...(weighed ? [odds] : [])].join(', ');
  const { symmetric } = relation;
  const tuples = `SELECT ${list(named, strength)} FROM (SELECT ${cells.join(', ')} FROM ${scan.from})`;
  const whole = symmetric ? 'c0 <> c1' : keys.map((k) => `${k} IS NOT NULL`).join(' AND ');
  const sorted = symmetric ? ['least(c0, c1) AS c0', 'greatest(c0, c1) AS c1'] : keys;
  // Declared twice, the stronger tie counts.
  const once = `SELECT ${list(keys, 'max(odds) AS odds')} FROM (SELECT ${list(sorted, 'odds')} FROM (${tuples}) WHERE ${whole}) GROUP BY ${keys.join(', ')}`;
  if (!symmetric) return once;
  return `WITH once AS MATERIALIZED (${once}) SELECT ${list(['c0', 'c1'], 'odds')} FROM once UNION ALL SELECT ${list(['c1', 'c0'], 'odds')} FROM once`;
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
