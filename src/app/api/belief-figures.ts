import { Fault } from '../../base/errors.js';
import { parseRational, toNumber, toNumberDown, toNumberUp } from '../../base/exact/rational.js';
import {
  type BeliefBudget,
  beliefBudget,
  beliefRows,
  identifiability,
  readEpsilon,
  readProbability,
} from '../../release/accountant/belief.js';
import { beliefSentence, naturalFrequency } from '../../release/accountant/belief-words.js';

/** Budget that meets a bound on the posterior. */
export interface BudgetForBelief {
  readonly epsilon: number;
  /** Probability with which the statement may fail. */
  readonly delta: number;
  /** Largest factor by which odds may move, up or down. */
  readonly oddsFactor: number;
  /** Effect of the same budget on a belief that falls. */
  readonly downward: { readonly from: number; readonly to: number };
  /** The same figures as sentences. */
  readonly sentences: readonly [belief: string, people: string];
}

/** Belief goal in the texts that people write; its form was checked. */
export interface BeliefGoalText {
  readonly prior?: string | undefined;
  readonly among?: string | number | undefined;
  readonly posterior: string;
  readonly delta?: string | undefined;
}

export function solveBeliefBudget({ prior, among, posterior: after, delta }: BeliefGoalText): BudgetForBelief {
  if ((prior === undefined) === (among === undefined))
    throw new Fault('USAGE', 'Say what an attacker may believe before, in one way.', 'Give either prior or among.');
  const posterior = readProbability(after, 'posterior');
  const budget =
    among !== undefined ? identifiability(Number(among), posterior) : beliefBudget(readProbability(prior!, 'prior'), posterior);
  const failing = readDelta(delta);
  return {
    ...inNumbers(budget),
    delta: failing,
    sentences: [
      beliefSentence(budget.prior, posterior, failing),
      naturalFrequency(budget.prior, budget.epsilon, failing).sentence,
    ],
  };
}

const inNumbers = ({ epsilon, oddsFactor, downward }: BeliefBudget) => ({
  epsilon: toNumberDown(epsilon),
  oddsFactor: toNumber(oddsFactor),
  downward: { from: toNumber(downward.from), to: toNumber(downward.to) },
});

/** Posteriors that a budget permits. */
export interface BeliefAfter {
  readonly epsilon: number;
  readonly oddsFactor: number;
  readonly delta: number;
  readonly beliefs: readonly { readonly prior: number; readonly posterior: number; readonly atLeast: number }[];
  readonly sentence: string;
}

/** Budget in the texts that people write; its form was checked. */
export interface BudgetText {
  readonly epsilon: string;
  readonly delta?: string | undefined;
  readonly priors?: readonly string[] | undefined;
}

export function beliefUnderBudget({ epsilon: text, delta, priors: texts }: BudgetText): BeliefAfter {
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
