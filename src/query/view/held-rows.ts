import type { Snapshot } from '../../data/engine/engine.js';
import type { LinkedTable, Policy } from '../../policy/policy.js';
import { heldRowsQuery } from '../count/contribution-bound.js';
import { rawCell, sourceColumn } from '../count/read-column.js';
import { beyondName, boundedTable, type HeldViewRows, personsBeyondLimits, type ViewTables } from './limits.js';
import type { View } from './view.js';

/**
 * Persons with rows beyond a limit and their kept rows, looked up once per state of the data, since choosing takes longer than counting.
 * Same choice as in every statement (`selectBoundedRows`); undefined where nothing can be held, or too many rows.
 */
export async function holdViewRows(data: Snapshot, tables: ViewTables, view: View): Promise<HeldViewRows | undefined> {
  const { whole } = data;
  if (!whole.hold) return undefined;
  const read = tablesOf(tables.policy, view);
  const own = read.filter((table) => !table?.public);
  const beyond = await whole.hold({ sql: personsBeyondLimits(tables, own), values: [] }, 1);
  if (!beyond) return undefined;
  const held = new Map<string | undefined, string>();
  for (const table of read) {
    if (!table?.public && beyond.rows === 0) continue;
    // Rows of the data are looked up only on the whole data: a snapshot without some rows decides itself which rows exist.
    if (!table && data !== whole) continue;
    const found = await whole.hold(...keptRowsQuery(tables, table, beyond.table));
    if (found) held.set(table?.name, found.table);
  }
  return { ...(beyond.rows > 0 && { beyond: beyond.table }), rows: (table) => held.get(table) };
}

/** Kept rows of a public table, or of these persons in a table, under their names there. */
function keptRowsQuery(tables: ViewTables, table: LinkedTable | undefined, beyond: string) {
  const { columns, person, cut, unit } = boundedTable(tables, table, 'fugu_data');
  const owner = unit === undefined ? [] : [[rawCell(sourceColumn(tables.columns(table?.name), unit)), 'owner'] as const];
  const all = new Map([...owner, ...columns]);
  const where = table?.public ? {} : { where: `${person} IN (SELECT ${beyondName} FROM ${beyond})` };
  return heldRowsQuery(tables.dialect, [...all], { ...cut, ...where });
}

/** The tables whose rows a view reads; undefined is the data. */
function tablesOf(policy: Policy, { parts }: View): readonly (LinkedTable | undefined)[] {
  const all = parts.flatMap(({ rows }) => {
    if (rows.form !== 'table') return tablesOf(policy, rows.of);
    return [rows.table === undefined ? undefined : policy.tables!.get(rows.table)!];
  });
  return [...new Set(all)];
}
