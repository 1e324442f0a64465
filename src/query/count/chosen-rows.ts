import type { Snapshot, SourceColumn } from '../../data/engine/engine.js';
import { quoteName } from '../../data/engine/structure.js';
import type { Policy } from '../../policy/policy.js';
import {
  type ChosenRows,
  dataContributionBound,
  heldRowsQuery,
  personColumn,
  personExpression,
  type RowSource,
  type SelectedColumns,
} from './contribution-bound.js';

/**
 * Persons with more than `maxRows` rows, and which of their rows are kept, looked up once per state of the data (decision 0075).
 * Same choice as in every statement; undefined where it cannot be held or rows are left out, and then each statement chooses.
 */
async function chooseKeptRows(data: Snapshot, policy: Policy): Promise<ChosenRows | undefined> {
  const { secret, unit, maxRows, pairs } = policy.protect;
  if (secret !== 'person' || unit === undefined || policy.view || data.whole !== data || !data.hold) return undefined;
  const columns = await data.columns();
  const { dialect } = data;
  const person = personExpression(dialect, columns, unit);
  const all = `SELECT ${person} AS ${personColumn} FROM fugu_data`;
  const many = `SELECT ${personColumn} FROM (${all}) AS owned WHERE ${personColumn} IS NOT NULL GROUP BY ${personColumn} HAVING count(*) > ${Math.trunc(maxRows)}`;
  const beyond = await data.hold({ sql: many, values: [] }, 1);
  if (!beyond) return undefined;
  if (beyond.rows === 0) return {};
  // Under pairs of values, persons with more rows are dropped as a whole.
  if (pairs) return { beyond: beyond.table };
  const where = `${person} IN (SELECT ${personColumn} FROM ${beyond.table})`;
  const bound = { ...dataContributionBound({ dialect, policy, columns }), where };
  const rows = await data.hold(...heldRowsQuery(dialect, keptCells(policy, columns), bound));
  return rows && { beyond: beyond.table, rows: rows.table };
}

/** The rows of the data, with those that are used of persons with too many. */
export const rowSource = async (data: Snapshot, policy: Policy): Promise<RowSource> => ({
  dialect: data.dialect,
  policy,
  columns: await data.columns(),
  chosen: await chooseKeptRows(data, policy),
});

/** The cells of the data, as they are named there; declared columns only, since no other column is ever read. */
function keptCells(policy: Policy, columns: readonly SourceColumn[]): SelectedColumns {
  const declared = columns.filter(({ name }) => policy.columns.has(name) || name === policy.protect.unit);
  const names = new Set(
    declared.flatMap(({ name, coded, written, places }) => [
      name,
      ...(coded === undefined ? [] : [coded]),
      ...(written ? [written.column] : []),
      ...(places ? [places.column] : []),
    ]),
  );
  return [...names].map((name, i) => [quoteName(name), `c${i}`] as const);
}
