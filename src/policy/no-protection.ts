import { protectsNothing } from './budget.js';
import { betweenValues, neighboursOf } from './neighbours.js';
import type { Policy } from './policy.js';

/**
 * Reason why the budget of a policy protects nobody; undefined if it does protect. Such a policy is not ready and releases
 * nothing unless this is accepted.
 */
export const noProtection = ({ budget, protect }: Pick<Policy, 'budget' | 'protect'>): string | undefined =>
  protectsNothing({ ...budget, epsilon: betweenValues(neighboursOf({ protect }), budget.epsilon) });
