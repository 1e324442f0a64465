import { Binder, type Dialect } from '../../data/engine/dialect.js';
import type { Snapshot, SourceColumn } from '../../data/engine/engine.js';
import { quoteName } from '../../data/engine/structure.js';
import type { Policy } from '../../policy/policy.js';
import {
  type ChosenRows,
  dataContributionBound,
  personColumn,
  personExpression,
  selectBoundedRows,
} from './contribution-bound.js';

/**
 * Persons with more than `maxRows` rows, and which of their rows are kept, looked up once per state of the data (decision 0075).
 * Same choice as in every statement; undefined where it cannot be held or rows are left out, and then each statement chooses.
 */
export async function chooseKeptRows(data: Snapshot, policy: Policy): Promise<ChosenRows | undefined> {
  const { secret, unit, maxRows, pairs } = policy.protect;
  if (secret !== 'person' || unit === undefined || policy.view || data.whole !== data || !data.hold) return undefined;
  const columns = await data.columns();
  const person = personExpression(data.dialect, columns, unit);
  const all = `SELECT ${person} AS ${personColumn} FROM fugu_data`;
  const many = `SELECT ${personColumn} FROM (${all}) AS owned WHERE ${personColumn} IS NOT NULL GROUP BY ${personColumn} HAVING count(*) > ${Math.trunc(maxRows)}`;
  const beyond = await data.hold({ sql: many, values: [] }, 1);
  if (!beyond) return undefined;
  if (beyond.rows === 0) return {};
  // Under pairs of values, persons with more rows are dropped as a whole.
  if (pairs) return { beyond: beyond.table };
  const rows = await data.hold(
    ...keptRowsQuery(data.dialect, policy, columns, `${person} IN (SELECT ${personColumn} FROM ${beyond.table})`),
  );
  return rows && { beyond: beyond.table, rows: rows.table };
}

/** Kept rows of some persons under the cell names of the data; declared columns only, since no other column is ever read. */
function keptRowsQuery(dialect: Dialect, policy: Policy, columns: readonly SourceColumn[], where: string) {
  const declared = columns.filter(({ name }) => policy.columns.has(name) || name === policy.protect.unit);
  const names = new Set(
    declared.flatMap(({ name, coded, written, places }) => [
      name,
      ...(coded === undefined ? [] : [coded]),
      ...(written ? [written.column] : []),
      ...(places ? [places.column] : []),
    ]),
  );
  const list = [...names].map((name, i) => [quoteName(name), `c${i}`] as const);
  const binder = new Binder(dialect);
  const rows = selectBoundedRows(dialect, binder, list, { ...dataContributionBound(dialect, policy, columns), where });
  const shown = list.map(([name, alias]) => `${alias} AS ${name}`).join(', ');
  return [{ sql: `SELECT ${shown} FROM (${rows}) AS staying`, values: binder.values }, list.length] as const;
}
