import * as z from 'zod';
import { declaredCoded } from '../../policy/domain.js';
import { endsOfShare, ofShare } from '../../privacy/mechanism/quotient.js';
import { answerLayout } from '../answer.js';
import { boundedList, codeForm, columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, selectRows, withKey } from '../scope.js';
import { sidesKey } from './moment.js';
import { quotientAnswer } from './quotient.js';

const schema = z.strictObject({
  kind: z.literal('share'),
  column: columnNameForm,
  values: boundedList(codeForm, 'literals'),
  ...commonFields,
});
type ShareQuery = z.output<typeof schema>;
const label = (q: ShareQuery): string => `share of ${q.column} ${q.values.join(' or ')}`;

const ends = endsOfShare(1, 2);

/** Two counts, rows with one of the values and answered rows without: cheaper than a part and its whole. */
function bind(query: ShareQuery, scope: BindingScope): BoundQuery {
  const sides = sidesKey(declaredCoded(scope.policy, query.column), query.values);
  const rows = selectRows(scope.policy, query);
  const term = scope.rowCount(withKey(rows, sides));
  return quotientAnswer(answerLayout(query, label(query), rows.cells), {
    numbers: [
      { ...term, cells: (i) => [2 * i] },
      { ...term, cells: (i) => [2 * i + 1] },
    ],
    bottom: (inside, outside) => inside + outside,
    factors: ofShare,
    within: [0, 1],
    ends,
    middle: 0,
    // The half width is a norm of the factors, so it is largest at an end of the range.
    widest: 1,
  });
}

export const shareKind: QueryKind<typeof schema> = { schema, label, bind };
