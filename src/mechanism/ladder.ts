import { divide, rational } from '../exact/rational.js';
import { type Bits, cryptoBits } from '../noise/bits.js';
import { ladderSampler, type Rungs } from '../noise/ladder.js';
import type { Allotment } from './allotment.js';
import { booked } from './cost.js';
import { effectOn } from './effect.js';
import type { LadderLaw } from './law.js';
import type { Mechanism } from './mechanism.js';
import type { Paid } from './paid.js';
import type { RecordClass } from './record-class.js';

/** A number whose noise follows the data: `classes` are those of which one record is one step of its ladder. */
export interface Followed {
  readonly name: string;
  readonly classes: readonly RecordClass[];
}
export interface Ladder extends Mechanism {
  readonly law: LadderLaw;
  /** `rungs` are the data's own: exact, like the number. */
  climb(paid: Paid, exact: bigint, rungs: Rungs): bigint;
}

export const oneStep = { l1: 1n, l2squared: 1n } as const;

/** Pure noise that is narrow where the data lets it be (noise/ladder.proof.md). */
export function ladder({ name, classes }: Followed, allotment: Allotment): Ladder {
  const law: LadderLaw = { kind: 'ladder', decay: divide(allotment.amount, rational(2)) };
  const mechanism: Ladder = {
    law,
    cost: booked(law, effectOn(classes, oneStep), allotment),
    draws: 1,
    told: { name, cells: 1 },
    climb: (paid, exact, rungs) => {
      paid.take(mechanism, 1);
      return paid.release(mechanism, { exact, rungs }, (given) => given.exact + drawLadder(law, given.rungs));
    },
  };
  return mechanism;
}

const drawLadder = ({ decay }: LadderLaw, rungs: Rungs, bits: Bits = cryptoBits): bigint => ladderSampler(rungs, decay, bits)();
