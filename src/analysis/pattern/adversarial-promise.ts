import { Fault } from '../../base/errors.js';
import type { Plan } from '../../release/session/plan.js';
import type { PrivacySession } from '../../release/session/session.js';
import type { PatternAnalysis } from './query/analyse.js';
import { boundedAdversary, domainSize } from './query/lambda.js';

/**
 * One declared batch per population, answered from the record ever after: adversarial privacy does not compose. This refusal is only
 * the early one; the ledger admits the one-time cost only once, under any concurrency and gamma.
 */
export async function refuseSecondBatch(session: PrivacySession, label: string): Promise<void> {
  const before = (await session.entries()).find((e) => e.label.startsWith('adversarial privacy: '));
  if (before && before.label !== label)
    throw new Fault(
      'BUDGET_EXCEEDED',
      'This population has already answered one query under adversarial privacy.',
      'Its guarantee does not compose: ask without --gamma, which uses the DP budget.',
    );
}

export function adversarialPromise(plan: Plan, a: PatternAnalysis, epsilon: number, gamma: string): Plan['guarantee'] {
  const m = domainSize(a.pattern);
  const { known, marginal } = boundedAdversary(m);
  return {
    ...plan.guarantee,
    certified: false,
    epsilon,
    assumptions: [
      `The attacker's belief about the tuples has only negative correlations, knows the sizes of the relations, is certain of at most ${known} tuples and gives every other one less than ${marginal.toPrecision(2)}.`,
    ],
    how: 'Algorithm 2.1 of Rastogi et al. 2009, corrected (privacy/mechanism/algorithm21.proof.md).',
    sentences: [
      `Protected: the presence of one tuple; belief in it grows at most to e^${epsilon} times what it was, plus ${gamma}.`,
      'This is (epsilon, gamma)-adversarial privacy, not differential privacy: it does not limit what is learned about absent tuples, and it does not compose.',
      'It is kept apart from the budget: one such query per population.',
    ],
  };
}
