import { addUp, subUp } from '../../../base/exact/outward.js';
import { toNumberDown } from '../../../base/exact/rational.js';
import { preparedPush } from '../graph/push-table.js';
import { largestBelow } from '../largest-below.js';

/**
 * Push L(alpha) <= alpha of releases about other steps onto one step, rounded up (temporal.proof.md). Backward matrices lead to
 * the step before, forward ones to the next; without a matrix nothing passes.
 */
export type LossFunction = (leakage: number) => number;

/** `relative`: every entry is right to this relative error. */
export function lossFunction(transition: readonly ArrayLike<number>[] | undefined, relative = 0): LossFunction {
  if (!transition) return () => 0;
  // Sums of n entries are off by n roundings at most.
  const rows = transition.map((row) => Float64Array.from(row));
  return preparedPush({ rows, relative: relative + (rows.length + 2) * 2 ** -52, radius: 0 });
}

export interface LossFunctions {
  readonly backward: LossFunction;
  readonly forward: LossFunction;
}

/** Leakage at every step, from the past, from the future and from both; rounded up. */
export interface TemporalLeakage {
  readonly backward: Float64Array;
  readonly forward: Float64Array;
  readonly leakage: Float64Array;
}

export function temporalLeakage(budgets: Float64Array, over: LossFunctions): TemporalLeakage {
  const backward = accumulate(budgets, over.backward);
  const forward = accumulate(budgets.toReversed(), over.forward).reverse();
  const leakage = Float64Array.from(budgets, (epsilon, t) => addUp(backward[t]!, Math.max(0, subUp(forward[t]!, epsilon))));
  return { backward, forward, leakage };
}

function accumulate(budgets: Float64Array, carried: LossFunction): Float64Array {
  const out = new Float64Array(budgets.length);
  let before = -1;
  let passed = 0;
  for (let t = 0; t < budgets.length; t++) {
    const last = t === 0 ? 0 : out[t - 1]!;
    if (last !== before) passed = carried(last);
    before = last;
    out[t] = addUp(budgets[t]!, passed);
  }
  return out;
}

/** Limit above which a leakage is reported as infinite: odds of e^60. */
const useless = 60;

/**
 * Upper bound on leakage if every step spends epsilon, for any number of steps; Infinity above the limit. Any alpha with L(alpha)
 * + epsilon <= alpha is one, which is what the code verifies.
 */
export function supremum(epsilon: number, carried: LossFunction): number {
  const over = (alpha: number) => addUp(carried(alpha), epsilon) <= alpha;
  let low = epsilon;
  if (over(low)) return low;
  let high = 2 * epsilon;
  while (!over(high)) {
    low = high;
    high *= 2;
    if (high > useless) return Number.POSITIVE_INFINITY;
  }
  for (let k = 0; k < 60; k++) {
    const middle = (low + high) / 2;
    if (over(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Upper bound on the leakage of any step if every step spends epsilon, past and future together; rounded up. */
export const steadyTemporalLeakage = (epsilon: number, { backward, forward }: LossFunctions): number =>
  addUp(supremum(epsilon, backward), Math.max(0, subUp(supremum(epsilon, forward), epsilon)));

/**
 * Budgets for which every step leaks at most `target` (temporal.proof.md, "Budgets"): the first and last steps can spend more
 * than the others. Undefined if no positive budget exists.
 */
export function temporalBudgets(target: number, steps: number | undefined, over: LossFunctions): Float64Array | undefined {
  if (steps === 1) return Float64Array.of(target);
  const ends = (epsilon: number) => [supremum(epsilon, over.backward), supremum(epsilon, over.forward)] as const;
  const between = toNumberDown(largestBelow((epsilon) => steadyTemporalLeakage(epsilon, over), target, target));
  if (steps === undefined) return between > 0 ? Float64Array.of(between) : undefined;
  if (between > 0) {
    const [past, future] = ends(between);
    const budgets = new Float64Array(steps).fill(between);
    budgets[0] = lessened(past, (x) => atEnd(x, over.forward(future)) <= target);
    budgets[steps - 1] = lessened(future, (x) => atEnd(x, over.backward(past)) <= target);
    return budgets;
  }
  const most = (budgets: Float64Array) => temporalLeakage(budgets, over).leakage.reduce((m, x) => Math.max(m, x), 0);
  const same = toNumberDown(largestBelow((x) => most(new Float64Array(steps).fill(x)), target, target));
  return same > 0 ? new Float64Array(steps).fill(same) : undefined;
}

/** Leakage of a first or last step that spends x, with the leakage carried over from the other steps. */
const atEnd = (x: number, carried: number): number => addUp(x, Math.max(0, subUp(addUp(x, carried), x)));

/** Largest value slightly below a bound for which the predicate holds, since the bound was rounded up. */
function lessened(most: number, holds: (x: number) => boolean): number {
  for (let less = 1; less > 0.9; less -= 2 ** -48) if (holds(most * less)) return most * less;
  return 0;
}
