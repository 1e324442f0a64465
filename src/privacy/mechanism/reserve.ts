import { additiveMechanism, type VectorQuery } from './additive.js';
import type { BudgetShare } from './budget-share.js';
import type { Mechanism } from './mechanism.js';
import type { ClassScope } from './sensitivity.js';

/**
 * Reserved cost of steps not known yet: it cannot be drawn from, only exchanged (payment.ts) for mechanisms that cost no more in
 * total, smaller reserves included (mechanism.proof.md). `what` determines summary and paying records.
 */
export function reserve(what: VectorQuery, share: BudgetShare, scope?: ClassScope): Mechanism {
  const { distribution, cost, summary } = additiveMechanism(what, share, scope);
  return { distribution, cost, draws: 1, summary: { name: summary.name, cells: summary.cells } };
}
