import { createHash } from 'node:crypto';
import { codesOf } from '../policy/code.js';
import type { Policy, Relation } from '../policy/policy.js';

/** What an engine needs to know about the data: a policy says it, or a caller without one. */
export interface EngineSource {
  readonly source: string;
  readonly table?: string;
  readonly relations: readonly RelationSource[];
  /** Columns declared as categories. */
  readonly codes: ReadonlySet<string>;
  /** Codes of the categories of which nothing but these codes is ever asked: an engine may forget every other text in them. */
  readonly domains?: ReadonlyMap<string, readonly string[]>;
  /** Columns of which nothing but a number is ever asked. */
  readonly numbers?: ReadonlySet<string>;
}

export interface RelationSource extends Pick<Relation, 'name' | 'table' | 'columns' | 'symmetric'> {
  /** The column that holds each tie's own odds ratio; shown as `odds`. */
  readonly odds?: string;
}

/** Columns that say who a row is about and who is tied to whom: their own text matters, declared or not. */
const namesOf = ({ protect, dependence }: Policy): ReadonlySet<string> =>
  new Set([
    ...(protect.unit === undefined ? [] : [protect.unit]),
    ...dependence.flatMap((d) => (d.kind === 'groups' ? d.by : d.kind === 'sequence' ? [d.by, d.order] : [])),
  ]);

export function sourceOf(policy: Policy): EngineSource {
  const names = namesOf(policy);
  const categories = [...policy.columns.values()].filter((c) => c.type === 'category');
  const odds = new Map(policy.dependence.flatMap((d) => (d.kind === 'ties' && d.oddsColumn ? [[d.relation, d.oddsColumn]] : [])));
  return {
    source: policy.data.source,
    ...(policy.data.table !== undefined && { table: policy.data.table }),
    relations: [...policy.relations.values()].map(({ name, table, columns, symmetric }) => ({
      name,
      table,
      columns,
      symmetric,
      ...(odds.has(name) && { odds: odds.get(name)! }),
    })),
    codes: new Set(categories.map((c) => c.name)),
    domains: new Map(categories.filter((c) => !names.has(c.name)).map((c) => [c.name, codesOf(c)])),
    numbers: new Set([...policy.columns.values()].filter((c) => 'bounds' in c && !names.has(c.name)).map((c) => c.name)),
  };
}

/**
 * Whether data opened as this source is what a policy reads: its relations are there with the same tuples, and of no column it speaks of was text
 * forgotten that it does not ignore itself.
 */
export function reads(opened: EngineSource, policy: Policy): boolean {
  const wanted = sourceOf(policy);
  const relations = new Map(opened.relations.map((r) => [r.name, r]));
  const tuples = ({ table, columns, symmetric }: RelationSource) => JSON.stringify([table, columns, symmetric]);
  const spoken = new Set([...policy.columns.keys(), ...namesOf(policy)]);
  return (
    wanted.relations.every((r) => {
      const there = relations.get(r.name);
      return there !== undefined && tuples(there) === tuples(r) && (r.odds === undefined || r.odds === there.odds);
    }) &&
    [...(opened.domains ?? [])].every(
      ([column, codes]) => !spoken.has(column) || JSON.stringify(wanted.domains?.get(column)) === JSON.stringify(codes),
    ) &&
    [...(opened.numbers ?? [])].every((column) => !spoken.has(column) || wanted.numbers?.has(column))
  );
}

/** Content only: the same data under another name is the same snapshot. */
export const digestOf = (source: EngineSource, contents: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([source.table ?? '', contents]))
    .digest('hex');
