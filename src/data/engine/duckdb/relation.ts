import { relationTuples } from '../relation-tuples.js';
import type { ShownColumn } from '../shown-table.js';
import type { RelationSource } from '../source.js';
import { duckdb } from './dialect.js';
import type { Scan } from './scan.js';

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
  const { listed, cells, named, complete, once } = relationTuples(duckdb, scan, relation, { oddsIn, file });
  const odds = relation.odds === undefined ? '' : ', odds';
  const ordered = relation.symmetric ? `least(c0, c1) AS c0, greatest(c0, c1) AS c1${odds}` : listed;
  // Whole numbers are one where their names are: named last, they are compared as numbers.
  const whole = relation.columns.every((name) => scan.columns.find((c) => c.name === name)!.type === 'integer');
  if (!whole) return once(`SELECT ${ordered} FROM (SELECT ${named} FROM (${cells})) WHERE ${complete}`);
  const names = `SELECT ${named} FROM (${once(`SELECT ${ordered} FROM (${cells}) WHERE ${complete}`)})`;
  // A query for c0 < c1 finds every tie as it is stored.
  return relation.symmetric ? `SELECT ${ordered} FROM (${names})` : names;
}

/**
 * Odds ratio in a cell as a double that is whole only if the cell spells that number: "1.0000000000000001"
 * exceeds 1, but the nearest double is 1. The reader takes the next larger double of every other value.
 */
function oddsIn({ expression, type }: ShownColumn): string {
  const read = `try_cast(${expression} AS DOUBLE)`;
  const known = (x: string) => `CASE WHEN isnan(${x}) THEN 'infinity'::DOUBLE ELSE coalesce(${x}, 'infinity'::DOUBLE) END`;
  if (type !== 'text') return known(read);
  const whole = `regexp_full_match(${expression}, '\\s*[+]?[0-9]+(?:\\.0*)?\\s*') AND ${read} < 9007199254740992`;
  return known(
    `CASE WHEN ${read} = floor(${read}) AND NOT (${whole}) THEN ${read} * 1.0000000000000002::DOUBLE ELSE ${read} END`,
  );
}
