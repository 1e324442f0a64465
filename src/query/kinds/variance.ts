import * as z from 'zod';
import { multiply, rational, toNumber } from '../../exact/rational.js';
import { sumOfNumbers } from '../../mechanism/law-sum.js';
import { farthest, ofMean, quotients } from '../../mechanism/ratio.js';
import { foreseen, lawsOf, miss, noiseOf, noisySum, table } from '../answer.js';
import type { AnswerRow } from '../bound.js';
import { asked, columnName } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BoundQuery, rowsOf, type Scope } from '../scope.js';
import { centreOf, momentTerm } from './moment.js';

const schema = z.strictObject({
  kind: z.literal('variance'),
  column: columnName,
  /** Divide by n (population) instead of n - 1. */ population: z.boolean().optional(),
  /** The standard deviation: its root. */ root: z.boolean().optional(),
  ...asked,
});
type VarianceQuery = z.output<typeof schema>;
const label = (q: VarianceQuery): string => `${q.root ? 'standard deviation' : 'variance'} of ${q.column}`;

/** How often the range of the mean may miss it; the rest of the miss is the variance's own (mechanism/ratio.proof.md, 5). */
const meanMiss = 0.005;
/** The mean is tried at the ends of its range and at so many places between. */
const places = 7;

/** From three power sums: squares (less half their largest, so that they too are centred), numbers, count. */
function bind(query: VarianceQuery, scope: Scope): BoundQuery {
  const rows = rowsOf(scope.policy, query);
  const { grid, origin, reach } = centreOf(scope, query.column);
  const shift = (reach * reach) / 2n;
  const squares = [momentTerm(scope, rows, grid, { power: 2, origin, shift })];
  const numbers = [momentTerm(scope, rows, grid, { power: 1, origin, shift: 0n })];
  const bottom = [scope.presentCount(rows, query.column)];
  const unit = toNumber(grid.unit);
  const most = Number(reach) * unit;
  const largest = most * most;
  const middle = toNumber(multiply(multiply(grid.unit, grid.unit), rational(shift)));
  const layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), query.name ?? label(query)],
    cells: rows.cells,
  };
  // Dividing by n - 1 is for counts of rows; weights do not say how many rows there are.
  const less = query.population || query.weight !== undefined ? 0 : 1;
  // n / (n - 1) is at most 2.
  const ceiling = (mean: number) => (1 + less) * (largest - mean * mean);
  const whole = { value: null, standardError: null, low: 0, high: ceiling(0) };
  // A root rises with what is under it, so its interval holds the true one exactly as often.
  const told = (row: Told): Told => (query.root ? rooted(row) : row);
  const factors = (mean: number, v: number) => [1, 2 * mean, middle + mean * mean - v];
  return {
    finish: (noisy) => {
      const laws = lawsOf(noisy);
      const parts = [squares, numbers, bottom].map((terms) => noiseOf(terms, laws).parts);
      const meanOf = quotients([parts[1]!, parts[2]!], meanMiss);
      const sum = sumOfNumbers(parts, miss - meanMiss);
      return table(layout, 'propagated', (i) => {
        const [square, number, count] = [squares, numbers, bottom].map((terms) => noisySum(terms, noisy, i));
        const [s, t, n] = [square!, number!, count!].map(({ value }) => toNumber(value)) as [number, number, number];
        if (n <= less) return told(whole);
        const mean = meanOf({ top: t, bottom: n, factors: ofMean, within: [-most, most] });
        /** The variance if the mean were m. */
        const at = (m: number, top: number) => clip((s + middle * n - 2 * m * t + m * m * n) / (n - less), 0, top);
        const value = at(mean.value, ceiling(mean.value));
        const top = ceiling(clip(0, mean.low, mean.high));
        let [low, high] = [value, value];
        // The ends first: what they reach the others seldom pass.
        for (const m of [mean.low, mean.high, mean.value, ...between(mean.low, mean.high)]) {
          const own = at(m, top);
          const beyond = (v: number) => sum.beyond(factors(m, v), Math.abs(own - v) * (n - less));
          if (own <= low || beyond(low) <= 0) low = farthest(Math.min(own, low), 0, beyond);
          if (own >= high || beyond(high) <= 0) high = farthest(Math.max(own, high), top, beyond);
        }
        const { value: m } = mean;
        const standardError =
          Math.hypot(square!.deviation, 2 * m * number!.deviation, (middle + m * m - value) * count!.deviation) / (n - less);
        return told({ value, standardError, low, high });
      });
    },
    foresee: (noise) => {
      const [square, number, count] = [squares, numbers, bottom].map((terms) => noiseOf(terms, noise));
      // Every factor is largest where the numbers all lie at one bound.
      const [, perNumber, perCount] = factors(most, 0);
      // A root moves by half as much for each unit of itself: told for a deviation of half the reach.
      const steep = query.root ? 1 / most : 1;
      return foreseen(
        layout,
        'propagated',
        steep * Math.hypot(square!.deviation, perNumber! * number!.deviation, perCount! * count!.deviation),
        steep * sumOfNumbers([square!.parts, number!.parts, count!.parts], miss - meanMiss).half(factors(most, 0)),
        true,
      );
    },
  };
}

type Told = Pick<AnswerRow, 'value' | 'standardError' | 'low' | 'high'>;
const rooted = ({ value, standardError, low, high }: Told): Told => ({
  value: value === null ? null : Math.sqrt(value),
  standardError:
    value === null || standardError === null ? null : Math.min(Math.sqrt(standardError), standardError / (2 * Math.sqrt(value))),
  low: low === null ? null : Math.sqrt(low),
  high: high === null ? null : Math.sqrt(high),
});
const clip = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));
const between = (low: number, high: number): number[] =>
  Array.from({ length: places }, (_, k) => low + ((high - low) * (k + 1)) / (places + 1));

export const variance: QueryKind<typeof schema> = { schema, label, bind };
