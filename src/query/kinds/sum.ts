import * as z from 'zod';
import { multiply, rational } from '../../base/exact/rational.js';
import { declaredNumber } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import { type LinearTerm, linearAnswer } from '../answer.js';
import { columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, selectionText, selectRows } from '../scope.js';
import { centredGrid, momentTerm } from './moment.js';

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
  const grid = gridOf(declaredNumber(scope.policy, query.column));
  const terms: LinearTerm[] = [];
  if (shared) {
    const { origin } = centredGrid(scope, query.column);
    const count = scope.presentCount(rows, query.column);
    terms.push(momentTerm(scope, rows, grid, { power: 1, origin, shift: 0n }));
    if (origin !== 0n) terms.push({ ...count, factor: multiply(count.factor, multiply(grid.unit, rational(origin))) });
  } else terms.push(momentTerm(scope, rows, grid, { power: 1, origin: 0n, shift: 0n }));
  const columns = [...(query.by ?? []), query.name ?? label(query)];
  return linearAnswer({ query, label: label(query), columns, cells: rows.cells }, terms);
}

export const sumKind: QueryKind<typeof schema> = { schema, label, bind };
