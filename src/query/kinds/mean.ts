import * as z from 'zod';
import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import { numberAt } from '../../policy/grid.js';
import { sumOfNumbers } from '../../privacy/mechanism/law-sum.js';
import { endsOfMean, factorsAt, ofMean, quotients } from '../../privacy/mechanism/ratio.js';
import { foreseen, lawsOf, miss, noiseOf, noisySum, table } from '../answer.js';
import { asked, columnName } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BoundQuery, rowsOf, type Scope } from '../scope.js';
import { centreOf, momentTerm } from './moment.js';

const schema = z.strictObject({ kind: z.literal('mean'), column: columnName, ...asked });
type MeanQuery = z.output<typeof schema>;
const label = (q: MeanQuery): string => `mean of ${q.column}`;

/** origin + (noisy sum of x - origin) / (noisy count); with the middle of the bounds as origin, the sum's sensitivity is their width. */
function bind(query: MeanQuery, scope: Scope): BoundQuery {
  const rows = rowsOf(scope.policy, query);
  const { grid, origin, reach } = centreOf(scope, query.column);
  const top = [momentTerm(scope, rows, grid, { power: 1, origin, shift: 0n })];
  const bottom = [scope.presentCount(rows, query.column)];
  const middle = toNumber(multiply(grid.unit, rational(origin)));
  const within = [toNumber(grid.low) - middle, toNumber(numberAt(grid, grid.last)) - middle] as const;
  const layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), query.name ?? label(query)],
    cells: rows.cells,
  };
  return {
    finish: (noisy) => {
      const laws = lawsOf(noisy);
      const ratio = quotients([noiseOf(top, laws).parts, noiseOf(bottom, laws).parts], miss);
      return table(layout, 'propagated', (i) => {
        const sum = noisySum(top, noisy, i);
        const count = noisySum(bottom, noisy, i);
        const n = toNumber(count.value);
        if (n <= 0) return { value: null, standardError: null, low: middle + within[0], high: middle + within[1] };
        const { value, low, high } = ratio({ top: toNumber(sum.value), bottom: n, factors: ofMean, within, ends: endsOfMean });
        const standardError = Math.hypot(sum.deviation, value * count.deviation) / n;
        return { value: middle + value, standardError, low: middle + low, high: middle + high };
      });
    },
    foresee: (noise) => {
      const sum = noiseOf(top, noise);
      const count = noiseOf(bottom, noise);
      const most = toNumber(multiply(grid.unit, rational(reach)));
      const standardError = Math.hypot(sum.deviation, most * count.deviation);
      return foreseen(
        layout,
        'propagated',
        standardError,
        sumOfNumbers([sum.parts, count.parts], miss).half(factorsAt(ofMean, most)),
        true,
      );
    },
  };
}

export const mean: QueryKind<typeof schema> = { schema, label, bind };
