import { numberNamed } from '../../count/domain.js';
import { gridOf } from '../../count/grid.js';
import { textOf } from '../../count/measure.js';
import { multiply, rational } from '../../exact/rational.js';
import { linearAnswer, type Term } from '../answer.js';
import { valueName } from '../label.js';
import type { SumQuery } from '../query.js';
import { type BoundQuery, cellsOfRows, rowsOf, type Scope } from '../scope.js';
import { centreOf, momentTerm } from './moment.js';

/** Beside a mean or variance of the same rows a sum is free: sum = sum of (x - origin) + origin x count. Alone it is measured as it is. */
export function bindSum(query: SumQuery, scope: Scope): BoundQuery {
  const rows = rowsOf(scope.policy, query);
  const about = textOf(rows);
  const shared = scope.batch.some(
    (other) =>
      (other.kind === 'mean' || other.kind === 'variance') &&
      other.column === query.column &&
      textOf(rowsOf(scope.policy, other)) === about,
  );
  const grid = gridOf(numberNamed(scope.policy, query.column));
  const terms: Term[] = [];
  if (shared) {
    const { origin } = centreOf(scope, query.column);
    const count = scope.presentCount(rows, query.column);
    terms.push(momentTerm(scope, rows, grid, { power: 1, origin, shift: 0n }));
    if (origin !== 0n) terms.push({ ...count, factor: multiply(count.factor, multiply(grid.unit, rational(origin))) });
  } else terms.push(momentTerm(scope, rows, grid, { power: 1, origin: 0n, shift: 0n }));
  const columns = [...(query.by ?? []), query.name ?? valueName(query)];
  return linearAnswer({ query, columns, cells: cellsOfRows(rows) }, terms);
}
