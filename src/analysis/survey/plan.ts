import { one } from '../../base/exact/rational.js';
import type { Cluster, Policy } from '../../policy/policy.js';
import { nothingSpent } from '../../privacy/mechanism/profile.js';
import { bindBatch } from '../../query/bind.js';
import { jointKeyOf, keyOf } from '../../query/keys.js';
import type { Batch } from '../../query/query.js';
import type { Account } from '../../release/accountant/account.js';
import { chooseNoise } from '../../release/accountant/choose.js';
import { shareOf } from '../../release/accountant/share.js';
import { mergeWhereWorth } from './choice.js';
import { type Asking, surveyBatch, surveyColumns } from './query.js';

/** The histograms of a survey in one form: separate, or some clusters of columns derived from a joint histogram. */
export interface SurveyForm {
  readonly merged: boolean;
  readonly batch: Batch;
}

export function surveyForms(policy: Policy, choice: Asking = {}): readonly SurveyForm[] {
  const asked = new Set(surveyColumns(policy, choice).columns.map(({ name }) => name));
  const clusters = (policy.merge ?? []).filter(({ columns }) => columns.every((name) => asked.has(name)));
  return [
    { merged: false, batch: surveyBatch(policy, new Set(), choice) },
    ...mergings(policy, clusters).map((names) => ({ merged: true, batch: surveyBatch(policy, names, choice) })),
  ];
}

/**
 * The form with the lowest joint expected error of all tables. It depends on policy and requested budget only, not on what was spent,
 * so that the same survey again is the same request.
 */
export function chooseSurveyBatch(
  policy: Policy,
  account: Account,
  asked: { readonly epsilon?: string } = {},
  choice: Asking = {},
): Batch {
  const share = asked.epsilon === undefined ? one : shareOf(asked.epsilon, account);
  const [plain, ...merged] = surveyForms(policy, choice).map(({ batch }) => batch);
  if (merged.length === 0) return plain!;
  const batches = [plain!, ...merged];
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
    .map((power) => new Set(mergeWhereWorth(columns, sizes, power).flatMap((cluster) => cluster.columns)))
    .filter((names) => names.size > 0);
}
