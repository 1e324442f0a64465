import { Fault } from '../../base/errors.js';
import { codesOf } from '../../policy/code.js';
import { gridOf, type NumberGrid } from '../../policy/grid.js';
import type { Column, LinkedTable, NumberColumn, Policy, WeightColumn } from '../../policy/policy.js';
import type { CellReadings, EngineSource, RelationSource } from '../engine/source.js';
import { type TieKinds, tieKindColumns, tieKindOf, tieKinds } from '../ties/kinds.js';

/** Columns that name the owner of a row or define ties: their text itself is used, declared or not. */
const namesOf = ({ data, protect, dependence }: Policy, kinds: TieKinds): ReadonlySet<string> =>
  new Set([
    ...(protect.unit === undefined ? [] : [protect.unit]),
    ...(data.links ?? []),
    ...dependence.flatMap((d) => tieKindColumns(d, kinds).map(({ column }) => column)),
  ]);

export function sourceOf(policy: Policy, kinds: TieKinds = tieKinds): EngineSource {
  const odds = new Map(
    policy.dependence.flatMap((d): [string, string][] => {
      const relation = tieKindOf(d, kinds).relation?.(d);
      return relation?.odds === undefined ? [] : [[relation.name, relation.odds]];
    }),
  );
  return {
    source: policy.data.source,
    ...(policy.data.table !== undefined && { table: policy.data.table }),
    ...(policy.data.encoding !== undefined && { encoding: policy.data.encoding }),
    relations: [...policy.relations.values()].map(({ name, table, columns, symmetric }) => ({
      name,
      table,
      columns,
      symmetric,
      ...(odds.has(name) && { odds: odds.get(name)! }),
    })),
    ...(policy.tables && {
      tables: [...policy.tables.values()].map(({ name, source, table, columns, ...own }) => ({
        name,
        ...(source !== undefined && { source }),
        ...(table !== undefined && { table }),
        ...readingsOf(columns, joiningColumns(own)),
      })),
    }),
    ...readingsOf(policy.columns, namesOf(policy, kinds)),
  };
}

/** Columns that name the owner of a row or join it to others. */
export const joiningColumns = ({ unit, key = [], links }: Pick<LinkedTable, 'unit' | 'key' | 'links'>): ReadonlySet<string> =>
  new Set([...(unit === undefined ? [] : [unit]), ...key, ...links]);

/** Codes of the categories of the data, or of a side table, from which only these codes are read. */
export type Domains = ReadonlyMap<string, readonly string[]>;
export const domainsOfData = (policy: Policy, kinds: TieKinds = tieKinds): Domains =>
  domainsOf(policy.columns, namesOf(policy, kinds));
export const domainsOfTable = (table: LinkedTable): Domains => domainsOf(table.columns, joiningColumns(table));
const domainsOf = (columns: ReadonlyMap<string, Column>, names: ReadonlySet<string>): Domains =>
  new Map([...columns.values()].flatMap((c) => (c.type === 'category' && !names.has(c.name) ? [[c.name, codesOf(c)]] : [])));

/** `names`: of these the text itself matters. */
function readingsOf(columns: ReadonlyMap<string, Column>, names: ReadonlySet<string>): CellReadings {
  const categories = [...columns.values()].filter((c) => c.type === 'category');
  const numbers = [...columns.values()].filter((c): c is NumberColumn | WeightColumn => 'bounds' in c && !names.has(c.name));
  return {
    codes: new Set(categories.map((c) => c.name)),
    domains: domainsOf(columns, names),
    numbers: new Set(numbers.map((c) => c.name)),
    commas: new Set(numbers.filter((c) => c.decimal === ',').map((c) => c.name)),
    dates: new Set(numbers.filter((c) => c.type === 'integer' && c.date).map((c) => c.name)),
    grids: new Map(numbers.flatMap((c) => usableGrid(c).map((grid) => [c.name, grid] as const))),
  };
}

/** Of a name the text matters, of a date the day: no column is both. */
export function refuseDatedNames(policy: Policy, kinds: TieKinds): void {
  const tables = [...(policy.tables?.values() ?? [])].map((t) => [t.columns, joiningColumns(t)] as const);
  for (const [columns, names] of [[policy.columns, namesOf(policy, kinds)] as const, ...tables])
    for (const column of columns.values())
      if (column.type === 'integer' && column.date && names.has(column.name))
        throw new Fault(
          'POLICY_INVALID',
          `The date "${column.name}" also says whose a row is, what is joined to it or how rows are tied.`,
          'Take it out of columns, or store the day once more under another name.',
          { place: policy.places?.get(`columns.${column.name}`) ?? { file: policy.file } },
        );
}

/** An unusable grid is refused when the column is queried. */
function usableGrid(column: NumberColumn | WeightColumn): readonly NumberGrid[] {
  try {
    return [gridOf(column)];
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}

/**
 * True if data opened as this source serves a policy: its relations have the same
 * tuples, and of no column that it uses was text dropped that the policy needs.
 */
export function servesPolicy(opened: EngineSource, policy: Policy, kinds: TieKinds = tieKinds): boolean {
  const wanted = sourceOf(policy, kinds);
  const relations = new Map(opened.relations.map((r) => [r.name, r]));
  const tuples = ({ table, columns, symmetric }: RelationSource) => JSON.stringify([table, columns, symmetric]);
  const spoken = new Set([...policy.columns.keys(), ...namesOf(policy, kinds)]);
  return (
    opened.encoding === wanted.encoding &&
    textOfTables(opened) === textOfTables(wanted) &&
    wanted.relations.every((r) => {
      const there = relations.get(r.name);
      return there !== undefined && tuples(there) === tuples(r) && (r.odds === undefined || r.odds === there.odds);
    }) &&
    [...(opened.domains ?? [])].every(
      ([column, codes]) => !spoken.has(column) || JSON.stringify(wanted.domains?.get(column)) === JSON.stringify(codes),
    ) &&
    [...(opened.numbers ?? [])].every(
      (column) =>
        !spoken.has(column) ||
        (wanted.numbers?.has(column) &&
          wanted.commas?.has(column) === (opened.commas?.has(column) ?? false) &&
          wanted.dates?.has(column) === (opened.dates?.has(column) ?? false)),
    )
  );
}

/** Data with other side tables, or other readings of them, is opened again. */
const textOfTables = ({ tables = [] }: EngineSource): string =>
  JSON.stringify(tables, (_, value: unknown) => {
    if (value instanceof Map || value instanceof Set) return [...value];
    return typeof value === 'bigint' ? `${value}` : value;
  });
