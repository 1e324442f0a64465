import { createHash } from 'node:crypto';
import type { Policy, Relation } from '../policy/policy.js';

/** What an engine needs to know about the data: a policy says it, or a caller without one. */
export interface EngineSource {
  readonly source: string;
  readonly table?: string;
  readonly relations: readonly RelationSource[];
  /** Columns declared as categories. */
  readonly codes: ReadonlySet<string>;
}

export interface RelationSource extends Pick<Relation, 'name' | 'table' | 'columns' | 'symmetric'> {
  /** The column that holds each tie's own odds ratio; shown as `odds`. */
  readonly odds?: string;
}

export function sourceOf(policy: Policy): EngineSource {
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
    codes: new Set([...policy.columns.values()].filter((c) => c.type === 'category').map((c) => c.name)),
  };
}

/** Content only: the same data under another name is the same snapshot. */
export const digestOf = (source: EngineSource, contents: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([source.table ?? '', contents]))
    .digest('hex');
