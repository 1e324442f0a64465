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
/** Tuples of a relation in an SQL database: names c0, c1, …, and the odds ratio in `odds`. */
export interface Tuples {
  readonly keys: readonly string[];
  /** `odds` where ties have strengths of their own. */
  readonly extra: readonly string[];
  /** All rows, including those that name nobody. */
  readonly all: string;
  /** Condition for a row that names every member; for a symmetric relation, two different members. */
  readonly complete: string;
  /** Odds column of the distinct tuples: of a tie declared twice, the stronger counts. */
  readonly once: string;
}

/** `spellsWhole`: test for a text that is digits, with at most zeros after a decimal point. */
export function relationTuples(
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

/** As in data/engine/duckdb/odds.ts: whole only if the cell spells that number, and infinite (a copy) if no odds ratio can be read. */
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
