import { type Additive, additive } from '../additive.js';
import type { Allotment } from '../allotment.js';
import { type Effects, largest, type Scope } from '../effect.js';
import { inDoubles } from '../law.js';
import { deviation } from '../law-width.js';
import { convolutionOf } from './convolution.js';
import { treesOver } from './tree.js';
import { effectsThrough, type MovesOf, type Way } from './way.js';

/** Counts at every step up to a horizon, published as running totals from the first step on. */
export interface Counted {
  readonly name: string;
  /** Numbers counted at one step: each has a total of its own. */
  readonly cells: number;
  readonly horizon: number;
  /** Of replacing one record, on everything counted at all steps together. */
  readonly effects: Effects;
  readonly moves: MovesOf;
  readonly unit?: number;
}

export interface RunningTotals {
  readonly way: Way;
  readonly mechanism: Additive;
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
export function runningTotals(counted: Counted, allotment: Allotment, scope?: Scope): RunningTotals {
  const { horizon } = counted;
  // The columns of a convolution are long: their sum of squares stays small, their sum does not.
  let best = allotment.noise === 'zcdp' ? by(convolutionOf(horizon), counted, allotment, scope) : undefined;
  let worse = 0;
  for (const way of treesOver(horizon)) {
    const next = by(way, counted, allotment, scope);
    worse = best && next.meanVariance >= best.meanVariance ? worse + 1 : 0;
    if (worse === 0) best = next;
    if (worse === 2) break;
  }
  return best!;
}

/** Totals by one way: cost and noise come from one additive mechanism over what the way noises. */
export function by(way: Way, counted: Counted, allotment: Allotment, scope?: Scope): RunningTotals {
  const { name, cells, horizon, unit = 1 } = counted;
  const mean = way.meanVariance();
  const effects = effectsThrough(way, counted.effects, counted.moves);
  const mechanism = additive(
    {
      name,
      cells: cells * way.numbers(1, horizon),
      effects,
      unit: unit * Math.sqrt(mean),
    },
    allotment,
    scope,
  );
  const noise = deviation(inDoubles(mechanism.law)) ** 2 * unit ** 2;
  return {
    way,
    mechanism,
    *variances() {
      for (const variance of way.variances()) yield variance * noise;
    },
    meanVariance: mean * noise,
    most: largest(effects, 'l1'),
  };
}
