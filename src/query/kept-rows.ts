import type { SourceColumn } from '../engine/engine.js';
import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';
import type { Binder, Dialect } from './dialect.js';
import { rawCell, sourceColumn } from './read-column.js';

/**
 * `SELECT columns FROM fugu_data`, cut to `maxRows` rows per person when the secret is a person. Which rows stay depends on the person's name and
 * on how many rows bear it, never on values nor on other people (effects.proof.md): rows of one person are numbered in file order and
 * ordered by a keyed digest of that number. Rows that name nobody belong to nobody and are left out.
 */
export function keptRows(
  dialect: Dialect,
  binder: Binder,
  policy: Policy,
  source: readonly SourceColumn[],
  columns: readonly (readonly [expression: string, alias: string])[],
): string {
  const list = columns.map(([expression, alias]) => `${expression} AS ${alias}`);
  const { secret, unit, maxRows } = policy.protect;
  if (secret !== 'person') return `SELECT ${list.length > 0 ? list.join(', ') : '1 AS nothing'} FROM fugu_data`;
  if (unit === undefined)
    throw new Fault(
      'POLICY_INVALID',
      'The secret is a person but no unit column names the person.',
      'Write protect: { secret: person, unit: … }.',
    );
  const person = `nullif(${dialect.trimmed(`CAST(${rawCell(dialect, sourceColumn(source, unit))} AS VARCHAR)`)}, '')`;
  const aliases = columns.map(([, alias]) => alias);
  const inner = `SELECT ${[...list, `${person} AS person`, 'row_number() OVER () AS place'].join(', ')} FROM fugu_data`;
  const numbered = `SELECT ${[...aliases, 'person', 'row_number() OVER (PARTITION BY person ORDER BY place) AS turn'].join(', ')} FROM (${inner}) WHERE person IS NOT NULL`;
  const digest = dialect.digest(`${binder.text(`${policy.population}:`)} || person || ':' || CAST(turn AS VARCHAR)`);
  const ranked = `SELECT ${[...aliases, `row_number() OVER (PARTITION BY person ORDER BY ${digest}, turn) AS rank`].join(', ')} FROM (${numbered})`;
  return `SELECT ${aliases.length > 0 ? aliases.join(', ') : '1 AS nothing'} FROM (${ranked}) WHERE rank <= ${Math.trunc(maxRows)}`;
}
