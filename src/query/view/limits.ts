import type { Dialect } from '../../data/engine/dialect.js';
import type { SourceColumn } from '../../data/engine/engine.js';
import { quoteName, tableView } from '../../data/engine/structure.js';
import { domainsOfData, domainsOfTable } from '../../data/terms/source.js';
import type { LinkedTable, Policy } from '../../policy/policy.js';
import { cellName } from '../count/code-cell.js';
import { type ContributionBound, cellContent, personColumn, readableColumns } from '../count/contribution-bound.js';
import { rawCell, sourceColumn } from '../count/read-column.js';

/** Tables of a policy as they are read. */
export interface ViewTables {
  readonly dialect: Dialect;
  readonly policy: Policy;
  /** Columns of a table; of the data where none is named. */
  readonly columns: (table?: string) => readonly SourceColumn[];
  /** Rows looked up for a view; without them, a statement bounds the rows of all persons. */
  readonly held?: HeldViewRows;
}

/** Rows that were chosen once per state of the data. */
export interface HeldViewRows {
  /** Table of the persons with rows beyond a limit in the view's tables, in `beyondName`; absent where there are none. */
  readonly beyond?: string;
  /**
   * FROM item with these persons' kept rows of a table (of the data where none is named), or a public table's kept rows.
   * Undefined where a statement chooses them.
   */
  readonly rows: (table?: string) => string | undefined;
}
export const beyondName = personColumn;

/** Persons are compared as integers where every table has integers, else by their names. */
export const wholePersons = (tables: ViewTables): boolean =>
  [undefined, ...[...(tables.policy.tables?.values() ?? [])].filter((t) => !t.public).map((t) => t.name)].every(
    (table) => sourceColumn(tables.columns(table), unitOf(tables.policy, table)).type === 'integer',
  );
const unitOf = (policy: Policy, table?: string): string =>
  (table === undefined ? policy.protect.unit : policy.tables!.get(table)!.unit)!;

export function personIn(tables: ViewTables, table?: string): string {
  const column = sourceColumn(tables.columns(table), unitOf(tables.policy, table));
  return wholePersons(tables) ? rawCell(column) : tables.dialect.name(rawCell(column), column.type);
}
const keyIn = (tables: ViewTables, column: SourceColumn, codes: readonly string[] | undefined): string =>
  column.type === 'integer' && !codes ? rawCell(column) : cellName(tables.dialect, column, codes, rawCell(column));

/** Limits on a person's rows in a table: one per key, so many per period, so many in all. Of the data where no table is named. */
function limitsOf(tables: ViewTables, table: LinkedTable | undefined): ContributionBound['limits'] {
  if (!table) return [{ most: tables.policy.protect.maxRows }];
  const domains = domainsOfTable(table);
  const at = (name: string) => keyIn(tables, sourceColumn(tables.columns(table.name), name), domains.get(name));
  const key = table.key?.filter((column) => column !== table.unit) ?? [];
  return [
    ...(key.length > 0 ? [{ by: key.map(at), most: 1 }] : []),
    ...(table.period ? [{ by: [at(table.period.column)], most: table.period.maxRows }] : []),
    ...(table.public ? [] : [{ most: table.maxRows }]),
  ];
}

/** Persons with rows beyond a limit in one of these tables. */
export function personsBeyondLimits(tables: ViewTables, of: readonly (LinkedTable | undefined)[]): string {
  const over = of.flatMap((table) =>
    limitsOf(tables, table).map(({ by = [], most }) => {
      const parts = by.map((part, i) => `${part} AS part${i}`);
      const from = table ? tableView(table.name) : 'fugu_data';
      const read = `SELECT ${[`${personIn(tables, table?.name)} AS person`, ...parts].join(', ')} FROM ${from}`;
      const groups = ['person', ...by.map((_, i) => `part${i}`)].join(', ');
      return `SELECT person FROM (${read}) AS owned WHERE person IS NOT NULL GROUP BY ${groups} HAVING count(*) > ${most}`;
    }),
  );
  return `SELECT DISTINCT person AS ${beyondName} FROM (${over.join(' UNION ALL ')}) AS beyond`;
}

/** Column of a table that may be read: its alias, and the alias of its place. */
export interface ViewCell {
  readonly alias: string;
  readonly source: SourceColumn;
  readonly placeAlias?: string;
  /** Codes of a category that is read by its codes only. */
  readonly codes?: readonly string[];
}

/** Bounded rows of a table, and how to read its columns; the data from `data` where no table is given. */
export function boundedTable(tables: ViewTables, table: LinkedTable | undefined, data: string) {
  const { dialect, policy } = tables;
  const source = tables.columns(table?.name);
  const names = table
    ? readableColumns(table.columns, table.key, table.links)
    : readableColumns(policy.columns, policy.data.links);
  const domains = table ? domainsOfTable(table) : domainsOfData(policy);
  const cells = new Map(
    names.map((name, i): [string, ViewCell] => {
      const column = sourceColumn(source, name);
      const codes = domains.get(name);
      return [name, { alias: `c${i}`, source: column, ...(column.places && { placeAlias: `p${i}` }), ...(codes && { codes }) }];
    }),
  );
  const columns = [...cells.values()].flatMap(({ alias, source: column, placeAlias }) => [
    [rawCell(column), alias] as const,
    ...(placeAlias === undefined ? [] : [[quoteName(column.places!.column), placeAlias] as const]),
  ]);
  const person = table?.public ? '1' : personIn(tables, table?.name);
  const cut: ContributionBound = {
    from: table ? tableView(table.name) : `${data} AS fugu_rows`,
    population: policy.population,
    person,
    content: names.map((name) => cellContent(dialect, sourceColumn(source, name), domains.get(name))),
    limits: limitsOf(tables, table),
  };
  return { cells, columns, person, cut, ...(!table?.public && { unit: unitOf(policy, table?.name) }) };
}
