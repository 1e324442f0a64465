import { divide, multiply, rational, toNumber } from '../../base/exact/rational.js';
import type { Protect, SecretKind } from '../../policy/policy.js';
import { type AdditiveLaw, inDoubles, type Law, lawWords } from '../../privacy/mechanism/law.js';
import { scaled, widthOf } from '../../privacy/mechanism/law-width.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Measure } from '../../query/count/measure.js';
import { columnsOf } from '../../query/count/measure.js';
import type { NoisePlan } from '../../release/accountant/choose.js';
import { type ReleaseError, releaseError } from './error.js';

/** The tables of a survey in one form (separate, or some derived from a joint one), with every planned noise. */
export interface SurveyWay {
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
export function chooseSurvey(ways: readonly SurveyWay[], taken: SurveyWay, protect: Protect): SurveyChoice {
  const drafts = ways.flatMap((way) => way.plans.map((plan) => draft(way, plan, protect)));
  const chosen = drafts.find((d) => d.plan === taken.plans[0])!;
  const even = ways.flatMap((way) => (way.merged ? [] : evenly(way, protect)));
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

function draft(way: SurveyWay, plan: NoisePlan, protect: Protect): Draft {
  const { amplifier } = plan.route;
  const whole = amplifier.scope(everyRecord);
  return {
    plan,
    name: nameOf(way, plan),
    noise: plan.kind,
    ...told(
      way.measures,
      plan.mechanisms.map(({ law }) => law),
    ),
    protects: whole ? wholeRecord[protect.secret] : `one answer, against an attacker who ${knows(plan, protect)}`,
    assumes: [...(whole ? [] : amplifier.assumptions), ...(way.merged ? [fromCodebook] : [])],
    keeps: plan.fits,
    reason: plan.fits ? 'keeps the declared guarantee' : 'does not fit into what remains of the budget',
  };
}

const knows = ({ route: { amplifier } }: NoisePlan, { adversary }: Protect): string => {
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
const fromCodebook =
  'The policy lists every combination of answers the merged questions allow; a row with any other counts as missing in their tables (no privacy rests on it).';

function nameOf({ merged }: SurveyWay, { kind, route: { amplifier } }: NoisePlan): string {
  const law = lawWords(kind);
  const more = merged ? ', merged' : '';
  if (amplifier.factoredOnly) return `${law}, pairwise bound${more}`;
  if (!amplifier.scope(everyRecord)) return `${law}, declared network${more}`;
  return merged ? `${law}, merged` : kind === 'laplace' ? `${law}, split by size` : law;
}

/** For comparison: planned Laplace noise of the same cost, spread evenly over the tables that need any. */
function evenly(way: SurveyWay, protect: Protect): readonly Draft[] {
  const plan = way.plans.find((p) => p.kind === 'laplace' && p.route.amplifier.scope(everyRecord));
  const cost = plan?.profile.perRecord.get(everyRecord);
  if (!plan || !cost) return [];
  const noisy = way.measures.filter((m) => m.effects.has(everyRecord)).length;
  const noise = way.measures.map((m): AdditiveLaw => {
    const effect = m.effects.get(everyRecord);
    return effect ? { kind: 'laplace', scale: divide(multiply(rational(effect.l1), rational(noisy)), cost) } : { kind: 'none' };
  });
  const { plan: _, ...like } = draft(way, plan, protect);
  return [{ ...like, name: 'Laplace, equal', ...told(way.measures, noise) }];
}

/** Parts and error, from the distributions themselves. */
function told(measures: readonly Measure[], laws: readonly Law[]): Pick<Draft, 'parts' | 'error'> {
  const parts = measures.flatMap((m, k) => {
    const law = laws[k]!;
    if (m.mechanism !== 'additive' || (law.kind !== 'laplace' && law.kind !== 'gaussian')) return [];
    const cells = { law: scaled(inDoubles(law), toNumber(m.grid)), cells: m.cells.length, tables: m.tables ?? 1 };
    return [{ columns: columnsOf(m.counting), cells }];
  });
  return {
    parts: parts.map(({ columns, cells }) => ({ columns, cells: cells.cells, scale: widthOf(cells.law) })),
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
export function mergeWhereWorth(
  columns: readonly SurveyColumn[],
  clusters: readonly SurveyCluster[],
  power: number,
): readonly SurveyCluster[] {
  const cells = new Map(columns.map((c) => [c.name, c.cells]));
  const taken = new Set<string>();
  return clusters.filter((cluster) => {
    if (cluster.columns.length < 2 || cluster.columns.some((name) => !cells.has(name) || taken.has(name))) return false;
    const together = (cluster.columns.length * cluster.support) ** power;
    const apart = cluster.columns.reduce((sum, name) => sum + cells.get(name)! ** power, 0);
    if (!(together < apart)) return false;
    for (const name of cluster.columns) taken.add(name);
    return true;
  });
}

function explain(chosen: SurveyCandidate, candidates: readonly SurveyCandidate[]): string {
  const share = `${chosen.ratio.toPrecision(2)} of evenly spread Laplace noise`;
  const smaller = candidates.filter((c) => c.error.l2 < chosen.error.l2);
  const refused = smaller.filter((c) => !c.keeps);
  const head =
    refused.length === smaller.length
      ? `${chosen.name} has the smallest expected error (${share}) among those that keep the declared guarantee.`
      : `${chosen.name} has the smallest expected error in units of what one record can move (${share} in counts).`;
  return refused.length === 0
    ? head
    : `${head} Smaller, but not allowed: ${refused.map((c) => `${c.name} (${c.reason})`).join('; ')}.`;
}
