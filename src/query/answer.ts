import { add, multiply, type Rational, rational, toNumber, zero } from '../base/exact/rational.js';
import type { AdditiveLaw, Law } from '../privacy/mechanism/law.js';
import { type Part, type Spread, spreadOf } from '../privacy/mechanism/law-sum.js';
import type { AnswerRow, AnswerTable, ErrorKind, Foreseen, NoisyCounts, NoisyMeasure } from './bound.js';
import type { Query } from './query.js';
import type { BoundQuery } from './scope.js';

/** A number that is known up to noise. */
export interface Noisy extends Spread {
  readonly value: Rational;
}

/** `factor` times the cells of a measure that make up answer cell i. */
export interface Term {
  readonly measure: number;
  readonly factor: Rational;
  readonly cells: (i: number) => readonly number[];
}
export const sameCell = (i: number): readonly number[] => [i];

const counts = (noisy: readonly NoisyMeasure[], index: number): NoisyCounts => {
  const found = noisy[index];
  if (!found || !('values' in found)) throw new RangeError(`measure ${index} has no counts`);
  return found;
};
export const additive = (noise: readonly Law<number>[], index: number): AdditiveLaw<number> => {
  const found = noise[index];
  if (found?.kind !== 'laplace' && found?.kind !== 'gaussian' && found?.kind !== 'none')
    throw new RangeError(`measure ${index} has no additive noise`);
  return found;
};

/** The noise that every cell of a term brings. */
export const partOf = ({ measure, factor }: Term, noise: readonly Law<number>[]): Part => ({
  factor: Math.abs(toNumber(factor)),
  noise: additive(noise, measure),
});
/** Noise of the terms in answer cell i, before any value is known. */
export const noiseOf = (terms: readonly Term[], noise: readonly Law<number>[], i = 0): Spread =>
  spreadOf(
    terms.flatMap((term) => {
      const part = partOf(term, noise);
      return term.cells(i).map(() => part);
    }),
  );

function sumOfCells(terms: readonly Term[], noisy: readonly NoisyMeasure[], i: number): Rational {
  let value = zero;
  for (const { measure, factor, cells } of terms) {
    const { values } = counts(noisy, measure);
    for (const cell of cells(i)) value = add(value, multiply(factor, rational(values[cell]!)));
  }
  return value;
}
/** Noise distributions of a batch's measures: one list shared by all of its answers, of which there may be as many. */
export function lawsOf(noisy: readonly NoisyMeasure[]): readonly Law<number>[] {
  const known = lists.get(noisy) ?? noisy.map(({ noise }) => noise);
  lists.set(noisy, known);
  return known;
}
const lists = new WeakMap<readonly NoisyMeasure[], readonly Law<number>[]>();

/** The noisy sum of the terms in answer cell i. */
export const noisySum = (terms: readonly Term[], noisy: readonly NoisyMeasure[], i: number): Noisy => ({
  value: sumOfCells(terms, noisy, i),
  ...noiseOf(terms, lawsOf(noisy), i),
});

export const miss = 0.05;

export interface Layout {
  readonly query: Query;
  /** Short description of the query. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

/** The name an answer carries. */
const answerName = ({ query, label }: Layout): string =>
  query.name ?? `${label}${query.by && query.by.length > 0 ? ` by ${query.by.join(', ')}` : ''}`;

export const table = (layout: Layout, error: ErrorKind, row: (i: number) => Omit<AnswerRow, 'keys'>): AnswerTable => ({
  name: answerName(layout),
  query: layout.query,
  columns: layout.columns,
  rows: layout.cells.map((keys, i) => ({ keys, ...row(i) })),
  error,
});

export const foreseen = (layout: Layout, error: ErrorKind, standardError: number, half: number, perRow: boolean): Foreseen => ({
  name: answerName(layout),
  query: layout.query,
  cells: layout.cells.length,
  error,
  standardError,
  halfWidth: half,
  perRow,
});

/** An answer that is a sum of noisy integers. */
export function linearAnswer(layout: Layout, terms: readonly Term[]): BoundQuery {
  // The expected error is that of the answer cell that adds the most numbers.
  const numbers = (i: number): number => terms.reduce((sum, { cells }) => sum + cells(i).length, 0);
  const alike = terms.every(({ cells }) => cells === sameCell);
  const widest = alike ? 0 : layout.cells.reduce((best, _, i) => (numbers(i) > numbers(best) ? i : best), 0);
  const error: ErrorKind = numbers(widest) === 1 ? 'exact' : 'combined';
  return {
    finish: (noisy) => {
      const laws = lawsOf(noisy);
      const errorOf = (i: number) => {
        const { deviation, half } = noiseOf(terms, laws, i);
        return { deviation, half: half(miss) };
      };
      const each = alike ? errorOf(0) : undefined;
      return table(layout, error, (i) => {
        const value = toNumber(sumOfCells(terms, noisy, i));
        const { deviation, half } = each ?? errorOf(i);
        // Outward by more than the last digits can be off: an end may be a number the noise reaches exactly. Whole numbers are not off.
        const whole = [value, half, Math.abs(value) + half].every(Number.isSafeInteger);
        const ends = whole ? half : half + (Math.abs(value) + half) * 2 ** -50;
        return { value, standardError: deviation, low: value - ends, high: value + ends };
      });
    },
    foresee: (noise) => {
      const known = noiseOf(terms, noise, widest);
      return foreseen(layout, error, known.deviation, known.half(miss), false);
    },
  };
}
