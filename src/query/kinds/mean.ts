import { multiply, rational, toNumber } from '../../exact/rational.js';
import { clip, foreseen, miss, noiseOf, noisySum, table } from '../answer.js';
import { numberAt } from '../grid.js';
import { valueName } from '../label.js';
import { combinedHalfWidth } from '../noise-law.js';
import type { MeanQuery } from '../query.js';
import { ratioInterval } from '../ratio.js';
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
    finish: (noisy) => {
      const laws = noisy.map(({ noise }) => noise);
      const noises = [noiseOf(top, laws).parts, noiseOf(bottom, laws).parts] as const;
      const interval = ratioInterval(noises, (r) => [1, -r], within, miss);
      return table(layout, 'propagated', (i) => {
        const sum = noisySum(top, noisy, i);
        const count = noisySum(bottom, noisy, i);
        const [s, n] = [toNumber(sum.value), toNumber(count.value)];
        if (n <= 0) return { value: null, standardError: null, low: middle + within[0], high: middle + within[1] };
        const ratio = clip(s / n, ...within);
        const [low, high] = interval(s, n);
        const standardError = Math.hypot(sum.deviation, ratio * count.deviation) / n;
        return { value: middle + ratio, standardError, low: middle + low, high: middle + high };
      });
    },
    foresee: (noise) => {
      const sum = noiseOf(top, noise);
      const count = noiseOf(bottom, noise);
      const most = toNumber(multiply(grid.unit, rational(reach)));
      const standardError = Math.hypot(sum.deviation, most * count.deviation);
      const worst = count.parts.map((part) => ({ ...part, factor: part.factor * most }));
      return foreseen(layout, 'propagated', standardError, combinedHalfWidth([...sum.parts, ...worst], miss), true);
    },
  };
}
