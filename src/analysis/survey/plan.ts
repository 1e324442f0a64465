import { one } from '../../base/exact/rational.js';
import type { MergedColumns, Policy } from '../../policy/policy.js';
import { nothingSpent } from '../../privacy/mechanism/privacy-cost.js';
import { bindBatch } from '../../query/bind.js';
import { groupKeyOf, jointKeyOf } from '../../query/keys.js';
import type { Batch } from '../../query/query.js';
import type { Account } from '../../release/accountant/account.js';
import { chooseNoise } from '../../release/accountant/choose.js';
import { shareOf } from '../../release/accountant/share.js';
import { clustersWorthMerging } from './choice.js';
import { type SurveySelection, surveyBatch, surveyQuestions } from './query.js';

/** The histograms of a survey in one form: separate, or some clusters of columns derived from a joint histogram. */
export interface SurveyForm {
  readonly merged: boolean;
  readonly batch: Batch;
}

export function surveyForms(policy: Policy, choice: SurveySelection = {}): readonly SurveyForm[] {
  const requested = new Set(surveyQuestions(policy, choice).columns.map(({ name }) => name));
  const clusters = (policy.merge ?? []).filter(({ columns }) => columns.every((name) => requested.has(name)));
  return [
    { merged: false, batch: surveyBatch(policy, new Set(), choice) },
    ...mergedColumns(policy, clusters).map((names) => ({ merged: true, batch: surveyBatch(policy, names, choice) })),
  ];
}

/**
 * The form with the lowest joint expected error of all tables. It depends on policy and requested budget only, not on what was spent,
 * so that the same survey again is the same request.
 */
export function chooseSurveyBatch(
  policy: Policy,
  account: Account,
  requested: { readonly epsilon?: string } = {},
  choice: SurveySelection = {},
): Batch {
  const share = requested.epsilon === undefined ? one : shareOf(requested.epsilon, account);
  const [plain, ...merged] = surveyForms(policy, choice).map(({ batch }) => batch);
  if (merged.length === 0) return plain!;
  const batches = [plain!, ...merged];
  const errors = batches.map(
    (batch) => chooseNoise(bindBatch(batch, policy).measures, account, share, nothingSpent)[0]?.error ?? Number.POSITIVE_INFINITY,
  );
  return batches[errors.indexOf(Math.min(...errors))]!;
}

/** The columns worth merging under Laplace noise, and under Gaussian noise. */
function mergedColumns(policy: Policy, clusters: readonly MergedColumns[]): ReadonlySet<string>[] {
  const columns = clusters.flatMap((c) => c.columns).map((name) => ({ name, cells: groupKeyOf(policy, name).labels.length }));
  const sizes = clusters.map((cluster) => ({ columns: cluster.columns, support: jointKeyOf(policy, cluster).key.size }));
  return [1 / 3, 1 / 2]
    .map((power) => new Set(clustersWorthMerging(columns, sizes, power).flatMap((cluster) => cluster.columns)))
    .filter((names) => names.size > 0);
}
