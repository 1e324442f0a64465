import { Fault } from '../../errors.js';
import { seen } from '../shown.js';
import type { RelationSource } from '../source.js';
import { relationView } from '../structure.js';
import { numberInText, postgres } from './dialect.js';
import type { Table } from './table.js';

/**
 * What has to stand behind WITH for a relation: its tuples as c0, c1, … are names, each tuple once, none incomplete. A symmetric one holds ties between two
 * different members, both ways round. Worked out once for a statement, however often it is joined.
 */
export function relationViews(table: Table, relation: RelationSource): readonly string[] {
  const view = relationView(relation.name);
  const once = `${view}_once`;
  const odds = relation.odds === undefined ? '' : ', odds';
  const all = relation.symmetric
    ? `SELECT c0, c1${odds} FROM ${once} UNION ALL SELECT c1, c0${odds} FROM ${once}`
    : `SELECT * FROM ${once}`;
  return [`${once} AS MATERIALIZED (${tuplesOnce(table, relation)})`, seen(view, all)];
}

function tuplesOnce(table: Table, relation: RelationSource): string {
  const ends = relation.columns.map((own) => columnOf(table, own, relation.name));
  const keys = ends.map((_, i) => `c${i}`);
  const weighed = relation.odds !== undefined;
  const shown = ends.map(({ expression }, i) => `${expression} AS c${i}`);
  if (weighed) shown.push(`${oddsIn(columnOf(table, relation.odds!, relation.name))} AS odds`);
  const named = [...ends.map(({ type }, i) => `${postgres.name(`c${i}`, type)} AS c${i}`), ...(weighed ? ['odds'] : [])];
  const tuples = `SELECT ${named.join(', ')} FROM (SELECT ${shown.join(', ')} FROM ${table.from}) AS cells`;
  const complete = relation.symmetric ? 'c0 <> c1' : keys.map((k) => `${k} IS NOT NULL`).join(' AND ');
  const sorted = relation.symmetric ? ['least(c0, c1) AS c0', 'greatest(c0, c1) AS c1'] : keys;
  // Declared twice, the stronger tie counts: infinity is the strongest, and NaN would be above it.
  const list = [...keys, ...(weighed ? ['max(odds) AS odds'] : [])].join(', ');
  return `SELECT ${list} FROM (SELECT ${[...sorted, ...(weighed ? ['odds'] : [])].join(', ')} FROM (${tuples}) AS tuples WHERE ${complete}) AS sorted GROUP BY ${keys.join(', ')}`;
}

/** As in engine/duckdb/odds.ts: a whole number only where the cell says that number, and a copy where no strength can be read. */
function oddsIn({ expression, type }: Table['columns'][number]): string {
  const infinity = `CAST('Infinity' AS DOUBLE PRECISION)`;
  const known = (x: string) => `CASE WHEN ${x} < ${infinity} THEN ${x} ELSE ${infinity} END`;
  if (type !== 'text') return type === 'boolean' ? infinity : known(postgres.real(expression));
  const x = numberInText(expression);
  const whole = `${expression} ~ '^\\s*[+]?[0-9]+([.]0*)?\\s*$' AND ${x} < ${postgres.constant(2 ** 53)}`;
  const above = `CASE WHEN ${x} > ${postgres.constant(1e300)} THEN ${infinity} WHEN ${x} < ${postgres.constant(1e-300)} THEN ${x} ELSE ${x} * ${postgres.constant(1 + 2 ** -52)} END`;
  return known(`(CASE WHEN ${x} = floor(${x}) AND NOT (${whole}) THEN ${above} ELSE ${x} END)`);
}

function columnOf(table: Table, own: string, relation: string): Table['columns'][number] {
  const column = table.columns.find((c) => c.name === own);
  if (column) return column;
  throw new Fault(
    'COLUMN_UNKNOWN',
    `The table of relation "${relation}" has no column "${own}".`,
    `Its columns: ${table.columns.map((c) => c.name).join(', ')}.`,
  );
}
