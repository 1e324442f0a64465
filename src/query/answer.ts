import { add, multiply, type Rational, rational, toNumber, zero } from '../base/exact/rational.js';
import type { AdditiveDistribution, NoiseDistribution } from '../privacy/mechanism/distribution.js';
import { type NoiseSpread, noiseSpread, type ScaledNoise } from '../privacy/mechanism/noise-sum.js';
import type { AnswerRow, AnswerTable, ErrorKind, ExpectedError, NoisyCounts, NoisyMeasure } from './bound.js';
import type { Query } from './query.js';
import type { BoundQuery } from './scope.js';

/** A number that is known up to noise. */
export interface NoisyNumber extends NoiseSpread {
  readonly value: Rational;
}

/** `factor` times the cells of a measure that make up answer cell i. */
export interface LinearTerm {
  readonly measure: number;
  readonly factor: Rational;
  readonly cells: (i: number) => readonly number[];
}
export const sameCell = (i: number): readonly number[] => [i];

export const noisyCounts = (noisy: readonly NoisyMeasure[], index: number): NoisyCounts => {
  const found = noisy[index];
  if (!found || !('values' in found)) throw new RangeError(`measure ${index} has no counts`);
  return found;
};
export const additiveNoise = (noise: readonly NoiseDistribution<number>[], index: number): AdditiveDistribution<number> => {
  const found = noise[index];
  if (found?.kind !== 'laplace' && found?.kind !== 'gaussian' && found?.kind !== 'none')
    throw new RangeError(`measure ${index} has no additive noise`);
  return found;
};

/** The noise that every cell of a term brings. */
export const termNoise = ({ measure, factor }: LinearTerm, noise: readonly NoiseDistribution<number>[]): ScaledNoise => ({
  factor: Math.abs(toNumber(factor)),
  noise: additiveNoise(noise, measure),
});
/** Noise of the terms in answer cell i, before any value is known. */
export const noiseOfTerms = (terms: readonly LinearTerm[], noise: readonly NoiseDistribution<number>[], i = 0): NoiseSpread =>
  noiseSpread(
    terms.flatMap((term) => {
      const part = termNoise(term, noise);
      return term.cells(i).map(() => part);
    }),
  );

function sumOfCells(terms: readonly LinearTerm[], noisy: readonly NoisyMeasure[], i: number): Rational {
  let value = zero;
  for (const { measure, factor, cells } of terms) {
    const { values } = noisyCounts(noisy, measure);
    for (const cell of cells(i)) value = add(value, multiply(factor, rational(values[cell]!)));
  }
  return value;
}
/** Noise distributions of a batch's measures: one list shared by all of its answers, of which there may be as many. */
export function distributionsOf(noisy: readonly NoisyMeasure[]): readonly NoiseDistribution<number>[] {
  const known = distributionLists.get(noisy) ?? noisy.map(({ noise }) => noise);
  distributionLists.set(noisy, known);
  return known;
}
const distributionLists = new WeakMap<readonly NoisyMeasure[], readonly NoiseDistribution<number>[]>();

/** The noisy sum of the terms in answer cell i. */
export const noisySum = (terms: readonly LinearTerm[], noisy: readonly NoisyMeasure[], i: number): NoisyNumber => ({
  value: sumOfCells(terms, noisy, i),
  ...noiseOfTerms(terms, distributionsOf(noisy), i),
});

export const defaultAlpha = 0.05;
/** Deviations of a normal variable that it exceeds with that probability, and on one side with that probability. */
export const [normalQuantile, oneSidedQuantile] = [1.959964, 1.644854];

export type AnswerValues = Omit<AnswerRow, 'keys'>;
export const noAnswer = { value: null, standardError: null, low: null, high: null } as const satisfies AnswerValues;

export interface AnswerLayout {
  readonly query: Query;
  /** Short description of the query. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

/** Layout of an answer with the query's keys and these columns after them; the value alone when absent. */
export const answerLayout = (
  query: Query,
  label: string,
  cells: AnswerLayout['cells'],
  columns: readonly string[] = [query.name ?? label],
): AnswerLayout => ({ query, label, columns: [...(query.by ?? []), ...columns], cells });
/** Cells of several figures for each group, and the row of each from lists of figures. */
export const figureCells = (groups: AnswerLayout['cells'], figures: readonly string[]): AnswerLayout['cells'] =>
  groups.flatMap((labels) => figures.map((figure) => [...labels, figure]));
export const figureAt = <T>(groups: readonly (readonly T[])[], i: number): T => {
  const { length } = groups[0]!;
  return groups[Math.floor(i / length)]![i % length]!;
};

/** The name an answer carries. */
const answerName = ({ query, label }: AnswerLayout): string =>
  query.name ?? `${label}${query.by && query.by.length > 0 ? ` by ${query.by.join(', ')}` : ''}`;

export const answerTable = (layout: AnswerLayout, error: ErrorKind, row: (i: number) => AnswerValues): AnswerTable => ({
  name: answerName(layout),
  query: layout.query,
  columns: layout.columns,
  rows: layout.cells.map((keys, i) => ({ keys, ...row(i) })),
  error,
});

export const expectedAnswerError = (
  layout: AnswerLayout,
  error: ErrorKind,
  {
    standardError,
    halfWidth,
    perRow = false,
  }: Pick<ExpectedError, 'standardError' | 'halfWidth'> & { readonly perRow?: boolean },
): ExpectedError => ({
  name: answerName(layout),
  query: layout.query,
  cells: layout.cells.length,
  error,
  standardError,
  halfWidth,
  perRow,
});

/** An answer that is a sum of noisy integers. */
export function linearAnswer(layout: AnswerLayout, terms: readonly LinearTerm[]): BoundQuery {
  // The expected error is that of the answer cell that adds the most numbers.
  const numbers = (i: number): number => terms.reduce((sum, { cells }) => sum + cells(i).length, 0);
  const alike = terms.every(({ cells }) => cells === sameCell);
  const widest = alike ? 0 : layout.cells.reduce((best, _, i) => (numbers(i) > numbers(best) ? i : best), 0);
  const error: ErrorKind = numbers(widest) === 1 ? 'exact' : 'combined';
  return {
    finish: (noisy) => {
      const distributions = distributionsOf(noisy);
      const errorOf = (i: number) => {
        const { deviation, half } = noiseOfTerms(terms, distributions, i);
        return { deviation, half: half(defaultAlpha) };
      };
      const each = alike ? errorOf(0) : undefined;
      return answerTable(layout, error, (i) => {
        const value = toNumber(sumOfCells(terms, noisy, i));
        const { deviation, half } = each ?? errorOf(i);
        // Outward by more than the last digits can be off: an end may be a number the noise reaches exactly. Whole numbers are not off.
        const whole = [value, half, Math.abs(value) + half].every(Number.isSafeInteger);
        const ends = whole ? half : half + (Math.abs(value) + half) * 2 ** -50;
        return { value, standardError: deviation, low: value - ends, high: value + ends };
      });
    },
    expectedError: (noise) => {
      const known = noiseOfTerms(terms, noise, widest);
      return expectedAnswerError(layout, error, { standardError: known.deviation, halfWidth: known.half(defaultAlpha) });
    },
  };
}
