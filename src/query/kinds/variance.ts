import * as z from 'zod';
import { toNumber } from '../../base/exact/rational.js';
import { spreadDeviation, sumOfNumbers } from '../../privacy/mechanism/noise-sum.js';
import {
  type AnswerValues,
  answerLayout,
  answerTable,
  defaultAlpha,
  distributionsOf,
  expectedAnswerError,
  noiseOfTerms,
  noisySum,
} from '../answer.js';
import { columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, selectRows } from '../scope.js';
import { confidenceInterval, isLaplace, type PerturbedValue } from '../statistics/confidence-interval.js';
import { centredGrid, squareTerm, sumTerm } from './moment.js';

const schema = z.strictObject({
  kind: z.literal('variance'),
  column: columnNameForm,
  /** Divide by n (population) instead of n - 1. */
  population: z.boolean().optional(),
  /** The standard deviation: its root. */
  root: z.boolean().optional(),
  ...commonFields,
});
type VarianceQuery = z.output<typeof schema>;
const label = (q: VarianceQuery): string => `${q.root ? 'standard deviation' : 'variance'} of ${q.column}`;

/** From three power sums: squares (less half their largest, so that they too are centred), numbers, count. */
function bind(query: VarianceQuery, scope: BindingScope): BoundQuery {
  const rows = selectRows(scope.policy, query);
  const centred = centredGrid(scope, query.column);
  const squares = [squareTerm(scope, rows, centred)];
  const numbers = [sumTerm(scope, rows, centred)];
  const bottom = [scope.presentCount(rows, query.column)];
  const most = Number(centred.reach) * toNumber(centred.grid.unit);
  const largest = most * most;
  const middle = toNumber(centred.lifted);
  const layout = answerLayout(query, label(query), rows.cells);
  // n - 1 is for counts of rows; weights do not give the number of rows.
  const less = query.population || query.weight !== undefined ? 0 : 1;
  // n / (n - 1) is at most 2.
  const ceiling = (mean: number) => (1 + less) * (largest - mean * mean);
  const whole = { value: null, standardError: null, low: 0, high: ceiling(0) };
  // The root is monotone, so the interval of the deviation covers exactly as often as that of the variance.
  const onScale = (row: IntervalFields): IntervalFields => (query.root ? rooted(row) : row);
  const factors = (mean: number, v: number) => [1, -2 * mean, middle + mean * mean - v];
  return {
    finish: (noisy) => {
      const distributions = distributionsOf(noisy);
      const parts = [squares, numbers, bottom].map((terms) => noiseOfTerms(terms, distributions).parts[0]!);
      // Width of continuous noise that is at least as wide as the discrete noise (privacy/mechanism/noise-sum.proof.md, 2).
      const wide = parts.map(({ factor, noise }) => factor * spreadDeviation(noise));
      const laplace = (k: number) => isLaplace(parts[k]!.noise);
      return answerTable(layout, 'propagated', (i) => {
        const [square, number, count] = [squares, numbers, bottom].map((terms) => noisySum(terms, noisy, i));
        const [s, t, n] = [square!, number!, count!].map(({ value }) => toNumber(value)) as [number, number, number];
        if (n <= less) return onScale(whole);
        const of: PerturbedValue = ([a, b, c]) => {
          const [squared, total, rows] = [s + wide[0]! * a!, t + wide[1]! * b!, n + wide[2]! * c!];
          if (!(rows > less)) return undefined;
          const mean = total / rows;
          const v = (squared + middle * rows - mean * total) / (rows - less);
          return { value: v, slopes: Float64Array.from(factors(mean, v), (by, k) => (wide[k]! * by) / (rows - less)) };
        };
        const reached = confidenceInterval(of, wide.length, laplace)!;
        const m = clip(t / n, -most, most);
        const value = clip((s + middle * n - 2 * m * t + m * m * n) / (n - less), 0, ceiling(m));
        const standardError =
          Math.hypot(square!.deviation, 2 * m * number!.deviation, (middle + m * m - value) * count!.deviation) / (n - less);
        const end = (at: number | null, none: number) => (at === null ? none : clip(at, 0, whole.high));
        const [low, high] = [end(reached.low, 0), end(reached.high, whole.high)];
        return onScale({ value, standardError, low: Math.min(low, value), high: Math.max(high, value) });
      });
    },
    expectedError: (noise) => {
      const [square, number, count] = [squares, numbers, bottom].map((terms) => noiseOfTerms(terms, noise));
      // Every factor is largest where all numbers are at one bound.
      const [, perNumber, perCount] = factors(most, 0);
      // The derivative of a root at a deviation of half the reach.
      const steep = query.root ? 1 / most : 1;
      return expectedAnswerError(layout, 'propagated', {
        standardError: steep * Math.hypot(square!.deviation, perNumber! * number!.deviation, perCount! * count!.deviation),
        halfWidth: steep * sumOfNumbers([square!.parts, number!.parts, count!.parts], defaultAlpha).half(factors(most, 0)),
        perRow: true,
      });
    },
  };
}

type IntervalFields = Pick<AnswerValues, 'value' | 'standardError' | 'low' | 'high'>;
const rooted = ({ value, standardError, low, high }: IntervalFields): IntervalFields => ({
  value: value === null ? null : Math.sqrt(value),
  standardError:
    value === null || standardError === null ? null : Math.min(Math.sqrt(standardError), standardError / (2 * Math.sqrt(value))),
  low: low === null ? null : Math.sqrt(low),
  high: high === null ? null : Math.sqrt(high),
});
const clip = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));

export const varianceKind: QueryKind<typeof schema> = { schema, label, bind };
