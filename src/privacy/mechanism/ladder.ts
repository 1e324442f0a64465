import { divide, rational } from '../../base/exact/rational.js';
import { ladderSampler, rungsTabulated } from '../noise/ladder.js';
import type { Allotment } from './allotment.js';
import { type Followed, type Following, following } from './followed.js';
import type { LadderLaw } from './law.js';

/** Pure noise that is narrow where the data lets it be (privacy/noise/ladder.proof.md). */
export const ladder = (what: Followed, allotment: Allotment): Following<LadderLaw> =>
  following(what, allotment, { kind: 'ladder', decay: divide(allotment.amount, rational(2)) }, ({ decay }, rungs) =>
    ladderSampler(rungs, decay)(),
  );

/** Upper bound on the rungs that one draw tabulates, where no rung is wider: known before anything is read. */
export const rungsOf = ({ decay }: LadderLaw, widest: bigint): number => rungsTabulated(decay, widest);
