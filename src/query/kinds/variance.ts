import { multiply, rational, toNumber } from '../../exact/rational.js';
import { around, clip, foreseen, miss, noiseOf, noisySum, quotient, table } from '../answer.js';
import { valueName } from '../label.js';
import type { VarianceQuery } from '../query.js';
import { type BoundQuery, cellsOfRows, rowsOf, type Scope } from '../scope.js';
import { centreOf, momentTerm } from './moment.js';

/** From three power sums: squares (less half their largest, so that they too are centred), numbers, count. */
export function bindVariance(query: VarianceQuery, scope: Scope): BoundQuery {
  const rows = rowsOf(scope.policy, query);
  const { grid, origin, reach } = centreOf(scope, query.column);
  const shift = (reach * reach) / 2n;
  const squares = [momentTerm(scope, rows, grid, { power: 2, origin, shift })];
  const numbers = [momentTerm(scope, rows, grid, { power: 1, origin, shift: 0n })];
  const bottom = [scope.presentCount(rows, query.column)];
  const unit = toNumber(grid.unit);
  const most = Number(reach) * unit;
  const middle = toNumber(multiply(multiply(grid.unit, grid.unit), rational(shift)));
  const layout = { query, columns: [...(query.by ?? []), query.name ?? valueName(query)], cells: cellsOfRows(rows) };
  const largest = most * most;
  const whole = { value: null, standardError: null, low: 0, high: largest };
  return {
    finish: (noisy) =>
      table(layout, 'propagated', (i) => {
        const square = noisySum(squares, noisy, i);
        const number = noisySum(numbers, noisy, i);
        const count = noisySum(bottom, noisy, i);
        const n = toNumber(count.value);
        // n/(n-1) is for counts of rows; weights do not say how many rows there are.
        const correction = query.population || query.weight !== undefined ? 1 : n / (n - 1);
        if (n <= 1) return whole;
        const mean = clip(toNumber(number.value) / n, -most, most);
        const meanSquare = clip(toNumber(square.value) / n, -middle, largest - middle);
        const value = clip((meanSquare + middle - mean * mean) * correction, 0, largest);
        const standardError =
          (correction / n) *
          Math.hypot(square.deviation, 2 * mean * number.deviation, (2 * mean * mean - meanSquare) * count.deviation);
        const within = around(count, miss / 3);
        const [squareLow, squareHigh] = quotient(around(square, miss / 3), within, [-middle, largest - middle]);
        const [meanLow, meanHigh] = quotient(around(number, miss / 3), within, [-most, most]);
        const farthest = Math.max(meanLow ** 2, meanHigh ** 2);
        const closest = meanLow <= 0 && meanHigh >= 0 ? 0 : Math.min(meanLow ** 2, meanHigh ** 2);
        return {
          value,
          standardError,
          low: clip((squareLow + middle - farthest) * correction, 0, largest),
          high: clip((squareHigh + middle - closest) * correction, 0, largest),
        };
      }),
    foresee: (noise) => {
      const [square, number, count] = [squares, numbers, bottom].map((terms) => noiseOf(terms, noise));
      const perCount = middle + 2 * largest;
      return foreseen(
        layout,
        'propagated',
        Math.hypot(square!.deviation, 2 * most * number!.deviation, perCount * count!.deviation),
        square!.half(miss / 3) + 2 * most * number!.half(miss / 3) + perCount * count!.half(miss / 3),
        true,
      );
    },
  };
}
