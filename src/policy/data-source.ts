import { dirname, isAbsolute, relative, sep } from '../base/platform/paths.js';
import { canonicalAddress, isCluster, isDatabase, readCluster, tableIn } from './address.js';
import type { Policy } from './policy.js';
import { canonicalPath, edgeRelations, populationOf, realTable, secretFiles } from './population.js';
import { ownTables } from './tables.js';

type Read = Pick<Policy, 'data' | 'ledger'>;

/** Identity of a file or database: relative to the ledger's folder, so that a folder moved as a whole keeps it. */
export function placeOfData(source: string, { ledger }: Pick<Policy, 'ledger'>): string {
  if (isDatabase(source)) return canonicalAddress(source);
  const path = canonicalPath(source);
  return (isDatabase(ledger) ? path : relative(dirname(ledger), path).split(sep).join('/')).normalize('NFC');
}

/** Identity of the table a policy reads its records from. A view is a table of its own: it may show the same people. */
export function dataSource({ data, ledger }: Read): string {
  const place = placeOfData(data.source, { ledger });
  const table = data.table ?? (isCluster(data.source) ? readCluster(data.source).table : undefined);
  return table === undefined ? place : `${place}#${tableName(data.source, table)}`;
}
const tableName = (source: string, table: string): string =>
  isDatabase(source) ? tableIn(source, table) : table.replace(/^main\./, '');

/** Tables on a server that hold the secret, each under its one name; what they hold is not read for it. */
export function secretServerTables(policy: Read & Pick<Policy, 'protect' | 'relations' | 'tables'>): readonly string[] {
  const { data, ledger } = policy;
  if (!isDatabase(data.source)) return [];
  const edges = edgeRelations(policy);
  const own = ownTables(policy).flatMap(({ table }) => (table === undefined ? [] : [{ source: data.source, table }]));
  const names =
    edges.length > 0
      ? edges.filter(({ table }) => !isAbsolute(table)).map((relation) => realTable(relation, data))
      : [data, ...own].map((each) => dataSource({ data: each, ledger }));
  return [...new Set(names)].sort();
}

/** True if every policy of this population reads the same table: the population is named after one file with one table. */
export const hasOneSource = (policy: Pick<Policy, 'data' | 'protect' | 'relations' | 'tables' | 'population'>): boolean =>
  !isDatabase(policy.data.source) &&
  policy.data.table === undefined &&
  !holdsTables.test(policy.data.source) &&
  ownTables(policy).length === 0 &&
  policy.population === populationOf(undefined, secretFiles(policy));
const holdsTables = /\.(duckdb|ddb|db|xlsx)$/i;
