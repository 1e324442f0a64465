import { toNumber } from '../../base/exact/rational.js';
import type { ColumnPairs } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import { prefixEstimator } from '../../privacy/mechanism/ordered/prefix-estimator.js';
import type { Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import { everyRecord, pairsClass } from '../../privacy/mechanism/record-class.js';
import { aritiesOver } from '../../privacy/mechanism/running/tree.js';
import type { RecordSensitivity, Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { type Counting, columnsOfKey, type GroupKey, stableText } from './measure.js';
import { orderedSensitivity } from './ordered-sensitivity.js';
import { hasNoTies } from './pair-sensitivity.js';

/**
 * Strategy of least mean squared error over all ranges, from public numbers only: sensitivities and exact variances.
 * Every candidate keeps the promise. Trees are tried with equal weights first; the best few of them with others.
 */
export function strategyFor(policy: Policy, counting: Counting): Strategy {
  const all = strategyCache.get(policy) ?? new Map<string, Strategy>();
  strategyCache.set(policy, all);
  const text = stableText([counting.filter, counting.keys]);
  const found = all.get(text) ?? leastError(policy, counting);
  all.set(text, found);
  return found;
}
const strategyCache = new WeakMap<Policy, Map<string, Strategy>>();

const tried = 3;
/** Weights of prefix counts and of trees, in addition to one of each. */
const weights: readonly (readonly [prefix: number, tree: number])[] = [
  [1, 3],
  [1, 2],
  [2, 3],
  [3, 2],
  [2, 1],
  [3, 1],
  [8, 1],
  [64, 1],
];

function leastError(policy: Policy, counting: Counting): Strategy {
  const key = counting.keys.at(-1)!;
  const scored = (strategy: Strategy) => ({
    strategy,
    error: expectedRangeError(policy, orderedSensitivity(policy, counting, strategy), strategy),
  });
  const byError = (a: { readonly error: number }, b: { readonly error: number }) => a.error - b.error;
  const first = blockEnds(policy, key)
    .flatMap((ends) => shapesOver(key.size, ends))
    .map(scored);
  const best = first.sort(byError).slice(0, tried);
  const more = best.flatMap(({ strategy }) =>
    strategy.tree === 0 ? [] : weights.map(([prefix, tree]) => scored({ ...strategy, prefix, tree })),
  );
  return [...best, ...more].sort(byError)[0]!.strategy;
}

/** Expected squared error of a range, up to a factor that all strategies share. */
function expectedRangeError(policy: Policy, sensitivity: RecordSensitivity, strategy: Strategy): number {
  const { protect, budget } = policy;
  const full = sensitivity.get(everyRecord);
  if (!full) return 0;
  const own = protect.pairs && sensitivity.get(pairsClass(protect.pairs.digest));
  // With ties, the full sensitivity is added to the one along pairs: tied records may change by any value.
  const parts = own ? [own, ...(hasNoTies(policy) ? [] : [full])] : [full];
  const size = (of: keyof Sensitivity): number => Number(parts.reduce((sum, part) => sum + part[of], 0n));
  const variance = prefixEstimator(strategy).meanVariance();
  const [epsilon, delta] = [toNumber(budget.epsilon), toNumber(budget.delta)];
  const pure = 2 * (size('l1') / epsilon) ** 2 * variance;
  if (!(delta > 0)) return pure;
  const logInverseDelta = Math.log(1 / delta);
  const rho = (Math.sqrt(epsilon + logInverseDelta) - Math.sqrt(logInverseDelta)) ** 2;
  return Math.min(pure, (size('l2squared') / (2 * rho)) * variance);
}

const areSingletons = (ends: readonly number[]): boolean => ends.every((end, b) => end === b + 1);

function shapesOver(size: number, ends: readonly number[]): readonly Strategy[] {
  if (areSingletons(ends)) return [{ size, ends, arity: 2, prefix: 1, tree: 0 }];
  const widest = ends.reduce((most, end, b) => Math.max(most, end - (ends[b - 1] ?? 0)), 1);
  return aritiesOver(widest).map((arity) => ({ size, ends, arity, prefix: 1, tree: 1 }));
}

/** Candidate block ends: only the end of all, or those that the pairs suggest. */
function blockEnds(policy: Policy, key: GroupKey): readonly (readonly number[])[] {
  const { size } = key;
  const pairs = policy.protect.pairs?.columns.get(columnsOfKey(key)[0]!);
  const suggested = pairs ? suggestedBy(pairs, key) : [];
  const proper = [...suggested, []].map((ends) =>
    [...new Set(ends.filter((end) => end > 0 && end < size))].sort((a, b) => a - b),
  );
  const each = new Map(proper.map((ends) => [ends.join(), [...ends, size]] as const));
  return [...each.values()];
}

/** Most block ends within one pair; more bring no improvement. */
const maxCrossed = 8;

function suggestedBy(pairs: ColumnPairs, key: GroupKey): readonly (readonly number[])[] {
  const width = key.kind === 'grid' ? key.width : 1;
  const every = (block: number): readonly number[] =>
    Array.from({ length: Math.ceil(key.size / block) }, (_, k) => (k + 1) * block);
  if (pairs.form === 'steps') {
    const reach = Math.ceil(pairs.steps / width);
    const blocks = [1 / 4, 1 / 2, 1, 2, 4].map((part) => Math.max(1, Math.round(part * reach)));
    return [...(reach <= maxCrossed ? [1] : []), ...blocks].map(every);
  }
  if (pairs.form === 'ranges') return [pairs.starts.map((start) => Math.round(start / width))];
  if (pairs.form === 'blocks')
    return [pairs.blockOf.flatMap((block, k) => (k > 0 && block !== pairs.blockOf[k - 1] ? [k] : [])), every(1)];
  return [every(1)];
}
