import { divide, multiply, rational, toNumber } from '../../base/exact/rational.js';
import type { Protect, SecretKind } from '../../policy/policy.js';
import {
  type AdditiveDistribution,
  distributionWords,
  inDoubles,
  type NoiseDistribution,
} from '../../privacy/mechanism/distribution.js';
import { noiseScale, scaleNoise } from '../../privacy/mechanism/half-width.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Measure } from '../../query/count/measure.js';
import { columnsOf } from '../../query/count/measure.js';
import type { NoisePlan } from '../../release/accountant/choose.js';
import { type ReleaseError, releaseError } from './error.js';

/** The tables of a survey in one form (separate, or some derived from a joint one), with every planned noise. */
export interface PlannedForm {
  readonly merged: boolean;
  readonly measures: readonly Measure[];
  readonly plans: readonly NoisePlan[];
}

/** One way to release every histogram. Plain data. */
export interface SurveyCandidate {
  readonly name: string;
  readonly noise: 'laplace' | 'gaussian';
  /** Released tables with their scales (Laplace b or Gaussian sigma): a column, or several merged into one joint histogram. */
  readonly parts: readonly { readonly columns: readonly string[]; readonly cells: number; readonly scale: number }[];
  readonly error: ReleaseError;
  /** Expected L2 error relative to Laplace noise of the same cost, spread evenly over the tables. */
  readonly ratio: number;
  readonly protects: string;
  readonly assumes: readonly string[];
  /** True if the account has enough budget remaining; every plan keeps what the policy declares. */
  readonly keeps: boolean;
  readonly reason: string;
}

export interface SurveyChoice {
  readonly candidates: readonly SurveyCandidate[];
  readonly chosen: SurveyCandidate;
  readonly why: string;
}

/** Every planned noise with its error, smallest first; `taken` is the form to release, with its first plan. */
export function chooseSurvey(forms: readonly PlannedForm[], taken: PlannedForm, protect: Protect): SurveyChoice {
  const drafts = forms.flatMap((form) => form.plans.map((plan) => draft(form, plan, protect)));
  const chosen = drafts.find((d) => d.plan === taken.plans[0])!;
  const even = forms.flatMap((form) => (form.merged ? [] : evenLaplace(form, protect)));
  const best = new Map<string, Draft>();
  for (const d of [...drafts, ...even]) {
    const known = best.get(d.name);
    // Several routes may give one kind of noise: the smallest is shown, but never in place of the chosen one.
    if (known !== chosen && (d === chosen || !known || d.error.l2 < known.error.l2)) best.set(d.name, d);
  }
  const shown = [...best.values()].sort((a, b) => a.error.l2 - b.error.l2);
  const unit = (even[0] ?? shown.at(-1)!).error.l2;
  const candidates = shown.map(
    ({ plan: _, ...rest }): SurveyCandidate => ({ ...rest, ratio: unit > 0 ? rest.error.l2 / unit : 1 }),
  );
  const first = candidates[shown.indexOf(chosen)]!;
  return { candidates, chosen: first, why: explain(first, candidates) };
}

type Draft = Omit<SurveyCandidate, 'ratio'> & { readonly plan?: NoisePlan };

function draft(form: PlannedForm, plan: NoisePlan, protect: Protect): Draft {
  const { amplifier } = plan.route;
  const whole = amplifier.scope(everyRecord);
  return {
    plan,
    name: nameOf(form, plan),
    noise: plan.kind,
    ...partsAndError(
      form.measures,
      plan.mechanisms.map(({ distribution }) => distribution),
    ),
    protects: whole ? wholeRecord[protect.secret] : `one answer, against an attacker who ${attackerKnows(plan, protect)}`,
    assumes: [...(whole ? [] : amplifier.assumptions), ...(form.merged ? [codebookAssumption] : [])],
    keeps: plan.fits,
    reason: plan.fits ? 'keeps the declared guarantee' : 'does not fit into what remains of the budget',
  };
}

const attackerKnows = ({ route: { amplifier } }: NoisePlan, { adversary }: Protect): string => {
  if (amplifier.factoredOnly) return 'knows no other answer of the person';
  return `knows the declared ties and ${adversary === 'informed' ? 'possibly every other answer' : 'no other answer'}`;
};
const wholeRecord: Record<SecretKind, string> = {
  row: 'the whole row, whatever else is known about the person',
  answer: 'the whole row, whatever else is known about the person',
  person: 'everything one person contributed',
  step: 'one time step',
  edge: 'one tuple of a relation',
};
const codebookAssumption =
  'The policy lists every combination of answers the merged questions allow; a row with any other counts as missing in their tables (no privacy rests on it).';

function nameOf({ merged }: PlannedForm, { kind, route: { amplifier } }: NoisePlan): string {
  const distribution = distributionWords(kind);
  const more = merged ? ', merged' : '';
  if (amplifier.factoredOnly) return `${distribution}, pairwise bound${more}`;
  if (!amplifier.scope(everyRecord)) return `${distribution}, declared network${more}`;
  return kind === 'laplace' && !merged ? `${distribution}, split by size` : `${distribution}${more}`;
}

/** For comparison: planned Laplace noise of the same cost, spread evenly over the tables that need any. */
function evenLaplace(form: PlannedForm, protect: Protect): readonly Draft[] {
  const plan = form.plans.find((p) => p.kind === 'laplace' && p.route.amplifier.scope(everyRecord));
  const cost = plan?.cost.perRecord.get(everyRecord);
  if (!plan || !cost) return [];
  const noisy = form.measures.filter((m) => m.sensitivity.has(everyRecord)).length;
  const noise = form.measures.map((m): AdditiveDistribution => {
    const sensitivity = m.sensitivity.get(everyRecord);
    return sensitivity
      ? { kind: 'laplace', scale: divide(multiply(rational(sensitivity.l1), rational(noisy)), cost) }
      : { kind: 'none' };
  });
  const { plan: _, ...like } = draft(form, plan, protect);
  return [{ ...like, name: 'Laplace, equal', ...partsAndError(form.measures, noise) }];
}

function partsAndError(
  measures: readonly Measure[],
  distributions: readonly NoiseDistribution[],
): Pick<Draft, 'parts' | 'error'> {
  const parts = measures.flatMap((m, k) => {
    const distribution = distributions[k]!;
    if (m.mechanism !== 'additive' || (distribution.kind !== 'laplace' && distribution.kind !== 'gaussian')) return [];
    const cells = {
      distribution: scaleNoise(inDoubles(distribution), toNumber(m.grid)),
      cells: m.cells.length,
      tables: m.tables ?? 1,
    };
    return [{ columns: columnsOf(m.counting), cells }];
  });
  return {
    parts: parts.map(({ columns, cells }) => ({ columns, cells: cells.cells, scale: noiseScale(cells.distribution) })),
    error: releaseError(parts.map(({ cells }) => cells)),
  };
}

export interface SurveyColumn {
  readonly name: string;
  readonly cells: number;
}

/** Columns tied by skip logic, with the answer combinations the codebook allows: may be released as one joint histogram. */
export interface SurveyCluster {
  readonly columns: readonly string[];
  readonly support: number;
}

/**
 * Clusters worth merging: m columns with J joint cells if (m J)^power < sum cells^power, so that their budget share falls. Every
 * column's table is a sum over joint cells. Power 1/3 for Laplace, 1/2 for Gaussian noise.
 */
export function clustersWorthMerging(
  columns: readonly SurveyColumn[],
  clusters: readonly SurveyCluster[],
  power: number,
): readonly SurveyCluster[] {
  const cells = new Map(columns.map((c) => [c.name, c.cells]));
  const taken = new Set<string>();
  return clusters.filter((cluster) => {
    if (cluster.columns.length < 2 || cluster.columns.some((name) => !cells.has(name) || taken.has(name))) return false;
    const jointPower = (cluster.columns.length * cluster.support) ** power;
    const separatePower = cluster.columns.reduce((sum, name) => sum + cells.get(name)! ** power, 0);
    if (!(jointPower < separatePower)) return false;
    for (const name of cluster.columns) taken.add(name);
    return true;
  });
}

function explain(chosen: SurveyCandidate, candidates: readonly SurveyCandidate[]): string {
  const share = `${chosen.ratio.toPrecision(2)} times that of plain Laplace noise`;
  const smaller = candidates.filter((c) => c.error.l2 < chosen.error.l2);
  const refused = smaller.filter((c) => !c.keeps);
  const head =
    refused.length === smaller.length
      ? `${chosen.name} has the smallest expected error (${share}) among those that keep the declared guarantee.`
      : `${chosen.name} has the smallest expected error for its sensitivity (in counts, ${share}).`;
  return refused.length === 0
    ? head
    : `${head} Smaller, but not allowed: ${refused.map((c) => `${c.name} (${c.reason})`).join('; ')}.`;
}
