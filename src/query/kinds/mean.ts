import * as z from 'zod';
import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import { gridNumber } from '../../policy/grid.js';
import { sumOfNumbers } from '../../privacy/mechanism/noise-sum.js';
import { endsOfMean, factorsAt, ofMean, quotientIntervals } from '../../privacy/mechanism/quotient.js';
import { answerTable, defaultAlpha, distributionsOf, expectedAnswerError, noiseOfTerms, noisySum } from '../answer.js';
import { columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, selectRows } from '../scope.js';
import { centredGrid, momentTerm } from './moment.js';

const schema = z.strictObject({ kind: z.literal('mean'), column: columnNameForm, ...commonFields });
type MeanQuery = z.output<typeof schema>;
const label = (q: MeanQuery): string => `mean of ${q.column}`;

/** origin + (noisy sum of x - origin) / (noisy count); with the middle of the bounds as origin, the sum's sensitivity is their width. */
function bind(query: MeanQuery, scope: BindingScope): BoundQuery {
  const rows = selectRows(scope.policy, query);
  const { grid, origin, reach } = centredGrid(scope, query.column);
  const top = [momentTerm(scope, rows, grid, { power: 1, origin, shift: 0n })];
  const bottom = [scope.presentCount(rows, query.column)];
  const middle = toNumber(multiply(grid.unit, rational(origin)));
  const within = [toNumber(grid.low) - middle, toNumber(gridNumber(grid, grid.last)) - middle] as const;
  const layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), query.name ?? label(query)],
    cells: rows.cells,
  };
  return {
    finish: (noisy) => {
      const distributions = distributionsOf(noisy);
      const ratio = quotientIntervals(
        [noiseOfTerms(top, distributions).parts, noiseOfTerms(bottom, distributions).parts],
        defaultAlpha,
      );
      return answerTable(layout, 'propagated', (i) => {
        const sum = noisySum(top, noisy, i);
        const count = noisySum(bottom, noisy, i);
        const n = toNumber(count.value);
        if (n <= 0) return { value: null, standardError: null, low: middle + within[0], high: middle + within[1] };
        const { value, low, high } = ratio({ top: toNumber(sum.value), bottom: n, factors: ofMean, within, ends: endsOfMean });
        const standardError = Math.hypot(sum.deviation, value * count.deviation) / n;
        return { value: middle + value, standardError, low: middle + low, high: middle + high };
      });
    },
    expectedError: (noise) => {
      const sum = noiseOfTerms(top, noise);
      const count = noiseOfTerms(bottom, noise);
      const most = toNumber(multiply(grid.unit, rational(reach)));
      const standardError = Math.hypot(sum.deviation, most * count.deviation);
      return expectedAnswerError(
        layout,
        'propagated',
        standardError,
        sumOfNumbers([sum.parts, count.parts], defaultAlpha).half(factorsAt(ofMean, most)),
        true,
      );
    },
  };
}

export const meanKind: QueryKind<typeof schema> = { schema, label, bind };
