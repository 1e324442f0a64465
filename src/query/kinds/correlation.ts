import * as z from 'zod';
import { declaredNumber } from '../../policy/domain.js';
import { answerLayout, answerTable, expectedAnswerError } from '../answer.js';
import type { AnswerRow } from '../bound.js';
import { boundedList, columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { varianceFactor } from '../sampling.js';
import { type BindingScope, type BoundQuery, selectRows } from '../scope.js';
import { correlationEstimate, nearestCorrelations } from '../statistics/correlation.js';
import { momentsOf } from '../statistics/moments.js';

const schema = z.strictObject({
  kind: z.literal('correlation'),
  /** Two numbers or more. */
  columns: boundedList(columnNameForm, 'keys').refine((columns) => columns.length >= 2, 'two columns or more'),
  ...commonFields,
});
type CorrelationQuery = z.output<typeof schema>;
const label = ({ columns }: CorrelationQuery): string => `correlation of ${columns.join(', ')}`;

/** Correlations of every two columns among rows that have all of them, from noisy sums of products (../statistics/moments.proof.md). */
function bind(query: CorrelationQuery, scope: BindingScope): BoundQuery {
  for (const name of query.columns) declaredNumber(scope.policy, name);
  const rows = selectRows(scope.policy, query);
  const moments = momentsOf(scope, rows, query.columns);
  const pairs = query.columns.flatMap((_, j) => query.columns.slice(0, j).map((__, i) => [i + 1, j + 1] as const));
  pairs.sort(([a, b], [c, d]) => a - c || b - d);
  const cells = rows.cells.flatMap((keys) => pairs.map(([i, j]) => [...keys, query.columns[i - 1]!, query.columns[j - 1]!]));
  const layout = answerLayout(query, label(query), cells, ['column', 'with', query.name ?? 'correlation']);
  return {
    finish: (noisy) => {
      const groups = rows.cells.map((_, group) => {
        const read = moments.at(noisy, group);
        const people = read.matrix[0]![0]!;
        const factor = query.weight === undefined ? varianceFactor(scope.policy, people) : undefined;
        const estimates = pairs.map(([i, j]) => correlationEstimate(read, i, j, factor));
        const raw = estimates.map(({ value }) => value);
        return { estimates, ...nearestCorrelations(query.columns.length, pairs, raw) };
      });
      const made = answerTable(layout, 'propagated', (k): Omit<AnswerRow, 'keys'> => {
        const { estimates, values } = groups[Math.floor(k / pairs.length)]!;
        return answerValues(estimates[k % pairs.length]!, values[k % pairs.length]!);
      });
      const mended = groups.filter(({ moved }) => moved).length;
      return mended === 0
        ? made
        : {
            ...made,
            note: 'The noise left correlations that no columns can have together: those told are the nearest that can be, and the intervals hold them.',
          };
    },
    expectedError: (noise) => {
      // As if both numbers were uniform over their bounds: the variance is a third of the squared half width.
      const errors = pairs.map(([i, j]) => moments.spread(i, j, noise));
      const widest = errors.reduce((most, next) => (next.half > most.half ? next : most));
      const size = { standardError: 3 * widest.deviation, halfWidth: 3 * widest.half, perRow: true };
      return expectedAnswerError(layout, 'propagated', size);
    },
  };
}

function answerValues(estimates: ReturnType<typeof correlationEstimate>, value: number | null): Omit<AnswerRow, 'keys'> {
  if (value === null) return { value: null, standardError: null, low: -1, high: 1 };
  const { standardError, low, high, withSampling } = estimates;
  const around = (ends: { readonly low: number; readonly high: number }) => ({
    low: Math.min(ends.low, value),
    high: Math.max(ends.high, value),
  });
  return {
    value,
    standardError,
    ...around({ low, high }),
    ...(withSampling && { withSampling: { ...withSampling, ...around(withSampling) } }),
  };
}

export const correlationKind: QueryKind<typeof schema> = { schema, label, bind };
