import type { TableOrigin } from '../dependence/pairwise-amplifier.js';
import { largestPairwiseBase, type PairwiseSpread } from '../dependence/pairwise-leakage.js';
import { type CellNoise, type ReleaseError, releaseError } from './survey-error.js';

/** One question of the survey as it will be shown. */
export interface SurveyColumn {
  readonly name: string;
  readonly cells: number;
  /** A form or skip gate everybody knows: no secret, no noise. */
  readonly public?: boolean;
}

/** Columns tied by skip logic, with the answer combinations the codebook allows: may be released as one joint histogram. */
export interface SurveyCluster {
  readonly columns: readonly string[];
  readonly support: number;
}

export interface SurveyTerms {
  readonly secret: 'row' | 'answer';
  readonly adversary: 'informed' | 'uninformed';
  readonly epsilon: number;
  readonly delta: number;
  /** Largest rho whose (epsilon, delta) guarantee is the budget's; absent for a pure budget. */
  readonly rho?: number;
}

/** What is known about how answers go together. */
export interface SurveyKnowledge {
  /** `base`: the cost per column to use; the largest that epsilon allows when absent. */
  readonly pairwise?: { readonly spread: PairwiseSpread; readonly origin: TableOrigin; readonly base?: number };
  /** Largest cost per column that a declared network allows, and against whom it was proven. */
  readonly network?: { readonly base: number; readonly adversary: 'informed' | 'uninformed'; readonly origin: string };
  readonly clusters?: readonly SurveyCluster[];
}

/** One way to release every histogram. Plain data. */
export interface SurveyCandidate {
  readonly name: string;
  readonly noise: 'laplace' | 'gaussian';
  /** What is released and with which scale (Laplace b or Gaussian sigma): a column, or several merged into one joint histogram. */
  readonly parts: readonly { readonly columns: readonly string[]; readonly cells: number; readonly scale: number }[];
  readonly error: ReleaseError;
  /** Expected L2 error over that of Laplace noise with scale 2n/epsilon. */
  readonly ratio: number;
  readonly protects: string;
  readonly assumes: readonly string[];
  /** Whether it keeps what the policy declares. */
  readonly keeps: boolean;
  readonly reason: string;
}

export interface SurveyChoice {
  readonly candidates: readonly SurveyCandidate[];
  readonly chosen: SurveyCandidate;
  readonly why: string;
}

const wholeRow = 'the whole row, whatever else is known about the person';
const oneAnswer = (known: string): string => `one answer, against an attacker who ${known}`;

/** All candidates, smallest expected error first, and the best one that keeps the declared guarantee. */
export function chooseSurvey(
  columns: readonly SurveyColumn[],
  terms: SurveyTerms,
  knowledge: SurveyKnowledge = {},
): SurveyChoice {
  const questions = columns.filter((c) => c.public !== true);
  const single = questions.map((c): Part => ({ columns: [c.name], cells: c.cells, weight: c.cells }));
  const { epsilon, rho } = terms;
  const baseline = releaseError(
    single.map((p) => ({ kind: 'laplace', scale: (2 * questions.length) / epsilon, cells: p.cells })),
  );

  const drafts: Draft[] = [
    { name: 'Laplace, equal', noise: 'laplace', parts: evenly(single, (2 * single.length) / epsilon), ...rowLevel },
    { name: 'Laplace, split by size', noise: 'laplace', parts: laplaceSplit(single, epsilon), ...rowLevel },
  ];
  if (rho !== undefined) drafts.push({ name: 'Gaussian', noise: 'gaussian', parts: gaussianSplit(single, rho), ...rowLevel });
  const clusters = knowledge.clusters ?? [];
  if (clusters.length > 0) {
    const merged = (power: number) => mergeWhereWorth(questions, clusters, power);
    drafts.push({
      name: 'Laplace, merged',
      noise: 'laplace',
      parts: laplaceSplit(merged(1 / 3), epsilon),
      ...rowLevel,
      ...fromCodebook,
    });
    if (rho !== undefined)
      drafts.push({
        name: 'Gaussian, merged',
        noise: 'gaussian',
        parts: gaussianSplit(merged(1 / 2), rho),
        ...rowLevel,
        ...fromCodebook,
      });
  }
  if (knowledge.network) drafts.push(networkDraft(single, terms, knowledge.network));
  if (knowledge.pairwise) drafts.push(pairwiseDraft(single, terms, knowledge.pairwise));

  const candidates = drafts
    .map((draft): SurveyCandidate => {
      const error = releaseError(cellNoise(draft));
      return {
        name: draft.name,
        noise: draft.noise,
        parts: draft.parts.map(({ columns: names, cells, scale }) => ({ columns: names, cells, scale })),
        error,
        ratio: error.l2 / baseline.l2,
        protects: draft.protects,
        assumes: draft.assumes,
        keeps: draft.refused === undefined,
        reason: draft.refused ?? 'keeps the declared guarantee',
      };
    })
    .sort((a, b) => a.error.l2 - b.error.l2);
  // Laplace noise keeps every guarantee a policy can declare, so there always is one.
  const chosen = candidates.find((c) => c.keeps)!;
  return { candidates, chosen, why: explain(chosen, candidates) };
}

interface Part {
  readonly columns: readonly string[];
  readonly cells: number;
  /** Number of noisy cells added up over all columns that are read off this part. */
  readonly weight: number;
}
type Scaled = Part & { readonly scale: number };
interface Draft {
  readonly name: string;
  readonly noise: 'laplace' | 'gaussian';
  readonly parts: readonly Scaled[];
  readonly protects: string;
  readonly assumes: readonly string[];
  readonly refused?: string;
}
const rowLevel = { protects: wholeRow, assumes: [] as readonly string[] };
const fromCodebook = {
  assumes: [
    'The policy lists every combination of answers the merged questions allow; a row with any other counts as missing in their tables (no privacy rests on it).',
  ],
};

const evenly = (parts: readonly Part[], scale: number): Scaled[] => parts.map((p) => ({ ...p, scale }));

/** Minimises sum weight scale^2 subject to sum 2/scale = epsilon: scale ~ weight^(-1/3). */
function laplaceSplit(parts: readonly Part[], epsilon: number): Scaled[] {
  const total = parts.reduce((sum, p) => sum + Math.cbrt(p.weight), 0);
  return parts.map((p) => ({ ...p, scale: (2 * total) / (epsilon * Math.cbrt(p.weight)) }));
}

/** Minimises sum weight sigma^2 subject to sum 1/sigma^2 = rho (moving a row moves two cells of each part): sigma^2 ~ weight^(-1/2). */
function gaussianSplit(parts: readonly Part[], rho: number): Scaled[] {
  const total = parts.reduce((sum, p) => sum + Math.sqrt(p.weight), 0);
  return parts.map((p) => ({ ...p, scale: Math.sqrt(total / (rho * Math.sqrt(p.weight))) }));
}

/**
 * A cluster of m columns with J joint cells is worth merging when (m J)^power < sum cells^power: its budget share then falls, and every
 * column's table is a sum over the joint cells (m J noisy cells in all). Power 1/3 for Laplace, 1/2 for Gaussian noise.
 */
export function mergeWhereWorth(columns: readonly SurveyColumn[], clusters: readonly SurveyCluster[], power: number): Part[] {
  const cells = new Map(columns.map((c) => [c.name, c.cells]));
  const merged: Part[] = [];
  const taken = new Set<string>();
  for (const cluster of clusters) {
    const names = cluster.columns.filter((name) => cells.has(name) && !taken.has(name));
    if (names.length < 2 || names.length < cluster.columns.length) continue;
    const together = (names.length * cluster.support) ** power;
    const apart = names.reduce((sum, name) => sum + cells.get(name)! ** power, 0);
    if (!(together < apart)) continue;
    for (const name of names) taken.add(name);
    merged.push({ columns: names, cells: cluster.support, weight: names.length * cluster.support });
  }
  const rest = columns
    .filter((c) => !taken.has(c.name))
    .map((c): Part => ({ columns: [c.name], cells: c.cells, weight: c.cells }));
  return [...merged, ...rest];
}

const cellNoise = (draft: Draft): CellNoise[] =>
  draft.parts.map((p) => ({ kind: draft.noise, scale: p.scale, cells: p.cells, tables: p.columns.length }));

function pairwiseDraft(parts: readonly Part[], terms: SurveyTerms, known: NonNullable<SurveyKnowledge['pairwise']>): Draft {
  const base = known.base ?? largestPairwiseBase(known.spread, terms.epsilon);
  const covered = parts.every((p) => known.spread.names.includes(p.columns[0]!));
  const refused =
    terms.secret === 'row'
      ? 'protects one answer only; the policy protects rows'
      : terms.adversary === 'informed'
        ? 'assumes that no other answer of the person is known; the policy does not'
        : covered
          ? undefined
          : 'the tables do not cover every column';
  return {
    name: 'Laplace, pairwise bound',
    noise: 'laplace',
    parts: evenly(parts, 2 / base),
    protects: oneAnswer('knows no other answer of the person'),
    assumes: [
      'Respondents are independent of one another.',
      known.origin.kind === 'unpaid'
        ? 'Two-column tables LEARNED FROM THE DATA AND NOT PAID FOR: what they reveal is not counted.'
        : known.origin.kind === 'public'
          ? `Two-column tables from ${known.origin.from} describe this population.`
          : 'Two-column tables were paid for.',
      known.spread.confidence < 1
        ? `Holds with probability ${known.spread.confidence} over the sample the tables were counted from.`
        : 'The two-column tables are exactly right.',
    ],
    ...(refused !== undefined && { refused }),
  };
}

function networkDraft(parts: readonly Part[], terms: SurveyTerms, known: NonNullable<SurveyKnowledge['network']>): Draft {
  const refused =
    terms.secret === 'row'
      ? 'protects one answer only; the policy protects rows'
      : terms.adversary === 'informed' && known.adversary === 'uninformed'
        ? 'assumes that no other answer of the person is known; the policy does not'
        : undefined;
  return {
    name: 'Laplace, declared network',
    noise: 'laplace',
    parts: evenly(parts, 2 / known.base),
    protects: oneAnswer(
      known.adversary === 'informed'
        ? 'knows the network and possibly every other answer'
        : 'knows the network and no other answer',
    ),
    assumes: ['Answers follow the declared network: no dependence is missing from it.', known.origin],
    ...(refused !== undefined && { refused }),
  };
}

function explain(chosen: SurveyCandidate, candidates: readonly SurveyCandidate[]): string {
  const better = candidates.filter((c) => !c.keeps && c.error.l2 < chosen.error.l2);
  const head = `${chosen.name} has the smallest expected error (${chosen.ratio.toPrecision(2)} of Laplace noise for every column) among those that keep the declared guarantee.`;
  return better.length === 0
    ? head
    : `${head} Smaller, but not allowed: ${better.map((c) => `${c.name} (${c.reason})`).join('; ')}.`;
}
