import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { one } from '../../base/exact/rational.js';
import { declaredColumn } from '../../policy/domain.js';
import type { Policy } from '../../policy/policy.js';
import { type LinearTerm, linearAnswer, sameCell } from '../answer.js';
import { presenceTest } from '../filter.js';
import { columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, type RowSelection, selectRows, withTests } from '../scope.js';

const schema = z.strictObject({ kind: z.literal('distinct'), column: columnNameForm, ...commonFields });
type DistinctQuery = z.output<typeof schema>;
const label = ({ column }: DistinctQuery): string => `different ${column}`;

const isUnit = ({ protect }: Policy, column: string): boolean => protect.unit === column;

/** Number of different values of a column, or of persons for the unit column: replacing a row changes either by at most 1. */
export function distinctTerm(scope: BindingScope, rows: RowSelection, column: string): LinearTerm {
  const { policy } = scope;
  if (rows.weight !== undefined)
    throw new Fault('QUERY_UNSUPPORTED', 'Different values are counted without weights.', 'Leave out "weight".');
  if (isUnit(policy, column))
    return { measure: scope.total(rows, { kind: 'distinct' }, one, `different ${column}`), factor: one, cells: sameCell };
  if (declaredColumn(policy, column).type === 'multi')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Column "${column}" names several options in a row, which are not counted as different values.`,
      'Ask a histogram of it: every option has its own count.',
    );
  const value = { kind: 'distinct', column } as const;
  const measure = scope.total(withTests(rows, presenceTest(column)), value, one, `different ${column}`);
  return { measure, factor: one, cells: sameCell };
}

function bind(query: DistinctQuery, scope: BindingScope): BoundQuery {
  const rows = selectRows(scope.policy, query);
  const columns = [...(query.by ?? []), query.name ?? label(query)];
  return linearAnswer({ query, label: label(query), columns, cells: rows.cells }, [distinctTerm(scope, rows, query.column)]);
}

export const distinctKind: QueryKind<typeof schema> = { schema, label, bind };
