import { protectsNothing } from './budget.js';
import { betweenValues, neighboursOf } from './neighbours.js';
import type { Policy } from './policy.js';

/** Why the budget of a policy promises nothing to anybody, where it does not: what is then neither ready nor released unless that is accepted. */
export const noProtection = ({ budget, protect }: Pick<Policy, 'budget' | 'protect'>): string | undefined =>
  protectsNothing({ ...budget, epsilon: betweenValues(neighboursOf({ protect }), budget.epsilon) });
