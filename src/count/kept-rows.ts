import { Binder, type Dialect } from '../engine/dialect.js';
import type { Pinned, SourceColumn } from '../engine/engine.js';
import { Fault } from '../errors.js';
import { addsRemoves } from '../policy/neighbours.js';
import type { Policy } from '../policy/policy.js';
import { rawCell, sourceColumn } from './read-column.js';

/**
 * `SELECT columns FROM fugu_data`, cut to `maxRows` rows per person when the secret is a person. The rows that stay are a keyed pseudo-random choice
 * among the person's own rows, taken as a set: neither other people nor the order in which a database happens to hand out rows can change it
 * (effects.proof.md needs that), and no value is favoured. Rows that name nobody belong to nobody and are left out.
 */
export function keptRows(
  dialect: Dialect,
  binder: Binder,
  policy: Policy,
  source: readonly SourceColumn[],
  columns: readonly (readonly [expression: string, alias: string])[],
): string {
  const { secret, unit, maxRows } = policy.protect;
  const select = (extra: readonly string[], from: string, aliases = columns.map(([, alias]) => alias)) =>
    `SELECT ${[...aliases, ...extra].join(', ') || '1 AS nothing'} FROM ${from}`;
  const list = columns.map(([expression, alias]) => `${expression} AS ${alias}`);
  if (secret !== 'person') return select([], 'fugu_data', list);
  if (unit === undefined)
    throw new Fault(
      'POLICY_INVALID',
      'The secret is a person but no unit column names the person.',
      'Write protect: { secret: person, unit: … }.',
    );
  const text = (name: string) => dialect.text(rawCell(sourceColumn(source, name)));
  const owner = sourceColumn(source, unit);
  const person = dialect.name(rawCell(owner), owner.type);
  // All declared cells, each with its length before it, so that no two different rows read the same.
  const cells = [...policy.columns.keys()].map(
    (name) => `coalesce(${dialect.text(`length(${text(name)})`)} || ':' || ${text(name)}, '-')`,
  );
  const content = dialect.digest(cells.length > 0 ? joined(cells) : `''`);
  const read = select([`${person} AS person`, `${content} AS content`], 'fugu_data', list);
  // Rows with the same content are interchangeable, so it does not matter which is the first copy.
  const copies = select(
    ['person', 'content', 'row_number() OVER (PARTITION BY person, content) AS copy'],
    `(${read}) AS owned WHERE person IS NOT NULL`,
  );
  const key = dialect.digest(
    `${binder.text(`${policy.population}:`)} || person || ':' || content || ':' || ${dialect.text('copy')}`,
  );
  const ranked = select([`row_number() OVER (PARTITION BY person ORDER BY ${key}) AS rank`], `(${copies}) AS copies`);
  return select([], `(${ranked}) AS ranked WHERE rank <= ${Math.trunc(maxRows)}`);
}

/** Texts one after the other, nested no deeper than need be: databases bound how deep an expression is, and a survey has a thousand columns. */
const joined = (texts: readonly string[]): string => {
  const half = texts.length >> 1;
  return half === 0 ? texts[0]! : `(${joined(texts.slice(0, half))} || ${joined(texts.slice(half))})`;
};

/**
 * How many records there are: a number that replacing one record does not change, so it may steer an analysis and be told (docs/known-limits.md).
 * With secret `person` that is the number of persons; the number of rows would depend on how many rows one person has.
 */
export async function publicRecords(engine: Pinned, policy: Policy): Promise<number> {
  // There it is a secret.
  if (addsRemoves(policy)) throw new Error('the number of records is protected');
  if (policy.protect.secret !== 'person') return (await engine.size()).open();
  const binder = new Binder(engine.dialect);
  const single = { ...policy, protect: { ...policy.protect, maxRows: 1 } };
  const one = keptRows(engine.dialect, binder, single, await engine.columns(), []);
  const rows = (await engine.rows({ sql: `SELECT count(*) FROM (${one}) AS persons`, values: binder.values })).open();
  return Number(rows[0]?.[0] ?? 0);
}
