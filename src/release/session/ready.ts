import { Fault } from '../../base/errors.js';
import type { EngineSource } from '../../data/engine/source.js';
import { servesPolicy } from '../../data/terms/source.js';
import type { Policy } from '../../policy/policy.js';

/** Refuses a draft: which domains are public, and whether records know each other, must be answered before any promise. */
export function refuseUnready(policy: Policy): void {
  const { unconfirmed, undecided, file } = policy;
  if (unconfirmed.length > 0)
    throw new Fault(
      'POLICY_UNCONFIRMED',
      `${unconfirmed.length} column${unconfirmed.length === 1 ? ' has' : 's have'} a domain or bounds that were read from the data and not confirmed.`,
      `Look at them with "fugu confirm ${file}", then accept them with "fugu confirm ${file} --all".`,
    );
  if (undecided)
    throw new Fault(
      'POLICY_UNCONFIRMED',
      'It is not said whether records know each other (dependence: undecided).',
      'Write one of these lines instead: dependence: none (no row says anything about another); or dependence: [{kind: groups, by: COLUMN, oddsRatio: inf}] (people with one value of a column, a household, answer alike: inf as copies would, 81 where two of them agree nine times in ten); or, for pairs, a relation and {kind: ties}: docs/how-to/ties.md.',
      { place: policy.places?.get('dependence') ?? { file } },
    );
}

/** Columns stored without their text, or other relations, would give other records and sensitivities. */
export function refuseDataOfAnotherPolicy(opened: EngineSource, policy: Policy): void {
  if (!servesPolicy(opened, policy))
    throw new Fault(
      'ENGINE_FAILED',
      'The data was opened for another policy, which reads it otherwise.',
      'Open the data again for this policy.',
    );
}
