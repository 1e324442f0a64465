import type { Policy } from '../../policy/policy.js';
import { type GroupKey, type Measure, type RowValue, stableText } from '../count/measure.js';
import type { View } from '../view/view.js';
import { canonicalColumns, viewText, withDerivedColumns } from './columns.js';
import { type CanonicalColumns, testsText } from './decision-diagram.js';
import { cachedHash, shortHash } from './short-hash.js';
import { withoutUpperBounds } from './upper-bounds.js';

/** Canonical form of the counting of a measure, equal for all ways to write it. */
export interface CanonicalCount {
  /** Measures with one text count the same rows of the same data in the same cells, up to the order of the cells. */
  readonly of: string;
  /** Keys of the measure in the order of its cells, each with its number of places. */
  readonly keys: readonly (readonly [key: string, size: number])[];
}

/** Upper bounds without effect on the counted rows are left out, so that recorded answers survive a wider bound. */
export function canonicalCount(measure: Measure, policy: Policy, view: View | undefined): CanonicalCount {
  if (view || measure.countedView) return canonicalCountWithBounds(measure, policy, view);
  const { counting } = measure;
  const free = withoutUpperBounds(policy, counting);
  return canonicalCountWithBounds({ ...measure, counting: { ...counting, filter: free.filter } }, free.policy, view);
}

/** The same with all bounds: the form under which answers were recorded before docs/explanation/decisions/0095. */
export function canonicalCountWithBounds(measure: Measure, policy: Policy, view: View | undefined): CanonicalCount {
  const { counting, countedView, mechanism } = measure;
  const declared = countedView?.policy ?? policy;
  const columns = withDerivedColumns(canonicalColumns(policy, view), counting.derived, declared);
  const keys = counting.keys.map((key) => [keyText(key, columns), key.size] as const);
  // The last key of a selection or of ordered counts is the value inside a group; only group keys may be reordered.
  const groups = { additive: keys.length, exponential: keys.length - 1, ordered: 0 }[mechanism];
  const of = shortHash([
    mechanism,
    testsText(counting.filter, columns),
    keys
      .slice(0, groups)
      .map(([key]) => key)
      .sort(),
    keys.slice(groups).map(([key]) => key),
    valueText(counting.value, columns),
    view ? [viewText(policy, view), everythingDeclared(policy)] : null,
    mechanism === 'ordered' ? measure.strategy : null,
    mechanism === 'exponential' ? measure.rule : null,
    mechanism === 'additive' ? [measure.tables ?? 1, measure.worth ?? null, measure.published?.map(String) ?? null] : null,
  ]);
  return { of, keys: keys.slice(0, groups) };
}

/** In a view any declaration may decide which rows exist. */
const everythingDeclared = ({ columns, tables }: Policy): readonly unknown[] => [
  [...columns.values()].map(cachedHash),
  [...(tables?.values() ?? [])].map(({ columns: own, ...table }) => [table, [...own.values()].map(cachedHash)]),
];

function keyText(key: GroupKey, columns: CanonicalColumns): string {
  if (key.kind === 'joint') return shortHash({ ...key, keys: key.keys.map((own) => keyText(own, columns)) });
  return shortHash({ ...key, column: columns.ref(key.column) });
}

function valueText(value: RowValue, columns: CanonicalColumns): string {
  const named = {
    ...('column' in value && value.column !== undefined && { column: columns.ref(value.column) }),
    ...('weight' in value && value.weight !== undefined && { weight: columns.ref(value.weight) }),
  };
  return shortHash({ ...value, ...named });
}

/** The same cells, reordered from the keys `from` to the keys `to`. */
export function reorderCells<T>(cells: readonly T[], from: CanonicalCount['keys'], to: CanonicalCount['keys']): readonly T[] {
  if (stableText(from) === stableText(to)) return cells;
  // Keys that are the same are taken one after the other.
  const left = from.map(([key], at) => ({ key, at }));
  const places = to.map(([key]) => {
    const found = left.findIndex((own) => own.key === key);
    if (found < 0) throw new RangeError('no key of these cells');
    return left.splice(found, 1)[0]!.at;
  });
  const strides = from.map((_, k) => from.slice(k + 1).reduce((n, [, size]) => n * size, 1));
  let starts = [0];
  to.forEach(([, size], k) => {
    starts = starts.flatMap((start) => Array.from({ length: size }, (_, p) => start + p * strides[places[k]!]!));
  });
  return starts.map((at) => cells[at]!);
}
