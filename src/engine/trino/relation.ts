import { Fault } from '../../errors.js';
import { seen } from '../shown.js';
import type { RelationSource } from '../source.js';
import { relationView } from '../structure.js';
import { numberInText, trino } from './dialect.js';
import type { Table } from './table.js';

/**
 * What has to stand behind WITH for a relation: its tuples as c0, c1, … are names, each tuple once, none incomplete. A symmetric one holds ties between two
 * different members, both ways round. The table is read once wherever it is mentioned: the cluster keeps nothing between two mentions.
 */
export function relationViews(table: Table, relation: RelationSource): readonly string[] {
  const ends = relation.columns.map((own) => columnOf(table, own, relation.name));
  const keys = ends.map((_, i) => `c${i}`);
  const weighed = relation.odds !== undefined;
  const shown = ends.map(({ expression }, i) => `${expression} AS c${i}`);
  if (weighed) shown.push(`${oddsIn(columnOf(table, relation.odds!, relation.name))} AS odds`);
  const extra = weighed ? ['odds'] : [];
  const named = [...ends.map(({ type }, i) => `${trino.name(`c${i}`, type)} AS c${i}`), ...extra];
  const tuples = `SELECT ${named.join(', ')} FROM (SELECT ${shown.join(', ')} FROM ${table.from}) AS cells`;
  const complete = relation.symmetric ? 'c0 <> c1' : keys.map((k) => `${k} IS NOT NULL`).join(' AND ');
  const whole = `SELECT ${[...keys, ...extra].join(', ')} FROM (${tuples}) AS tuples WHERE ${complete}`;
  const both = `SELECT ${['ends.c0', 'ends.c1', ...extra].join(', ')} FROM (${whole}) AS tied CROSS JOIN UNNEST(ARRAY[tied.c0, tied.c1], ARRAY[tied.c1, tied.c0]) AS ends(c0, c1)`;
  // Declared twice, the stronger tie counts.
  const list = [...keys, ...(weighed ? ['max(odds) AS odds'] : [])].join(', ');
  const all = `SELECT ${list} FROM (${relation.symmetric ? both : whole}) AS every GROUP BY ${keys.join(', ')}`;
  return [seen(relationView(relation.name), all)];
}

/** As in engine/duckdb/odds.ts: a whole number only where the cell says that number, and a copy where no strength can be read. */
function oddsIn({ expression, type }: Table['columns'][number]): string {
  const infinity = trino.constant(Number.POSITIVE_INFINITY);
  const known = (x: string) => `CASE WHEN ${x} < ${infinity} THEN ${x} ELSE ${infinity} END`;
  if (type !== 'text') return type === 'boolean' ? infinity : known(trino.real(expression));
  const x = numberInText(expression);
  const whole = `regexp_like(${expression}, '\\A\\s*[+]?[0-9]+([.]0*)?\\s*\\z') AND ${x} < ${trino.constant(2 ** 53)}`;
  const above = `CASE WHEN ${x} > ${trino.constant(1e300)} THEN ${infinity} WHEN ${x} < ${trino.constant(1e-300)} THEN ${x} ELSE ${x} * ${trino.constant(1 + 2 ** -52)} END`;
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
