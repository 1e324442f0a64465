import { Fault } from '../errors.js';
import type { Scan } from './duckdb-scan.js';
import type { RelationSource } from './source.js';

/** The tuples of a relation as c0, c1, … : each once, none incomplete, both ways round when it is symmetric. */
export function selectRelation(scan: Scan, relation: RelationSource, file: string): string {
  const ends = relation.columns.map((own) => expressionOf(scan, own, relation.name, file));
  const odds = relation.odds === undefined ? undefined : expressionOf(scan, relation.odds, relation.name, file);
  const tuples = (order: readonly number[]) =>
    `SELECT ${order.map((from, to) => `${ends[from]} AS c${to}`).join(', ')}${odds === undefined ? '' : `, ${odds} AS declared`} FROM ${scan.from}`;
  const straight = tuples(ends.map((_, i) => i));
  const all = relation.symmetric ? `${straight} UNION ALL ${tuples([1, 0])}` : straight;
  const keys = ends.map((_, i) => `c${i}`);
  const whole = keys.map((k) => `${k} IS NOT NULL`).join(' AND ');
  if (odds === undefined) return `SELECT DISTINCT ${keys.join(', ')} FROM (${all}) WHERE ${whole}`;
  // Declared twice, the stronger tie counts; a strength that cannot be read counts as a copy.
  return `SELECT ${keys.join(', ')}, max(CASE WHEN isnan(strength) THEN 'infinity'::DOUBLE ELSE strength END) AS odds
    FROM (SELECT *, coalesce(try_cast(declared AS DOUBLE), 'infinity'::DOUBLE) AS strength FROM (${all})) WHERE ${whole} GROUP BY ${keys.join(', ')}`;
}

function expressionOf(scan: Scan, own: string, relation: string, file: string): string {
  const column = scan.columns.find((c) => c.name === own);
  if (column) return column.expression;
  throw new Fault(
    'COLUMN_UNKNOWN',
    `The table of relation "${relation}" has no column "${own}".`,
    `Its columns: ${scan.columns.map((c) => c.name).join(', ')}.`,
    { place: { file } },
  );
}
