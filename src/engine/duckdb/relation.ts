import { Fault } from '../../errors.js';
import { nameReader } from '../name.js';
import type { RelationSource } from '../source.js';
import { oddsIn } from './odds.js';
import { name as quoted, type Scan, type ScanColumn } from './scan.js';

/**
 * Statements that make the tuples of a relation as c0, c1, … : names, each tuple once, none incomplete. A symmetric relation holds ties between two different members, both
 * ways round: a tie of somebody with themselves is none. It is kept one way round and shown both ways.
 */
export function makeRelation(scan: Scan, relation: RelationSource, file: string): string[] {
  const shown = quoted(`fugu_relation_${relation.name}`);
  const once = selectOnce(scan, relation, file);
  if (!relation.symmetric) return [`CREATE OR REPLACE TABLE ${shown} AS ${once}`];
  const kept = quoted(`fugu_once_${relation.name}`);
  const odds = relation.odds === undefined ? '' : ', odds';
  return [
    `CREATE OR REPLACE TABLE ${kept} AS ${once}`,
    `CREATE OR REPLACE VIEW ${shown} AS SELECT c0, c1${odds} FROM ${kept} UNION ALL SELECT c1 AS c0, c0 AS c1${odds} FROM ${kept}`,
  ];
}

function selectOnce(scan: Scan, relation: RelationSource, file: string): string {
  const find = (own: string) => columnOf(scan, own, relation.name, file);
  const ends = relation.columns.map(find);
  const keys = ends.map((_, i) => `c${i}`);
  const reader = nameReader('duckdb');
  const weighed = relation.odds !== undefined;
  const cells = ends.map(({ expression }, i) => `${expression} AS c${i}`);
  if (weighed) cells.push(`coalesce(${oddsIn(find(relation.odds!))}, 'infinity'::DOUBLE) AS odds`);
  const list = (columns: readonly string[], odds: string) => [...columns, ...(weighed ? [odds] : [])].join(', ');
  const named = keys.map((k, i) => `${reader(k, ends[i]!.type)} AS ${k}`);
  // Whole numbers are one where their names are: named last, they are compared as numbers.
  const whole = ends.every(({ type }) => type === 'integer');
  const tuples = `SELECT ${list(whole ? keys : named, strength)} FROM (SELECT ${cells.join(', ')} FROM ${scan.from})`;
  const complete = relation.symmetric ? 'c0 <> c1' : keys.map((k) => `${k} IS NOT NULL`).join(' AND ');
  const sorted = relation.symmetric ? ['least(c0, c1) AS c0', 'greatest(c0, c1) AS c1'] : keys;
  // Declared twice, the stronger tie counts.
  const once = `SELECT ${list(keys, 'max(odds) AS odds')} FROM (SELECT ${list(sorted, 'odds')} FROM (${tuples}) WHERE ${complete}) GROUP BY ${keys.join(', ')}`;
  if (!whole) return once;
  const names = `SELECT ${list(named, 'odds')} FROM (${once})`;
  // Whoever asks for c0 < c1 finds every tie as it is kept.
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
