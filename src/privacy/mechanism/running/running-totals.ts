import { type AdditiveMechanism, additiveMechanism } from '../additive.js';
import type { BudgetShare } from '../budget-share.js';
import { inDoubles } from '../distribution.js';
import { standardDeviation } from '../half-width.js';
import { type ClassScope, largestSensitivity, type RecordSensitivity } from '../sensitivity.js';
import { type ContinualStrategy, encodedSensitivity, type StepChangeOf } from './continual-strategy.js';
import { convolutionStrategy } from './convolution.js';
import { treesOver } from './tree.js';

/** Counts at every step up to a horizon, published as running totals from the first step on. */
export interface CountedSteps {
  readonly name: string;
  /** Numbers counted at one step: each has a total of its own. */
  readonly cells: number;
  readonly horizon: number;
  /** Of replacing one record, on everything counted at all steps together. */
  readonly sensitivity: RecordSensitivity;
  readonly moves: StepChangeOf;
  readonly unit?: number;
}

export interface RunningTotals {
  readonly strategy: ContinualStrategy;
  readonly mechanism: AdditiveMechanism;
  /** Of the total of one cell at each step, in units of the answer squared, from the first step on. */
  variances(): Iterable<number>;
  /** Over all steps. */
  readonly meanVariance: number;
  /** No record moves the numbers that are noised by more, all together. */
  readonly most: bigint;
}

/**
 * Strategy with the least mean squared error over the horizon, chosen from public numbers before anything is spent. Trees are
 * tried from the flattest until two in a row are worse.
 */
export function runningTotals(counted: CountedSteps, share: BudgetShare, scope?: ClassScope): RunningTotals {
  const { horizon } = counted;
  // The columns of a convolution are long: their sum of squares stays small, their sum does not.
  let best = share.noise === 'zcdp' ? totalsWith(convolutionStrategy(horizon), counted, share, scope) : undefined;
  let worse = 0;
  for (const strategy of treesOver(horizon)) {
    const next = totalsWith(strategy, counted, share, scope);
    worse = best && next.meanVariance >= best.meanVariance ? worse + 1 : 0;
    if (worse === 0) best = next;
    if (worse === 2) break;
  }
  return best!;
}

/** Totals by one way: cost and noise come from one additive mechanism over what the way noises. */
export function totalsWith(
  strategy: ContinualStrategy,
  counted: CountedSteps,
  share: BudgetShare,
  scope?: ClassScope,
): RunningTotals {
  const { name, cells, horizon, unit = 1 } = counted;
  const mean = strategy.meanVariance();
  const sensitivity = encodedSensitivity(strategy, counted.sensitivity, counted.moves);
  const mechanism = additiveMechanism(
    {
      name,
      cells: cells * strategy.numbers(1, horizon),
      sensitivity,
      unit: unit * Math.sqrt(mean),
    },
    share,
    scope,
  );
  const noise = standardDeviation(inDoubles(mechanism.distribution)) ** 2 * unit ** 2;
  return {
    strategy,
    mechanism,
    *variances() {
      for (const variance of strategy.variances()) yield variance * noise;
    },
    meanVariance: mean * noise,
    most: largestSensitivity(sensitivity, 'l1'),
  };
}
