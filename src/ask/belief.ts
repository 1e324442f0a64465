import * as z from 'zod';
import {
  type BeliefBudget,
  beliefBudget,
  beliefRows,
  identifiability,
  readEpsilon,
  readProbability,
} from '../accounting/belief.js';
import { beliefSentence, naturalFrequency } from '../accounting/belief-words.js';
import { Fault } from '../errors.js';
import { parseRational, toNumber, toNumberDown, toNumberUp } from '../exact/rational.js';
import { amount, faulting, read } from './door.js';

const delta = amount.optional();
const before = z.strictObject({
  /** What an attacker believes at most before. */
  prior: amount.optional(),
  /** Instead: one of so many equally likely people. */
  among: z.union([z.string(), z.number()]).optional(),
  /** What they may believe at most after. */
  posterior: amount,
  delta,
});
export type BeliefGoal = z.input<typeof before>;

/** The budget that a bound on belief allows. */
export interface BudgetForBelief {
  readonly epsilon: number;
  /** Odds may move by this factor, up or down. */
  readonly oddsFactor: number;
  /** What the same budget does to a belief that falls. */
  readonly downward: { readonly from: number; readonly to: number };
  /** The same in words. */
  readonly sentences: readonly [belief: string, people: string];
}

/**
 * The epsilon that keeps an attacker's belief about anything within a bound.
 *
 * @example
 * const { epsilon } = await budgetForBelief({ prior: 0.1, posterior: 0.3 });
 */
export async function budgetForBelief(goal: BeliefGoal): Promise<BudgetForBelief> {
  return faulting(() => {
    const { prior, among, posterior: after, delta } = read(before, goal, 'The belief');
    if ((prior === undefined) === (among === undefined))
      throw new Fault('USAGE', 'Say what an attacker may believe before, in one way.', 'Give either prior or among.');
    const posterior = readProbability(after, 'posterior');
    const budget =
      among !== undefined ? identifiability(Number(among), posterior) : beliefBudget(readProbability(prior!, 'prior'), posterior);
    const failing = readDelta(delta);
    return {
      ...inNumbers(budget),
      sentences: [
        beliefSentence(budget.prior, posterior, failing),
        naturalFrequency(budget.prior, budget.epsilon, failing).sentence,
      ],
    };
  });
}

const inNumbers = ({ epsilon, oddsFactor, downward }: BeliefBudget) => ({
  epsilon: toNumberDown(epsilon),
  oddsFactor: toNumber(oddsFactor),
  downward: { from: toNumber(downward.from), to: toNumber(downward.to) },
});

const budget = z.strictObject({
  epsilon: amount,
  delta,
  /** What an attacker believed before; the usual ones when absent. */
  priors: z.array(amount).min(1).optional(),
});
export type BeliefBudgetOptions = z.input<typeof budget>;

/** What a budget lets an attacker believe. */
export interface BeliefAfter {
  readonly epsilon: number;
  readonly oddsFactor: number;
  readonly delta: number;
  readonly beliefs: readonly { readonly prior: number; readonly posterior: number; readonly atLeast: number }[];
  readonly sentence: string;
}

/**
 * What an epsilon lets an attacker believe about anything, at most and at least.
 *
 * @example
 * const { beliefs } = await beliefAfter({ epsilon: 1, priors: [0.1] });
 * console.log(beliefs[0].posterior);
 */
export async function beliefAfter(given: BeliefBudgetOptions): Promise<BeliefAfter> {
  return faulting(() => {
    const { epsilon: text, delta, priors: texts } = read(budget, given, 'The budget');
    const epsilon = readEpsilon(text);
    const failing = readDelta(delta);
    const priors = texts?.map((p) => readProbability(p, 'prior'));
    return {
      epsilon: toNumber(epsilon),
      oddsFactor: Math.exp(toNumberUp(epsilon)),
      delta: failing,
      beliefs: beliefRows(epsilon, priors).map((r) => ({ prior: r.prior, posterior: r.atMost, atLeast: r.atLeast })),
      sentence: naturalFrequency(priors?.[0] ?? parseRational('0.1'), epsilon, failing).sentence,
    };
  });
}

function readDelta(text = '0'): number {
  const delta = toNumber(parseRational(text, 'delta'));
  if (!(delta >= 0 && delta < 1))
    throw new Fault(
      'BUDGET_INVALID',
      'Delta must be at least 0 and below 1.',
      'Leave it out for a pure guarantee, or write 1e-6.',
    );
  return delta;
}
