import type { Account } from '../calibration/account.js';
import { chooseNoise } from '../calibration/choose.js';
import { mergeWhereWorth } from '../calibration/survey.js';
import { nothingSpent } from '../dependence/profile.js';
import { divide, isPositive, one, parseRational } from '../exact/rational.js';
import type { Cluster, Policy } from '../policy/policy.js';
import { bindBatch } from '../query/bind.js';
import { jointKeyOf, keyOf } from '../query/keys.js';
import type { Batch } from '../query/query.js';
import { surveyBatch } from '../query/survey.js';

/**
 * The histograms of a survey, with the policy's clusters merged where that lowers the expected error of all tables together. It depends on policy and
 * asked budget only, not on what was spent before: the same survey asked again is the same request and is replayed.
 */
export function chooseSurveyBatch(policy: Policy, account: Account, asked: { readonly epsilon?: string } = {}): Batch {
  const plain = surveyBatch(policy);
  const share = asked.epsilon === undefined ? one : divide(parseRational(asked.epsilon, 'epsilon'), account.epsilon);
  if (!policy.merge || !isPositive(share)) return plain;
  const batches = [plain, ...mergings(policy, policy.merge).map((names) => surveyBatch(policy, names))];
  const errors = batches.map(
    (batch) => chooseNoise(bindBatch(batch, policy).measures, account, share, nothingSpent)[0]?.error ?? Number.POSITIVE_INFINITY,
  );
  return batches[errors.indexOf(Math.min(...errors))]!;
}

/** The columns worth merging under Laplace noise, and under Gaussian noise. */
function mergings(policy: Policy, clusters: readonly Cluster[]): ReadonlySet<string>[] {
  const columns = clusters.flatMap((c) => c.columns).map((name) => ({ name, cells: keyOf(policy, name).labels.length }));
  const sizes = clusters.map((cluster) => ({ columns: cluster.columns, support: jointKeyOf(policy, cluster).key.size }));
  return [1 / 3, 1 / 2]
    .map(
      (power) => new Set(mergeWhereWorth(columns, sizes, power).flatMap((part) => (part.columns.length > 1 ? part.columns : []))),
    )
    .filter((names) => names.size > 0);
}
