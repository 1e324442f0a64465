import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { one } from '../../base/exact/rational.js';
import { declaredColumn } from '../../policy/domain.js';
import { answerLayout, type LinearTerm, linearAnswer, sameCell } from '../answer.js';
import type { RowValue } from '../count/measure.js';
import { presenceTest } from '../filter.js';
import { columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, type RowSelection, selectRows, withTests } from '../scope.js';

const schema = z.strictObject({ kind: z.literal('distinct'), column: columnNameForm, ...commonFields });
type DistinctQuery = z.output<typeof schema>;
const label = ({ column }: DistinctQuery): string => `different ${column}`;

/** Number of different values of a column, or of persons for the unit column: replacing a row changes either by at most 1. */
export function distinctTerm(scope: BindingScope, rows: RowSelection, column: string): LinearTerm {
  const { policy } = scope;
  if (rows.weight !== undefined)
    throw new Fault('QUERY_UNSUPPORTED', 'Different values are counted without weights.', 'Leave out "weight".');
  const term = (own: RowSelection, value: RowValue): LinearTerm => ({
    measure: scope.total(own, value, { grid: one, name: `different ${column}` }),
    factor: one,
    cells: sameCell,
  });
  if (policy.protect.unit === column) return term(rows, { kind: 'distinct' });
  if (declaredColumn(policy, column).type === 'multi')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Column "${column}" names several options in a row, which are not counted as different values.`,
      'Ask a histogram of it: every option has its own count.',
    );
  return term(withTests(rows, presenceTest(column)), { kind: 'distinct', column });
}

function bind(query: DistinctQuery, scope: BindingScope): BoundQuery {
  const rows = selectRows(scope.policy, query);
  return linearAnswer(answerLayout(query, label(query), rows.cells), [distinctTerm(scope, rows, query.column)]);
}

export const distinctKind: QueryKind<typeof schema> = { schema, label, bind };
