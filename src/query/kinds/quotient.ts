import { toNumber } from '../../base/exact/rational.js';
import { sumOfNumbers } from '../../privacy/mechanism/noise-sum.js';
import { factorsAt, type QuotientQuery, quotientIntervals } from '../../privacy/mechanism/quotient.js';
import {
  type AnswerLayout,
  answerTable,
  defaultAlpha,
  distributionsOf,
  expectedAnswerError,
  type LinearTerm,
  noiseOfTerms,
  noisySum,
} from '../answer.js';
import type { BoundQuery } from '../scope.js';

/** A quotient of two noisy numbers with independent noise, or of sums of them. */
interface Quotient extends Pick<QuotientQuery, 'factors' | 'within' | 'ends'> {
  readonly numbers: readonly [LinearTerm, LinearTerm];
  /** The denominator; the numerator is the first number. */
  readonly bottom: (first: number, second: number) => number;
  /** Added to the quotient. */
  readonly middle: number;
  /** Quotient at which the error is largest. */
  readonly widest: number;
}

export function quotientAnswer(layout: AnswerLayout, { numbers, bottom, middle, widest, ...query }: Quotient): BoundQuery {
  const { factors, within } = query;
  return {
    finish: (noisy) => {
      const distributions = distributionsOf(noisy);
      const ratio = quotientIntervals(
        numbers.map((term) => noiseOfTerms([term], distributions).parts),
        defaultAlpha,
      );
      return answerTable(layout, 'propagated', (i) => {
        const [a, b] = [noisySum([numbers[0]], noisy, i), noisySum([numbers[1]], noisy, i)];
        const [top, second] = [toNumber(a.value), toNumber(b.value)];
        const below = bottom(top, second);
        if (below <= 0) return { value: null, standardError: null, low: middle + within[0], high: middle + within[1] };
        const { value, low, high } = ratio({ ...query, top, bottom: below });
        const [first, other] = factorsAt(factors, value) as [number, number];
        const standardError = Math.hypot(first * a.deviation, other * b.deviation) / below;
        return { value: middle + value, standardError, low: middle + low, high: middle + high };
      });
    },
    expectedError: (noise) => {
      const [a, b] = [noiseOfTerms([numbers[0]], noise), noiseOfTerms([numbers[1]], noise)];
      const by = factorsAt(factors, widest);
      return expectedAnswerError(layout, 'propagated', {
        standardError: Math.hypot(by[0]! * a.deviation, by[1]! * b.deviation),
        halfWidth: sumOfNumbers([a.parts, b.parts], defaultAlpha).half(by),
        perRow: true,
      });
    },
  };
}
