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
import { keyLabels, missing, tableTitle } from './key-labels.js';
import { briefNumber, type Ends, estimateText, halfWidth, intervalText, rankText, shownEnds } from './number.js';
import type { Drawing } from './svg.js';

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

function receiptLines({
  population,
  at,
  epsilon,
  guarantee,
  mechanism,
  why,
  ledger,
  fugu,
}: Receipt): (readonly [string, string])[] {
  const delta = guarantee.delta > 0 ? `, delta ${guarantee.delta}` : '';
  let paid = '';
  if (ledger.resumed) paid = ' (paid for earlier and completed now; nothing more was spent)';
  if (ledger.replayed) paid = ' (recorded answer of the date above; nothing was spent)';
  return [
    ['Population', population],
    ['Released', at],
    ['Epsilon used here', briefNumber(epsilon)],
    ['Whole budget', `epsilon ${briefNumber(guarantee.epsilon)}${delta}`],
    ['Noise', mechanism],
    ['Why', why],
    ['Ledger entry', `${ledger.entry}${paid}`],
    ['Entry hash', ledger.hash],
    ['Fugu', fugu],
  ];
}

type Row = AnswerTable['rows'][number] & { readonly labels: readonly string[] };

function answerSection(table: AnswerTable, policy: Policy): AnswerSection {
  const labels = keyLabels(table, policy);
  const rows = table.rows.map(
    (row): Row => ({
      ...row,
      ...shownEnds(row.low, row.high),
      ...(row.share && { share: widest(row.share) }),
      labels: labels(row.keys),
    }),
  );
  const digits = rows.some(hasShare) ? percentDigits(rows.flatMap(({ share }) => share ?? [])) : undefined;
  const measure = digits === undefined ? table.columns.at(-1)! : 'percent of those who answered';
  const keys = table.columns.slice(0, -1);
  const figures = figureColumns(table, digits);
  const domain = 'column' in table.query ? policyOfQuery(policy, table.query).columns.get(table.query.column) : undefined;
  return {
    title: tableTitle(table),
    ...(domain?.label && domain.label !== table.name && { note: domain.label }),
    ...caveatsOf(table),
    measure,
    panels: isTest(table) ? [] : panelsOf(rows, { grouped: keys.length >= 2, measure, digits }),
    ...(hasIntervals(table) && { drawing: (width: number) => intervals(rows, measure, width) }),
    columns: [...keys, ...figures.map(([name]) => name)],
    figures: figures.length,
    ...(digits !== undefined && { unit: '%' }),
    rows: rows.map((row) => [...row.labels, ...figures.map(([, cell]) => cell(row))]),
    error: errorNote(table, policy, digits !== undefined),
  };
}

/** Bars of the table, a panel for each group where it has several keys; of percentages where it has shares (`digits`). */
function panelsOf(
  rows: readonly Row[],
  { grouped, measure, digits }: { readonly grouped: boolean; readonly measure: string; readonly digits: number | undefined },
): AnswerSection['panels'] {
  const bar = (row: Row): Bar => ({
    label: row.labels.at(-1) ?? measure,
    ...(digits === undefined ? { value: row.value, low: row.low, high: row.high } : inPercent(row.share)),
    quiet: row.keys.includes(missing),
    ...(row.rankError !== undefined && { note: rankText(row, briefNumber) }),
    ...(digits !== undefined && hasShare(row) && { text: percentOf(row.share, digits), note: percents(row.share, digits) }),
  });
  const drawn = digits === undefined ? rows : rows.filter(hasShare);
  if (!grouped || drawn.length === 0) return [{ bars: drawn.map(bar) }];
  const captionOf = (row: Row) => row.labels.slice(0, -1).join(' · ');
  return [...new Set(drawn.map(captionOf))].map((caption) => ({
    caption,
    bars: drawn.filter((row) => captionOf(row) === caption).map(bar),
  }));
}

type FigureColumn = readonly [name: string, cell: (row: Row) => string];
const isBeyond = ({ rows }: AnswerTable): boolean => rows.some(({ withSampling }) => withSampling);

function figureColumns(table: AnswerTable, digits: number | undefined): readonly FigureColumn[] {
  const columns: FigureColumn[] = [
    [table.columns.at(-1)!, (row) => estimateText(row.value, halfWidth(row)).value],
    [
      table.error === 'rank' ? 'rank error' : '95 % interval',
      (row) => (row.rankError === undefined ? between(row) : rankText(row, briefNumber)),
    ],
  ];
  if (isBeyond(table))
    columns.push(['with sampling', ({ withSampling: both }) => (both ? between(shownEnds(both.low, both.high)) : '')]);
  if (digits !== undefined)
    columns.push(
      ['percent', (row) => (hasShare(row) ? `${percentOf(row.share, digits)} %` : '')],
      ['95 % interval', (row) => (hasShare(row) ? `${percents(row.share, digits).replace('–', ' to ')} %` : '')],
    );
  return columns;
}

function errorNote(table: AnswerTable, policy: Policy, parts: boolean): string {
  if (table.rows.every(({ low, high }) => low === null && high === null) && table.error !== 'rank') return '';
  if (isBeyond(table))
    return 'Thick bars: at least 95 %, over the noise. Thin bars: about 95 %, over noise and sampling together, for the declared design.';
  if (table.rows.some(({ share }) => share?.withSampling))
    return `Error bars: 95 % interval of noise and sampling together, for a declared design effect of ${briefNumber(policy.design!.effect)}. Intervals of counts are of the noise alone.${percentWords}`;
  return `${errorWords[table.error]}${parts ? percentWords : ''}`;
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
const between = (ends: Ends): string => intervalText(ends, briefNumber, { to: ' to ', none: '' });
const hasIntervals = ({ query, rows }: AnswerTable): boolean =>
  (query.by ?? []).length === 0 &&
  (query.kind === 'regression' || query.kind === 'correlation' || query.kind === 'compare') &&
  rows.length > 0;

/** Coefficients and the like: an intercept or a p-value is of another kind than the rest, and would set its scale. */
const intervals = (rows: readonly Row[], measure: string, width: number) =>
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

/**
 * One number of digits for a whole table, so that its figures can be compared: the digits that the width of a typical interval
 * leaves meaningful.
 */
function percentDigits(shares: readonly Share[]): number {
  const widths = shares.map(({ low, high }) => high - low).sort((a, b) => a - b);
  const usual = widths[widths.length >> 1] ?? 1;
  if (usual < 0.005) return 2;
  return usual < 0.08 ? 1 : 0;
}

const percentOf = ({ value }: Share, digits: number): string => (value === null ? '–' : (100 * value).toFixed(digits));

/** Interval in percent, rounded outwards, except for the tiny shift of its bounds by arithmetic. */
function percents({ low, high }: Share, digits: number): string {
  const by = 100 * 10 ** digits;
  return `${(Math.floor(by * low + 1e-9) / 10 ** digits).toFixed(digits)}–${(Math.ceil(by * high - 1e-9) / 10 ** digits).toFixed(digits)}`;
}
