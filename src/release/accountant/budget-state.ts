import { toNumber } from '../../base/exact/rational.js';
import type { SpentCosts } from '../../privacy/mechanism/privacy-cost.js';
import { type Account, admits, privacyLossBound, usedShare } from './account.js';

/** Budget of an account after all costs, in epsilon, ties included. Plans, ledgers and amendments all use it. */
export interface BudgetState {
  readonly total: number;
  /** More than the total only where it is exceeded. */
  readonly spent: number;
  readonly remaining: number;
  readonly delta: number;
}

export function budgetState(account: Account, spent: SpentCosts): BudgetState {
  const total = toNumber(account.epsilon);
  const used = toNumber(usedShare(account, spent)) * total;
  const delta = toNumber(account.delta);
  if (!admits(account, spent)) return { total, spent: Math.max(total, used), remaining: 0, delta };
  // Costs that differ by class may be admitted beyond the share of the costliest class.
  return { total, spent: Math.min(total, used), remaining: Math.max(0, total - used), delta };
}

/** Upper bound on the privacy loss of one record so far, and whether the account promises no less. */
export function privacyLoss(account: Account, spent: SpentCosts): { readonly epsilon: number; readonly kept: boolean } {
  return { epsilon: privacyLossBound(account, spent), kept: admits(account, spent) };
}
