import type { Plan } from './plan.js';
import type { Receipt } from './receipt.js';

/** A recorded answer that a request is given: its entry, its date and the plan that it was made by. */
export interface Replayed {
  readonly entry: number;
  readonly at: string;
  readonly plan: Plan;
}

/** What a reader of the record finds. */
export type OnRecord = Replayed | typeof notOnRecord;
export const notOnRecord = 'not on record';

export const replayedOf = (plan: Plan, { at, ledger: { entry } }: Receipt): Replayed => ({ entry, at, plan });
