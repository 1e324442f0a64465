import type { Plan } from './plan.js';
import type { Receipt } from './receipt.js';

/** A recorded answer that a request is given: its entry, its date and the plan that it was made by. */
export interface Replayed {
  readonly entry: number;
  readonly at: string;
  readonly plan: Plan;
}

export const replayedOf = (plan: Plan, { at, ledger: { entry } }: Receipt): Replayed => ({ entry, at, plan });
