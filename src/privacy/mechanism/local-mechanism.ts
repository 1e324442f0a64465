import type { Rungs } from '../noise/ladder.js';
import type { BudgetShare } from './budget-share.js';
import type { LadderDistribution, SmoothDistribution } from './distribution.js';
import type { Mechanism } from './mechanism.js';
import { chargedCost } from './mechanism-cost.js';
import type { Payment } from './payment.js';
import type { RecordClass } from './record-class.js';
import { sensitivityOn } from './sensitivity.js';

/** Query whose noise depends on the data: for the given classes, one record is one step of its ladder. */
export interface LocalQuery {
  readonly name: string;
  readonly classes: readonly RecordClass[];
}
export interface LocalMechanism<L extends LadderDistribution | SmoothDistribution> extends Mechanism {
  readonly distribution: L;
  /** `rungs` are the data's own: exact, like the number. */
  addNoise(payment: Payment, exact: bigint, rungs: Rungs): bigint;
}

export const oneStep = { l1: 1n, l2squared: 1n } as const;

/** Mechanism for one number, drawn once, whose noise width depends on the data. */
export function localMechanism<L extends LadderDistribution | SmoothDistribution>(
  { name, classes }: LocalQuery,
  share: BudgetShare,
  distribution: L,
  noise: (distribution: L, rungs: Rungs) => bigint,
): LocalMechanism<L> {
  const mechanism: LocalMechanism<L> = {
    distribution,
    cost: chargedCost(distribution, sensitivityOn(classes, oneStep), share),
    draws: 1,
    summary: { name, cells: 1 },
    addNoise: (payment, exact, rungs) => {
      payment.take(mechanism, 1);
      return payment.release(mechanism, { exact, rungs }, (given) => given.exact + noise(distribution, given.rungs));
    },
  };
  return mechanism;
}
