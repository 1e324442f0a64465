import { multiply, rational, toNumber } from '../../exact/rational.js';
import { around, clip, foreseen, miss, noiseOf, noisySum, quotient, table } from '../answer.js';
import { numberAt } from '../grid.js';
import { valueName } from '../label.js';
import type { MeanQuery } from '../query.js';
import { type BoundQuery, cellsOfRows, rowsOf, type Scope } from '../scope.js';
import { centreOf, momentTerm } from './moment.js';

/** origin + (noisy sum of x - origin) / (noisy count); the middle of the bounds as origin keeps the sum's effect at the width of the bounds. */
export function bindMean(query: MeanQuery, scope: Scope): BoundQuery {
  const rows = rowsOf(scope.policy, query);
  const { grid, origin, reach } = centreOf(scope, query.column);
  const top = [momentTerm(scope, rows, grid, { power: 1, origin, shift: 0n })];
  const bottom = [scope.presentCount(rows, query.column)];
  const middle = toNumber(multiply(grid.unit, rational(origin)));
  const within = [toNumber(grid.low) - middle, toNumber(numberAt(grid, grid.last)) - middle] as const;
  const layout = { query, columns: [...(query.by ?? []), query.name ?? valueName(query)], cells: cellsOfRows(rows) };
  return {
    finish: (noisy) =>
      table(layout, 'propagated', (i) => {
        const sum = noisySum(top, noisy, i);
        const count = noisySum(bottom, noisy, i);
        const n = toNumber(count.value);
        const [low, high] = quotient(around(sum, miss / 2), around(count, miss / 2), within);
        if (n <= 0) return { value: null, standardError: null, low: middle + within[0], high: middle + within[1] };
        const ratio = clip(toNumber(sum.value) / n, ...within);
        const standardError = Math.hypot(sum.deviation, ratio * count.deviation) / n;
        return { value: middle + ratio, standardError, low: middle + low, high: middle + high };
      }),
    foresee: (noise) => {
      const sum = noiseOf(top, noise);
      const count = noiseOf(bottom, noise);
      const most = toNumber(multiply(grid.unit, rational(reach)));
      const standardError = Math.hypot(sum.deviation, most * count.deviation);
      return foreseen(layout, 'propagated', standardError, sum.half(miss / 2) + most * count.half(miss / 2), true);
    },
  };
}
