import { fromNumber, parseRational, type Rational, toNumber } from '../../base/exact/rational.js';
import { posteriorAtMost } from '../../policy/belief.js';
import { betweenValues } from '../../policy/neighbours.js';
import { type PairReach, pairReach } from '../../policy/pairs/examples.js';
import type { Policy } from '../../policy/policy.js';
import type { AnswerTable } from '../../query/bound.js';
import { policyOfQuery } from '../../query/from.js';
import { type BeliefRow, beliefRows } from '../../release/accountant/belief.js';
import { type NaturalFrequency, naturalFrequency, percentText } from '../../release/accountant/belief-words.js';
import type { Receipt, Release } from '../../release/session/receipt.js';
import type { Bar } from './bar-chart.js';
import { intervalChart } from './interval-chart.js';
import { intervalText } from './interval-text.js';
import { keyLabels, missing } from './key-labels.js';
import { briefNumber, estimateText, shownEnds } from './number.js';
import { rankText } from './rank-text.js';
import type { Drawing } from './svg.js';
import { tableTitle } from './table-title.js';

/** Content of a report, as plain data. HTML is one form of it. */
export interface ReleaseReport {
  readonly title: string;
  readonly population: string;
  readonly at: string;
  readonly certified: boolean;
  readonly protectsNothing?: true;
  readonly promise: readonly string[];
  readonly assumptions: readonly string[];
  readonly how: string;
  readonly epsilon: number;
  readonly delta: number;
  /** Probability with which posteriors may move further. */
  readonly failure: number;
  readonly spentHere: number;
  readonly belief: { readonly prior: number; readonly people: NaturalFrequency; readonly rows: readonly BeliefRow[] };
  readonly whatIf: readonly { readonly change: string; readonly epsilon: string; readonly belief: string }[];
  /** If pairs of values are declared: the number of pairs between some values of each column. */
  readonly pairs?: readonly PairReach[];
  readonly answers: readonly AnswerSection[];
  readonly receipt: readonly (readonly [string, string])[];
}

export interface AnswerSection {
  readonly title: string;
  /** Wording of the question, if the codebook has it. */
  readonly note?: string;
  /** Present if the noise leaves almost nothing to read, and where rows were selected or ordered by noisy numbers. */
  readonly warning?: string;
  /** The noise leaves almost nothing to read. */
  readonly mostlyNoise?: true;
  /** Assumptions of the table, and corrections made to it. */
  readonly caveat?: string;
  readonly measure: string;
  readonly panels: readonly { readonly caption?: string; readonly bars: readonly Bar[] }[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Number of numeric columns of the table, from the right. */
  readonly figures?: number;
  /** Unit of the drawn numbers. */
  readonly unit?: string;
  readonly error: string;
  /** A picture of its own instead of bars. */
  readonly drawing?: (width: number) => Drawing;
}

const percentWords =
  ' Percentages are of those who answered and add up to 100: they come from the nearest counts without negative ones. Their intervals come from the noisy counts themselves.';

const errorWords: Record<AnswerTable['error'], string> = {
  exact: 'Error bars: 95 % interval of the noise on each number; sampling error is not in it.',
  combined: 'Error bars: at least 95 %, over the several noisy numbers each value is made of.',
  propagated: 'Error bars: at least 95 %, carried through the ratio.',
  rank: 'With 95 % probability, the true quantile is within that many ranks (rows) of the value shown. The first number holds where rows lie evenly around it; the number in brackets holds for any data.',
};

export function reportOf(release: Release, policy: Policy): ReleaseReport {
  const { receipt, tables } = release;
  const title = tables.length === 1 ? tableTitle(tables[0]!) : titleOfSeveral(release, policy);
  return framed(
    receipt,
    policy,
    title,
    tables.map((table) => answerSection(table, policy)),
  );
}

/** Label of several tables; a plain list of kinds, which is the default label, is no title. */
function titleOfSeveral({ receipt: { label, population }, tables }: Release, { title }: Policy): string {
  const kinds = tables.map(({ query }) => query.name ?? query.kind).join(', ');
  return label === kinds.slice(0, 120) ? (title ?? `Tables of ${population}`) : label;
}

/** Result that is not a table of counts: its sections are given. */
export const analysisReport = (receipt: Receipt, policy: Policy, answers: readonly AnswerSection[]): ReleaseReport =>
  framed(receipt, policy, receipt.label, answers);

function framed(receipt: Receipt, policy: Policy, title: string, answers: readonly AnswerSection[]): ReleaseReport {
  const { guarantee } = receipt;
  const epsilon = betweenValues(guarantee.neighbours ?? 'replace', fromNumber(guarantee.epsilon));
  const prior = policy.budget.belief?.prior ?? parseRational('0.1');
  const people = naturalFrequency(prior, epsilon, guarantee.failure);
  return {
    title: headline(title),
    population: receipt.population,
    at: receipt.at,
    certified: guarantee.certified,
    ...(guarantee.protectsNothing && { protectsNothing: true }),
    // The crowd picture shows this sentence; recorded answers may hold it in the words of an earlier version.
    promise: guarantee.sentences.filter((s) => !s.startsWith(people.sentence.split('. ', 1)[0]!)),
    assumptions: guarantee.assumptions,
    how: guarantee.how,
    epsilon: guarantee.epsilon,
    delta: guarantee.delta,
    failure: guarantee.failure,
    spentHere: receipt.epsilon,
    belief: { prior: toNumber(prior), people, rows: beliefRows(epsilon) },
    whatIf: receipt.whatIf.map(({ change, leakage }) => ({
      change,
      epsilon: briefNumber(leakage),
      belief: beliefAt(prior, leakage),
    })),
    ...(guarantee.pairs && { pairs: pairReach(policy) }),
    answers,
    receipt: receiptLines(receipt),
  };
}

const headline = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const beliefAt = (prior: Rational, leakage: number): string =>
  Number.isFinite(leakage) ? percentText(posteriorAtMost(prior, fromNumber(leakage)), 'up') : '100 %';

function receiptLines(receipt: Receipt): (readonly [string, string])[] {
  return [
    ['Population', receipt.population],
    ['Released', receipt.at],
    ['Epsilon used here', briefNumber(receipt.epsilon)],
    [
      'Whole budget',
      `epsilon ${briefNumber(receipt.guarantee.epsilon)}${receipt.guarantee.delta > 0 ? `, delta ${receipt.guarantee.delta}` : ''}`,
    ],
    ['Noise', receipt.mechanism],
    ['Why', receipt.why],
    [
      'Ledger entry',
      `${receipt.ledger.entry}${receipt.ledger.replayed ? ' (recorded answer of the date above; nothing was spent)' : receipt.ledger.resumed ? ' (paid for earlier and completed now; nothing more was spent)' : ''}`,
    ],
    ['Entry hash', receipt.ledger.hash],
    ['Fugu', receipt.fugu],
  ];
}

function answerSection(table: AnswerTable, policy: Policy): AnswerSection {
  const labels = keyLabels(table, policy);
  const sampled = table.rows.some(({ share }) => share?.withSampling);
  const beyond = table.rows.some(({ withSampling }) => withSampling);
  const rows = table.rows.map((row) => ({
    ...row,
    ...shownEnds(row.low, row.high),
    ...(row.share && { share: widest(row.share) }),
    labels: labels(row.keys),
  }));
  const parts = rows.some(hasShare);
  const digits = percentDigits(rows.flatMap(({ share }) => share ?? []));
  const bar = (row: (typeof rows)[number], label: string): Bar => ({
    label,
    ...(parts ? inPercent(row.share) : { value: row.value, low: row.low, high: row.high }),
    quiet: row.keys.includes(missing),
    ...(row.rankError !== undefined && { note: rankText(row, briefNumber) }),
    ...(hasShare(row) && { text: percentOf(row.share, digits), note: percents(row.share, digits) }),
  });
  const value = table.columns.at(-1)!;
  const measure = parts ? 'percent of those who answered' : value;
  const drawn = parts ? rows.filter(hasShare) : rows;
  const keys = table.columns.slice(0, -1);
  const groups = keys.length >= 2 ? [...new Set(drawn.map((r) => r.labels.slice(0, -1).join(' · ')))] : [];
  const panels =
    groups.length > 0
      ? groups.map((caption) => ({
          caption,
          bars: drawn.filter((r) => r.labels.slice(0, -1).join(' · ') === caption).map((r) => bar(r, r.labels.at(-1)!)),
        }))
      : [{ bars: drawn.map((r) => bar(r, r.labels[0] ?? measure)) }];
  const domain = 'column' in table.query ? policyOfQuery(policy, table.query).columns.get(table.query.column) : undefined;
  return {
    title: tableTitle(table),
    ...(domain?.label && domain.label !== table.name && { note: domain.label }),
    ...caveatsOf(table),
    measure,
    panels: isTest(table) ? [] : panels,
    ...(hasIntervals(table) && { drawing: (width: number) => intervals(rows, measure, width) }),
    columns: [
      ...keys,
      value,
      table.error === 'rank' ? 'rank error' : '95 % interval',
      ...(beyond ? ['with sampling'] : []),
      ...(parts ? ['percent', '95 % interval'] : []),
    ],
    figures: (parts ? 4 : 2) + (beyond ? 1 : 0),
    ...(parts && { unit: '%' }),
    rows: rows.map((r) => {
      const half = r.low === null || r.high === null ? null : (r.high - r.low) / 2;
      const interval = r.rankError !== undefined ? rankText(r, briefNumber) : between(r);
      const both = r.withSampling ? between(shownEnds(r.withSampling.low, r.withSampling.high)) : '';
      return [
        ...r.labels,
        estimateText(r.value, half).value,
        interval,
        ...(beyond ? [both] : []),
        ...(parts ? percentCells(r.share, digits) : []),
      ];
    }),
    error:
      table.rows.every(({ low, high }) => low === null && high === null) && table.error !== 'rank'
        ? ''
        : beyond
          ? 'Thick bars: at least 95 %, over the noise. Thin bars: about 95 %, over noise and sampling together, for the declared design.'
          : sampled
            ? `Error bars: 95 % interval of noise and sampling together, for a declared design effect of ${briefNumber(policy.design!.effect)}. Intervals of counts are of the noise alone.${percentWords}`
            : `${errorWords[table.error]}${parts ? percentWords : ''}`,
  };
}

/** Caveats of a table: doubts first. */
function caveatsOf({ mostlyNoise, arranged, note }: AnswerTable): Pick<AnswerSection, 'warning' | 'mostlyNoise' | 'caveat'> {
  const doubts = [mostlyNoise, arranged].filter((text) => text !== undefined);
  return {
    ...(doubts.length > 0 && { warning: doubts.join(' ') }),
    ...(mostlyNoise !== undefined && { mostlyNoise: true as const }),
    ...(note !== undefined && { caveat: note }),
  };
}

/** Figures of different kinds in one table cannot be compared by bars. */
const isTest = ({ query }: AnswerTable): boolean => query.kind === 'independence' || query.kind === 'estimate';
const between = (ends: { readonly low: number | null; readonly high: number | null }): string =>
  intervalText(ends, briefNumber, { to: ' to ', none: '' });
const hasIntervals = ({ query, rows }: AnswerTable): boolean =>
  (query.by ?? []).length === 0 &&
  (query.kind === 'regression' || query.kind === 'correlation' || query.kind === 'compare') &&
  rows.length > 0;

/** Coefficients and the like: an intercept or a p-value is of another kind than the rest, and would set its scale. */
const intervals = (
  rows: readonly (AnswerTable['rows'][number] & { readonly labels: readonly string[] })[],
  measure: string,
  width: number,
) =>
  intervalChart({
    marks: rows
      .filter(({ keys }) => keys.at(-1) !== '(intercept)' && keys.at(-1) !== 'p-value')
      .map(({ labels, value, low, high, withSampling }) => ({
        label: labels.join(' with '),
        value,
        low,
        high,
        ...(withSampling && { wide: withSampling }),
      })),
    label: `${measure}: points with 95 percent intervals; the numbers are in the table below`,
    width,
  });

type Share = NonNullable<AnswerTable['rows'][number]['share']>;

/** If nobody seems to have answered, a share has no value and nothing is drawn. */
const hasShare = <R extends { readonly share?: Share }>(row: R): row is R & { readonly share: Share } =>
  row.share !== undefined && row.share.value !== null;

/** Widest known interval, which is the one a reader needs. */
const widest = (share: Share): Share => ({ ...share, ...share.withSampling });

const inPercent = (share: Share | undefined) =>
  share === undefined
    ? { value: null, low: null, high: null }
    : { value: share.value === null ? null : 100 * share.value, low: 100 * share.low, high: 100 * share.high };

function percentCells(share: Share | undefined, digits: number): readonly string[] {
  if (share === undefined || share.value === null) return ['', ''];
  return [`${percentOf(share, digits)} %`, `${percents(share, digits).replace('–', ' to ')} %`];
}

/**
 * One number of digits for a whole table, so that its figures can be compared: the digits that the width of a typical interval
 * leaves meaningful.
 */
function percentDigits(shares: readonly Share[]): number {
  const widths = shares.map(({ low, high }) => high - low).sort((a, b) => a - b);
  const usual = widths[widths.length >> 1] ?? 1;
  return usual < 0.005 ? 2 : usual < 0.08 ? 1 : 0;
}

const percentOf = ({ value }: Share, digits: number): string => (value === null ? '–' : (100 * value).toFixed(digits));

/** Interval in percent, rounded outwards, except for the tiny shift of its bounds by arithmetic. */
function percents({ low, high }: Share, digits: number): string {
  const by = 100 * 10 ** digits;
  return `${(Math.floor(by * low + 1e-9) / 10 ** digits).toFixed(digits)}–${(Math.ceil(by * high - 1e-9) / 10 ** digits).toFixed(digits)}`;
}
