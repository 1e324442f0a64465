import * as z from 'zod';
import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import { gridNumber } from '../../policy/grid.js';
import { endsOfMean, ofMean } from '../../privacy/mechanism/quotient.js';
import { answerLayout } from '../answer.js';
import { columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, selectRows } from '../scope.js';
import { centredGrid, sumTerm } from './moment.js';
import { quotientAnswer } from './quotient.js';

const schema = z.strictObject({ kind: z.literal('mean'), column: columnNameForm, ...commonFields });
type MeanQuery = z.output<typeof schema>;
const label = (q: MeanQuery): string => `mean of ${q.column}`;

/** origin + (noisy sum of x - origin) / (noisy count); with the middle of the bounds as origin, the sum's sensitivity is their width. */
function bind(query: MeanQuery, scope: BindingScope): BoundQuery {
  const rows = selectRows(scope.policy, query);
  const centred = centredGrid(scope, query.column);
  const { grid, reach } = centred;
  const middle = toNumber(centred.middle);
  return quotientAnswer(answerLayout(query, label(query), rows.cells), {
    numbers: [sumTerm(scope, rows, centred), scope.presentCount(rows, query.column)],
    bottom: (_, count) => count,
    factors: ofMean,
    within: [toNumber(grid.low) - middle, toNumber(gridNumber(grid, grid.last)) - middle],
    ends: endsOfMean,
    middle,
    widest: toNumber(multiply(grid.unit, rational(reach))),
  });
}

export const meanKind: QueryKind<typeof schema> = { schema, label, bind };
