import { resolve } from '../base/platform/paths.js';
import { isDatabase } from './address.js';
import { declareColumns } from './columns.js';
import type { DataSource, LinkedTable, Policy, Protect } from './policy.js';
import { invalid } from './problems.js';
import type { TableEntry } from './schema.js';
import type { YamlFile } from './yaml-file.js';

interface Declared {
  readonly directory: string;
  readonly data: DataSource;
  readonly protect: Protect;
  readonly known: boolean;
  readonly yaml: YamlFile;
}

/**
 * Further tables: rows of the protected persons, or public ones. Joining other tables would need a promise about other people.
 */
export function declareTables(
  entries: Readonly<Record<string, TableEntry>>,
  declared: Declared,
): ReadonlyMap<string, LinkedTable> {
  const { protect, known, yaml } = declared;
  const first = Object.keys(entries)[0];
  if (first === undefined) return new Map();
  const wrong = (message: string, hint: string) => invalid(yaml, ['tables', first], message, hint);
  if (protect.secret !== 'person')
    throw wrong(
      `Several tables go with the secret "person": what is protected is all that is said of one person in any of them, not a ${protect.secret}.`,
      'Write protect: {secret: person, unit: id, maxRows: 1}.',
    );
  if (protect.pairs || known)
    throw wrong(
      `Several tables do not go with ${protect.pairs ? 'pairs of values' : 'known totals'}, which are about the rows of one.`,
      `Leave ${protect.pairs ? 'pairs' : 'known'} out, or the tables.`,
    );
  return new Map(Object.entries(entries).map(([name, entry]) => [name, declareTable(name, entry, declared)]));
}

function declareTable(name: string, entry: TableEntry, { directory, data, yaml }: Declared): LinkedTable {
  const wrong = (key: string, message: string, hint: string) => invalid(yaml, ['tables', name, key], message, hint);
  if (name.toLowerCase() === 'data')
    throw wrong('', 'A table may not be called "data": that is the table which says who there is.', 'Give it another name.');
  const open = entry.public ?? false;
  if (open === (entry.unit !== undefined))
    throw wrong(
      open ? 'unit' : '',
      open ? `The table "${name}" is public and has a unit.` : `Whose rows those of "${name}" are is not said.`,
      open
        ? 'Rows that everybody knows belong to nobody: leave unit out, or public.'
        : 'Name the column that names the person: unit: person. A table about something else, such as clinics, is public: true; if its rows are secrets themselves, they need a policy of their own whose unit they are, or their columns belong into a table with a unit.',
    );
  if (open && entry.key === undefined)
    throw wrong('', `The public table "${name}" has no key.`, 'Name the columns by which one of its rows is found: key: clinic.');
  const own = entry.key === undefined ? undefined : [entry.key].flat();
  const oneEach = own?.length === 1 && own[0] === entry.unit;
  if (!open && entry.maxRows === undefined && !oneEach)
    throw wrong(
      '',
      `How many rows one person may have in "${name}" is not said.`,
      'Add maxRows: 20; further rows of a person are left out. One row each: key: person, the same as the unit.',
    );
  if (open && (entry.maxRows !== undefined || entry.period))
    throw wrong('maxRows', `The rows of the public table "${name}" belong to nobody.`, 'Leave maxRows and period out.');
  if (oneEach && (entry.maxRows ?? 1) !== 1)
    throw wrong('maxRows', `The key of "${name}" is its unit, so one person has one row.`, 'Write maxRows: 1, or another key.');
  const columns = declareColumns(entry.columns ?? {}, new Map(), under(yaml, ['tables', name]), data.decimal);
  const shown = [...columns.values()].find((c) => c.public);
  if (shown)
    throw wrong(
      'columns',
      `The column "${shown.name}" of "${name}" is declared public.`,
      "A table is public or its rows are somebody's: leave public out.",
    );
  if (entry.period && columns.get(entry.period.column)?.type !== 'category')
    throw wrong(
      'period',
      `The period of "${name}" is no declared category.`,
      'Declare it under columns: {month: {type: category, values: […]}}.',
    );
  return {
    name,
    ...sourceOf(name, entry, { directory, data, yaml }),
    ...(entry.unit !== undefined && { unit: entry.unit }),
    ...(own && { key: own }),
    links: entry.links ?? [],
    maxRows: entry.maxRows ?? 1,
    ...(entry.period && { period: entry.period }),
    public: open,
    columns,
  };
}

function sourceOf(
  name: string,
  { source, table }: TableEntry,
  { directory, data, yaml }: Pick<Declared, 'directory' | 'data' | 'yaml'>,
): Pick<LinkedTable, 'source' | 'table'> {
  const wrong = (message: string, hint: string) => invalid(yaml, ['tables', name], message, hint);
  const file = source === undefined ? undefined : resolve(directory, source);
  if (file !== undefined && isDatabase(data.source))
    throw wrong(`The table "${name}" lies elsewhere than the data.`, 'Name a table of the same database: table: schema.visits.');
  if (file !== undefined && /\.(duckdb|ddb|db)$/i.test(file))
    throw wrong(
      `The table "${name}" lies in another database than the data.`,
      'Name a csv or parquet file, or a table of the database that data.source names.',
    );
  if (file === undefined && table === undefined)
    throw wrong(
      `Where the table "${name}" lies is not said.`,
      'Add source: visits.csv, or table: visits in the database of the data.',
    );
  return { ...(file !== undefined && { source: file }), ...(table !== undefined && { table }) };
}

/** Places of what stands below an entry. */
const under = (yaml: YamlFile, path: readonly (string | number)[]): YamlFile => ({
  ...yaml,
  place: (below) => yaml.place([...path, ...below]),
  placeOfKey: (below) => yaml.placeOfKey([...path, ...below]),
});

/** Tables whose rows are persons'. */
export const ownTables = ({ tables }: Pick<Policy, 'tables'>): readonly LinkedTable[] =>
  [...(tables?.values() ?? [])].filter((t) => !t.public);
