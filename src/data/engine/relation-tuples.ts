import { Fault } from '../../base/errors.js';
import type { Dialect } from './dialect.js';
import type { SourceColumn } from './engine.js';
import type { RelationSource } from './source.js';

interface CellColumn extends SourceColumn {
  readonly expression: string;
}
interface RelationTable {
  readonly from: string;
  readonly columns: readonly CellColumn[];
}
/** The tuples of a relation in a database that is asked in SQL: c0, c1, … are names, and `odds` is what a cell says of their strength. */
export interface Tuples {
  readonly keys: readonly string[];
  /** `odds` where ties have strengths of their own. */
  readonly extra: readonly string[];
  /** Every row, also of those that name nobody. */
  readonly all: string;
  /** What a row passes that names everybody; where the relation is symmetric, two members who differ. */
  readonly complete: string;
  /** What of them is kept where each is there once: declared twice, the stronger tie counts. */
  readonly once: string;
}

/** `spellsWhole` says whether a text is digits, perhaps with noughts behind a point. */
export function tuplesOf(
  dialect: Dialect,
  table: RelationTable,
  relation: RelationSource,
  spellsWhole: (text: string) => string,
): Tuples {
  const ends = relation.columns.map((own) => columnOf(table, own, relation.name));
  const keys = ends.map((_, i) => `c${i}`);
  const extra = relation.odds === undefined ? [] : ['odds'];
  const odds = extra.map((name) => `${oddsIn(dialect, columnOf(table, relation.odds!, relation.name), spellsWhole)} AS ${name}`);
  const shown = [...ends.map(({ expression }, i) => `${expression} AS c${i}`), ...odds];
  const named = [...ends.map(({ type }, i) => `${dialect.name(`c${i}`, type)} AS c${i}`), ...extra];
  return {
    keys,
    extra,
    all: `SELECT ${named.join(', ')} FROM (SELECT ${shown.join(', ')} FROM ${table.from}) AS cells`,
    complete: relation.symmetric ? 'c0 <> c1' : keys.map((k) => `${k} IS NOT NULL`).join(' AND '),
    once: [...keys, ...extra.map((name) => `max(${name}) AS ${name}`)].join(', '),
  };
}

/** As in data/engine/duckdb/odds.ts: a whole number only where the cell says that number, and a copy where no strength can be read. */
function oddsIn(dialect: Dialect, { expression, type }: CellColumn, spellsWhole: (text: string) => string): string {
  const { constant } = dialect;
  const infinity = constant(Number.POSITIVE_INFINITY);
  const known = (x: string) => `CASE WHEN ${x} < ${infinity} THEN ${x} ELSE ${infinity} END`;
  if (type !== 'text') return type === 'boolean' ? infinity : known(dialect.real(expression));
  const x = dialect.numberInText(expression);
  const whole = `${spellsWhole(expression)} AND ${x} < ${constant(2 ** 53)}`;
  const above = `CASE WHEN ${x} > ${constant(1e300)} THEN ${infinity} WHEN ${x} < ${constant(1e-300)} THEN ${x} ELSE ${x} * ${constant(1 + 2 ** -52)} END`;
  return known(`(CASE WHEN ${x} = floor(${x}) AND NOT (${whole}) THEN ${above} ELSE ${x} END)`);
}

function columnOf({ columns }: RelationTable, own: string, relation: string): CellColumn {
  const column = columns.find((c) => c.name === own);
  if (column) return column;
  throw new Fault(
    'COLUMN_UNKNOWN',
    `The table of relation "${relation}" has no column "${own}".`,
    `Its columns: ${columns.map((c) => c.name).join(', ')}.`,
  );
}
