import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { isPositive, parseRational, toNumberDown, toNumberUp } from '../../base/exact/rational.js';
import { everyTransition, readTransitions } from '../../data/ties/transitions.js';
import {
  type LossFunctions,
  lossFunction,
  steadyTemporalLeakage,
  temporalBudgets,
  temporalLeakage,
} from '../../privacy/dependence/temporal/temporal.js';
import { amountShape, type FileName, fileNamed, integerBetween, parseOptions, withFaults } from './input.js';
import { defineRequest, field } from './request.js';

const file = z.union([z.string(), z.instanceof(URL)]);
export const temporalOptions = defineRequest('TemporalOptions', {
  backward: field(file.optional(), 'JSON file of P(state before | state now), one row per state now.', {
    value: 'file',
    help: 'JSON matrix: P(state before | state now)',
  }),
  forward: field(file.optional(), 'JSON file of P(state after | state now).', {
    value: 'file',
    help: 'JSON matrix: P(state after | state now)',
  }),
  epsilon: field(amountShape.optional(), 'Epsilon of every step.', { value: 'epsilon', help: 'every step spends this' }),
  target: field(amountShape.optional(), 'Largest leakage of any step: budgets are computed for it.', {
    value: 'leakage',
    help: 'find budgets that keep the leakage of every step within this',
  }),
  steps: field(integerBetween(1, 1_000_000).optional(), 'Number of steps; with a target, unlimited when absent.', {
    value: 'n',
    help: 'how many steps (with --target: for ever when left out)',
    refusal: ['The number of steps is a whole number from 1 to 1,000,000.', 'Write for example --steps 52.'],
  }),
});
export type TemporalOptions = z.input<typeof temporalOptions>;

/** Leakage about each step from releases about other steps. */
export interface Temporal {
  /** Leakage of the releases up to each step, from each step on, and of all of them; rounded up. Empty without a number of steps. */
  readonly backward: readonly number[];
  readonly forward: readonly number[];
  readonly leakage: readonly number[];
  /** Upper bound on every step's leakage, however long it goes on; null if there is none. */
  readonly supremum: number | null;
  /** Budget of each step; one number for every step when there is no end. */
  readonly budgets: readonly number[];
  readonly certified: true;
}

/**
 * Leakage over time of one release per step, or budgets that keep it within a target, for an attacker who knows the transition
 * matrix.
 *
 * @example
 * const { supremum } = await temporal({ forward: 'forward.json', backward: 'backward.json', epsilon: 0.1, steps: 10 });
 * const { budgets } = await temporal({ forward: 'forward.json', target: 1 });
 */
export async function temporal(given: TemporalOptions): Promise<Temporal> {
  return withFaults(() => {
    const { backward, forward, epsilon, target, steps } = parseOptions(temporalOptions, given);
    if (backward === undefined && forward === undefined)
      throw new Fault('USAGE', 'No transition matrix is named.', 'Give a backward or a forward matrix, or both.');
    if ((epsilon === undefined) === (target === undefined) || (epsilon !== undefined && steps === undefined))
      throw new Fault(
        'USAGE',
        'Give epsilon and steps, or a target.',
        'For example --epsilon 0.1 --steps 10, or --target 1; in the library { epsilon: 0.1, steps: 10 } or { target: 1 }.',
      );
    const [before, after] = [matrixIn(backward), matrixIn(forward)];
    if (before && after && before.length !== after.length)
      throw new Fault(
        'MODEL_INVALID',
        'The backward and the forward matrix have different numbers of states.',
        'Both are about the same states, in the same order.',
      );
    const over = { backward: lossFunction(before), forward: lossFunction(after) };
    const budgets =
      epsilon !== undefined
        ? new Float64Array(steps!).fill(toNumberUp(positive(epsilon, 'epsilon')))
        : budgetsFor(toNumberDown(positive(target!, 'target')), steps, over);
    const leakage = steps === undefined ? undefined : temporalLeakage(budgets, over);
    const steady = budgets.reduce((least, x) => Math.min(least, x));
    const most = steadyTemporalLeakage(steady, over);
    return {
      backward: [...(leakage?.backward ?? [])],
      forward: [...(leakage?.forward ?? [])],
      leakage: [...(leakage?.leakage ?? [])],
      supremum: Number.isFinite(most) ? most : null,
      budgets: [...budgets],
      certified: true,
    };
  });
}

function budgetsFor(target: number, steps: number | undefined, over: LossFunctions): Float64Array {
  const found = temporalBudgets(target, steps, over);
  if (found) return found;
  throw new Fault(
    'BUDGET_INVALID',
    'No constant budget keeps this target for ever: from some state another is certain, so what is said about one step is said about all.',
    'Say how many steps there will be, or weaken the matrix: no entry of a row may be 1 where another row has 0.',
  );
}

function matrixIn(named: FileName | undefined): readonly (readonly number[])[] | undefined {
  if (named === undefined) return undefined;
  const file = fileNamed(named, 'The transition matrix');
  const matrices = everyTransition(readTransitions(file));
  if (matrices.length === 1) return matrices[0];
  throw new Fault('MODEL_INVALID', 'The transition file holds a set of matrices.', 'Name one matrix per direction.', {
    place: { file },
  });
}

function positive(text: string, what: string) {
  const number = parseRational(text, what);
  if (isPositive(number)) return number;
  throw new Fault('BUDGET_INVALID', `The ${what} must be above 0.`, `Give for example ${what} 0.1.`);
}
