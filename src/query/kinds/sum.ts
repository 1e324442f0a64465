import * as z from 'zod';
import { multiply } from '../../base/exact/rational.js';
import { answerLayout, linearAnswer } from '../answer.js';
import { columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, selectionText, selectRows } from '../scope.js';
import { centredGrid, plainSum, sumTerm } from './moment.js';

const schema = z.strictObject({ kind: z.literal('sum'), column: columnNameForm, ...commonFields });
type SumQuery = z.output<typeof schema>;
const label = (q: SumQuery): string => `sum of ${q.column}`;

/** A sum is free where a mean or variance of the same rows is in the batch: sum = sum of (x - origin) + origin x count. */
function bind(query: SumQuery, scope: BindingScope): BoundQuery {
  const rows = selectRows(scope.policy, query);
  const about = selectionText(rows);
  const shared = scope.batch.some(
    (other) =>
      (other.kind === 'mean' || other.kind === 'variance') &&
      other.column === query.column &&
      selectionText(selectRows(scope.policy, other)) === about,
  );
  const layout = answerLayout(query, label(query), rows.cells);
  const centred = centredGrid(scope, query.column);
  if (!shared) return linearAnswer(layout, [plainSum(scope, rows, query.column)]);
  const count = scope.presentCount(rows, query.column);
  const terms = [sumTerm(scope, rows, centred)];
  if (centred.origin !== 0n) terms.push({ ...count, factor: multiply(count.factor, centred.middle) });
  return linearAnswer(layout, terms);
}

export const sumKind: QueryKind<typeof schema> = { schema, label, bind };
