import type { Rungs } from '../noise/ladder.js';
import type { Allotment } from './allotment.js';
import { booked } from './cost.js';
import { effectOn } from './effect.js';
import type { LadderLaw, SmoothLaw } from './law.js';
import type { Mechanism } from './mechanism.js';
import type { Paid } from './paid.js';
import type { RecordClass } from './record-class.js';

/** Query whose noise depends on the data: for the given classes, one record is one step of its ladder. */
export interface Followed {
  readonly name: string;
  readonly classes: readonly RecordClass[];
}
export interface Following<L extends LadderLaw | SmoothLaw> extends Mechanism {
  readonly law: L;
  /** `rungs` are the data's own: exact, like the number. */
  climb(paid: Paid, exact: bigint, rungs: Rungs): bigint;
}

export const oneStep = { l1: 1n, l2squared: 1n } as const;

/** Mechanism for one number, drawn once, whose noise width depends on the data. */
export function following<L extends LadderLaw | SmoothLaw>(
  { name, classes }: Followed,
  allotment: Allotment,
  law: L,
  noise: (law: L, rungs: Rungs) => bigint,
): Following<L> {
  const mechanism: Following<L> = {
    law,
    cost: booked(law, effectOn(classes, oneStep), allotment),
    draws: 1,
    told: { name, cells: 1 },
    climb: (paid, exact, rungs) => {
      paid.take(mechanism, 1);
      return paid.release(mechanism, { exact, rungs }, (given) => given.exact + noise(law, given.rungs));
    },
  };
  return mechanism;
}
