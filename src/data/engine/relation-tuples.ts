import { Fault } from '../../base/errors.js';
import type { Dialect } from './dialect.js';
import type { ShownColumn, ShownTable } from './shown-table.js';
import type { RelationSource } from './source.js';

/** Tuples of a relation in an SQL database: names c0, c1, …, and the odds ratio in `odds`. */
export interface Tuples {
  /** The names, and `odds` where ties have strengths of their own. */
  readonly listed: string;
  /** The cells of all rows, and the columns that show the names in them. */
  readonly cells: string;
  readonly named: string;
  /** Condition for a row that names every member; for a symmetric relation, two different members. */
  readonly complete: string;
  /** Each tuple of a query once: of a tie declared twice, the stronger counts. */
  readonly once: (tuples: string) => string;
}

/** `oddsIn`: the odds ratio in a cell, infinite (a copy) if none can be read. */
export function relationTuples(
  dialect: Dialect,
  table: ShownTable,
  relation: RelationSource,
  { oddsIn, file }: { readonly oddsIn: (column: ShownColumn) => string; readonly file?: string },
): Tuples {
  const columnOf = (name: string): ShownColumn => {
    const column = table.columns.find((c) => c.name === name);
    if (column) return column;
    throw new Fault(
      'COLUMN_UNKNOWN',
      `The table of relation "${relation.name}" has no column "${name}".`,
      `Its columns: ${table.columns.map((c) => c.name).join(', ')}.`,
      file === undefined ? {} : { place: { file } },
    );
  };
  const ends = relation.columns.map(columnOf);
  const keys = ends.map((_, i) => `c${i}`);
  const weighed = relation.odds === undefined ? [] : ['odds'];
  const odds = weighed.map(() => `${oddsIn(columnOf(relation.odds!))} AS odds`);
  const list = (columns: readonly string[], more = weighed) => [...columns, ...more].join(', ');
  const cells = ends.map(({ expression }, i) => `${expression} AS c${i}`);
  const named = ends.map(({ type }, i) => `${dialect.name(`c${i}`, type)} AS c${i}`);
  const strongest = weighed.map((name) => `max(${name}) AS ${name}`);
  return {
    listed: list(keys),
    cells: `SELECT ${list(cells, odds)} FROM ${table.from}`,
    named: list(named),
    complete: relation.symmetric ? 'c0 <> c1' : keys.map((k) => `${k} IS NOT NULL`).join(' AND '),
    once: (tuples) => `SELECT ${list(keys, strongest)} FROM (${tuples}) AS tuples GROUP BY ${keys.join(', ')}`,
  };
}

/**
 * Odds ratio in a cell, whole only if the cell spells that number (as in data/engine/duckdb/relation.ts); infinite (a copy) if none can be read.
 * `spellsWhole`: test for a text that is digits, with at most zeros after a decimal point.
 */
export const serverOdds =
  (dialect: Dialect, spellsWhole: (text: string) => string) =>
  ({ expression, type }: ShownColumn): string => {
    const { constant } = dialect;
    const infinity = constant(Number.POSITIVE_INFINITY);
    const known = (x: string) => `CASE WHEN ${x} < ${infinity} THEN ${x} ELSE ${infinity} END`;
    if (type !== 'text') return type === 'boolean' ? infinity : known(dialect.real(expression));
    const x = dialect.numberInText(expression);
    const whole = `${spellsWhole(expression)} AND ${x} < ${constant(2 ** 53)}`;
    const above = `CASE WHEN ${x} > ${constant(1e300)} THEN ${infinity} WHEN ${x} < ${constant(1e-300)} THEN ${x} ELSE ${x} * ${constant(1 + 2 ** -52)} END`;
    return known(`(CASE WHEN ${x} = floor(${x}) AND NOT (${whole}) THEN ${above} ELSE ${x} END)`);
  };
