import type { Plan } from './plan.js';
import type { Receipt } from './receipt.js';

/** A recorded answer for a request: its entry, its date and the plan it was made under. */
export interface Replayed {
  readonly entry: number;
  readonly at: string;
  readonly plan: Plan;
}

/** What a reader of the record finds. */
export type OnRecord = Replayed | typeof notOnRecord;
export const notOnRecord = 'not on record';

export const replayedOf = (plan: Plan, { at, ledger: { entry } }: Receipt): Replayed => ({ entry, at, plan });
