import { divide, rational } from '../../base/exact/rational.js';
import { ladderSampler, rungsTabulated } from '../noise/ladder.js';
import type { BudgetShare } from './budget-share.js';
import type { LadderDistribution } from './distribution.js';
import { type LocalMechanism, type LocalQuery, localMechanism } from './local-mechanism.js';

/** Pure noise that is narrow where the data lets it be (privacy/noise/ladder.proof.md). */
export const ladderMechanism = (what: LocalQuery, share: BudgetShare): LocalMechanism<LadderDistribution> =>
  localMechanism(what, share, { kind: 'ladder', decay: divide(share.amount, rational(2)) }, ({ decay }, rungs) =>
    ladderSampler(rungs, decay)(),
  );

/** Upper bound on the rungs that one draw tabulates, where no rung is wider: known before anything is read. */
export const rungsOf = ({ decay }: LadderDistribution, widest: bigint): number => rungsTabulated(decay, widest);
