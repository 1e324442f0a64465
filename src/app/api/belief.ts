import * as z from 'zod';
import { type BeliefAfter, type BudgetForBelief, beliefUnderBudget, solveBeliefBudget } from './belief-figures.js';
import { amountShape, parseInput, withFaults } from './input.js';
import { defineRequest, field } from './request.js';

const delta = amountShape.optional();
const before = defineRequest('BeliefGoal', {
  prior: field(amountShape.optional(), 'Highest prior of the attacker.'),
  among: field(z.union([z.string(), z.number()]).optional(), 'Alternative to `prior`: one of this many equally likely people.'),
  posterior: field(amountShape, 'Highest posterior of the attacker.'),
  delta,
});
export type BeliefGoal = z.input<typeof before>;

/**
 * Epsilon that keeps an attacker's belief about anything within a bound.
 *
 * @example
 * const { epsilon } = await budgetForBelief({ prior: 0.1, posterior: 0.3 });
 */
export async function budgetForBelief(goal: BeliefGoal): Promise<BudgetForBelief> {
  return withFaults(() => solveBeliefBudget(parseInput(before, goal, 'The belief')));
}

const budget = defineRequest('BeliefBudgetOptions', {
  epsilon: amountShape,
  delta,
  priors: field(z.array(amountShape).min(1).optional(), 'Priors of the attacker; the usual ones when absent.'),
});
export type BeliefBudgetOptions = z.input<typeof budget>;

/**
 * Highest and lowest posterior that an epsilon permits about anything.
 *
 * @example
 * const { beliefs } = await beliefAfter({ epsilon: 1, priors: [0.1] });
 * console.log(beliefs[0].posterior);
 */
export async function beliefAfter(given: BeliefBudgetOptions): Promise<BeliefAfter> {
  return withFaults(() => beliefUnderBudget(parseInput(budget, given, 'The budget')));
}
