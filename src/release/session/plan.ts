import { compare, isPositive, multiply, type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { thousands } from '../../policy/figures.js';
import type { Policy } from '../../policy/policy.js';
import type { WhatIf } from '../../privacy/dependence/amplifier.js';
import { distributionText, distributionWords, type NoiseDistribution } from '../../privacy/mechanism/distribution.js';
import type { Mechanism, MechanismSummary } from '../../privacy/mechanism/mechanism.js';
import type { ExpectedError } from '../../query/bound.js';
import type { ExecutionPlan } from '../../query/count/count.js';
import type { Measure } from '../../query/count/measure.js';
import { columnsOf } from '../../query/count/measure.js';
import type { NoisePlan } from '../accountant/choose.js';
import type { Guarantee } from '../accountant/guarantee.js';
import type { BudgetRemedy } from './budget-remedies.js';
import type { PartUse } from './parts.js';
import type { QuotaUse } from './quota.js';

/** Cost and expected error of a release. Plain data; made without reading the data or spending anything. */
export interface Plan {
  readonly label: string;
  /** Share of the whole budget this would use, in epsilon of the policy (ties included). */
  readonly epsilon: number;
  readonly budget: { readonly total: number; readonly spent: number; readonly remaining: number; readonly delta: number };
  /** The part of the data it is about, where it selects values of a public column, with its spent and remaining budget. */
  readonly parts?: readonly PartUse[];
  /** Budget of every step for an endless stream, under a budget per step. */
  readonly steady?: { readonly column: string; readonly each: number };
  /** Quota of this analyst and its use, where the policy sets one. */
  readonly quota?: QuotaUse;
  /** The unanswered ledger entry that already paid for it: a release completes that entry and spends nothing more. */
  readonly completes?: number;
  /** The recorded answer that a release would give, free; the figures above and below are those of that answer. */
  readonly recorded?: { readonly entry: number; readonly at: string };
  /** True if the ledger would admit it in the present state. */
  readonly fits: boolean;
  /** Refusal that a release would meet. */
  readonly refusal?: string;
  /** Warnings before anything is spent. */
  readonly warnings?: readonly string[];
  /** The best remedies, with the error of each, if it does not fit or is mostly noise. */
  readonly waysOut?: readonly BudgetRemedy[];
  readonly mechanism: string;
  /** The proven route from noise to leakage, and the reason for this noise. */
  readonly route: string;
  readonly why: string;
  readonly measures: readonly PlannedMeasure[];
  /** Place where its rows become counts: the database, or this process; absent where an analysis reads rows itself. */
  readonly counting?: ExecutionPlan;
  readonly errors: readonly ExpectedError[];
  readonly candidates: readonly {
    readonly mechanism: string;
    readonly route: string;
    readonly error: number;
    readonly fits: boolean;
  }[];
  readonly whatIf: readonly WhatIf[];
  /** Number of records in the answer when maxTies or maxUsed leaves some out; as public as the ties. */
  readonly records?: { readonly used: number; readonly leftOut: number };
  readonly guarantee: Guarantee;
}

/** A mechanism as shown in plans and receipts, its distribution in exact fractions. */
export interface PlannedMeasure extends MechanismSummary {
  readonly noise: NoiseDistribution<string>;
  /** The columns it reads, where it counts rows. */
  readonly columns?: readonly string[];
}

export const plannedMeasure = (
  { summary: { name, cells, ...more }, distribution }: Mechanism,
  measure?: Measure,
): PlannedMeasure => ({
  name,
  ...(measure && { columns: columnsOf(measure.counting) }),
  cells,
  noise: distributionText(distribution),
  ...more,
});

/** For an answer with sensitivity zero along the declared pairs, or over public columns only. */
export const noNoise = 'No noise: this is public under the policy.';

/** The same for answers that follow from totals that everybody knows. */
const knownAlready = 'No noise: known.';

/** Kind of noise, as shown in plans. */
export const noiseKind = ({ kind, mechanisms }: NoisePlan): string =>
  mechanisms.length > 0 && mechanisms.every(({ distribution }) => distribution.kind === 'none') ? 'none' : kind;

export function explainChoice(plans: readonly NoisePlan[], { known }: Pick<Policy, 'known'> = {}): string {
  const [best, ...others] = plans;
  if (!best) return '';
  if (noiseKind(best) === 'none') return known ? knownAlready : noNoise;
  const exact = best.mechanisms.filter(({ distribution }) => distribution.kind === 'none').map(({ summary }) => summary.name);
  const exactNote = exact.length > 0 ? ` No noise on ${exact.join(', ')}: ${known ? 'known' : 'public under the policy'}.` : '';
  return `${choiceText(best, others)}${exactNote}`;
}

/** Why the other kinds of noise were not taken. */
function onlyKindText(best: NoisePlan, others: readonly NoisePlan[]): string {
  const name = distributionWords(best.kind);
  const other = others.find(({ kind }) => kind !== best.kind);
  if (!other || !best.fits) return `${name} noise is the only kind that this budget allows.`;
  const ratio = Math.sqrt(best.error / other.error);
  const quieter = ratio > 1.05 ? ` would be about ${Number(ratio.toPrecision(2))} times quieter, but` : '';
  return `${name} noise: ${distributionWords(other.kind)} noise${quieter} does not fit into what remains of the budget.`;
}

function choiceText(best: NoisePlan, others: readonly NoisePlan[]): string {
  const next = others.find((p) => p.kind !== best.kind && p.fits);
  if (!next) return onlyKindText(best, others);
  const ratio = Math.sqrt(next.error / best.error);
  const than = `than with ${distributionWords(next.kind)} noise.`;
  if (ratio < 0.95)
    return `${distributionWords(best.kind)} noise, which leaves more to later questions: its expected error is ${Number((1 / ratio).toPrecision(2))} times that with ${distributionWords(next.kind)} noise.`;
  if (ratio < 1.05) return `${distributionWords(best.kind)} noise: its expected error is no larger ${than}`;
  return `${distributionWords(best.kind)} noise: its expected error is ${Number(ratio.toPrecision(2))} times smaller ${than}`;
}

/** Warning where pure noise closes Gaussian noise to later questions. */
export const closesGaussianText =
  'After this, later questions can use Gaussian noise only by paying more for what was released before.';

const tenth = rational(1, 10);
const short = (x: number): string => (Math.abs(x) >= 1000 ? thousands(Math.round(x)) : Number(x.toPrecision(4)).toString());

const counting = new Set<string>(['count', 'histogram', 'crosstab', 'cdf', 'ranges']);
const isCount = ({ query, perRow }: ExpectedError): boolean => counting.has(query.kind) && !perRow;
/** The largest expected error of a plain count. */
export const worstCount = (errors: readonly ExpectedError[]): ExpectedError | undefined =>
  errors
    .filter(isCount)
    .reduce<ExpectedError | undefined>((worst, e) => (worst && worst.halfWidth >= e.halfWidth ? worst : e), undefined);

/** Largest possible count, in its own unit: records, the rows of persons who may have several, weights. */
function mostCounted(
  { query }: ExpectedError,
  records: number,
  { protect, columns }: Policy,
): { readonly most: number; readonly words: string } {
  const each = protect.secret === 'person' ? protect.maxRows! : 1;
  const weight = 'weight' in query && query.weight !== undefined ? columns.get(query.weight) : undefined;
  const heaviest = weight && 'bounds' in weight ? toNumber(weight.bounds[1]) : 1;
  const about = `about ${thousands(Number(records.toPrecision(2)))}`;
  const most = records * each * heaviest;
  if (each === 1 && !weight) return { most, words: `the records there are, ${about}` };
  const what = weight ? 'what all weights can come to' : 'the rows there can be';
  return {
    most,
    words: `${what}, at most ${thousands(Number(most.toPrecision(2)))} (${about} ${each === 1 ? 'records' : 'persons'})`,
  };
}

/** Ratio of an error to the largest possible count, if above a tenth, and its description: such a table is hardly informative. */
function beyondTenth(
  error: ExpectedError,
  records: number,
  policy: Policy,
): { readonly by: number; readonly words: string } | undefined {
  if (!isCount(error)) return undefined;
  const { most, words } = mostCounted(error, records, policy);
  const by = error.halfWidth / most;
  return by > 1 / 10 ? { by, words: `±${short(error.halfWidth)}, more than a tenth of ${words}.` } : undefined;
}

/** The expected error of a table, with a warning where it is mostly noise; `policy` declares the rows of its query. */
export function withNoiseWarning(error: ExpectedError, records: number, policy: Policy): ExpectedError {
  const beyond = beyondTenth(error, records, policy);
  return beyond ? { ...error, mostlyNoise: `Mostly noise: the 95 % error of each number is ${beyond.words}` } : error;
}

/** The same for the worst of several tables. */
export function mostlyNoiseWarning(
  errors: readonly ExpectedError[],
  records: number,
  policies: readonly Policy[],
): string | undefined {
  const noisy = errors.flatMap((error, k) => {
    const beyond = beyondTenth(error, records, policies[k]!);
    return beyond ? [{ error, ...beyond }] : [];
  });
  const worst = noisy.sort((a, b) => b.by - a.by)[0];
  return worst && `Mostly noise: the 95 % error of "${worst.error.name}" is ${worst.words}`;
}

const takesAll = 'This takes all that is left to spend';
/** A warning that holds only while something is spent. */
export const isAboutSpending = (warning: string): boolean => warning.startsWith(takesAll);

/** Warning where all that remains is spent, above all where that is less than the default share. */
export function exhaustionWarning(
  share: Rational,
  left: Rational,
  epsilon: Rational,
  parts: readonly PartUse[] = [],
): string | undefined {
  if (!isPositive(left) || compare(share, left) !== 0) return undefined;
  const taken = short(toNumber(multiply(left, epsilon)));
  const few = compare(left, tenth) < 0 ? ' It is less than the tenth of the budget that a release usually takes.' : '';
  const where = parts.length > 0 ? ` about ${parts.at(-1)!.part}` : '';
  return `${takesAll}${where}, epsilon ${taken}: nothing new can be released${where && ' there'} afterwards.${few}`;
}

/** Warning where delta is at least one in the number of records: that would permit publishing a random record in full. */
export const looseDeltaWarning = (delta: Rational, records: number): string | undefined =>
  records > 0 && compare(multiply(delta, rational(records)), rational(1)) >= 0
    ? `Delta ${toNumber(delta)} is at least one in the number of records: publishing a record at random would be within it.`
    : undefined;
