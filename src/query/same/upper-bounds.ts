import { add, rational } from '../../base/exact/rational.js';
import { gridOf, unboundedGrid } from '../../policy/grid.js';
import type { Column, NumberColumn, Policy } from '../../policy/policy.js';
import { type Counting, namesIn } from '../count/measure.js';
import { isLeaf, leavesOf, type RowTest } from '../count/row-test.js';

/**
 * Conditions on whole numbers without their upper bound: what passes at the bound passes above it, because counts clamp.
 * Equal forms pass the same rows for any bounds (docs/explanation/decisions/0095). Columns that are read elsewhere keep theirs.
 */
export function withoutUpperBounds(
  policy: Policy,
  counting: Counting,
): { readonly policy: Policy; readonly filter: readonly RowTest[] } {
  const { filter, derived = [] } = counting;
  const kept = new Set([...namesIn({ ...counting, filter: [] }), ...derived.flatMap(({ bases }) => bases)]);
  const free = new Map<string, NumberColumn>();
  for (const { column: name } of leavesOf(filter)) {
    const column = kept.has(name) ? undefined : policy.columns.get(name);
    const widest = column && withoutUpperBound(column);
    if (widest) free.set(name, widest);
  }
  const lasts = new Map([...free.keys()].map((name) => [name, gridOf(policy.columns.get(name) as NumberColumn).last]));
  const open = (test: RowTest): RowTest => {
    if (!isLeaf(test)) return { ...test, tests: test.tests.map(open) };
    const last = lasts.get(test.column);
    if (last === undefined || test.kind !== 'range' || test.from > test.to || test.to < last) return test;
    return { ...test, to: maxPositions };
  };
  return { policy: { ...policy, columns: new Map([...policy.columns, ...free]) }, filter: filter.map(open) };
}

/** No policy declares a position above this one. */
const maxPositions = 2 ** 31;
/** Lower bounds farther from zero than this keep their upper bound: a wider one would make no usable grid. */
const farthest = 2 ** 47;

/** The column with the widest upper bound that a policy may declare; bins follow from the declared one, and conditions use none. */
function withoutUpperBound(column: Column): NumberColumn | undefined {
  const known = found.get(column);
  if (known) return known;
  if (column.type !== 'integer' || !unboundedGrid(column) || Math.abs(Number(column.bounds[0].num)) > farthest) return undefined;
  const { bins: _, ...rest } = column;
  const free = { ...rest, bounds: [column.bounds[0], add(column.bounds[0], rational(maxPositions))] as const };
  found.set(column, free);
  return free;
}
const found = new WeakMap<Column, NumberColumn>();
