import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { declaredCategory, declaredColumn, isNumber } from '../../policy/domain.js';
import { unitsAt } from '../../policy/grid.js';
import type { LinearTerm } from '../answer.js';
import { presenceTest } from '../filter.js';
import { centredGrid, sidesKey, squareTerm, sumTerm } from '../kinds/moment.js';
import { type BindingScope, type RowSelection, withKey, withTests } from '../scope.js';
import { cubeSum } from './cubes.js';
import type { GroupTerms } from './group-means.js';

/** Groups of rows, cell by cell, as noisy numbers. */
export interface GroupedTerms {
  readonly group: (cell: number) => GroupTerms;
  /** Measure whose noise matters most. */
  readonly term: LinearTerm;
}
const cellTerm = (term: LinearTerm, cell: number): LinearTerm => ({ ...term, cells: () => term.cells(cell) });

/** The sum of squared weights, where rows have weights. */
function weightsOf(scope: BindingScope, rows: RowSelection): LinearTerm | undefined {
  const { weight } = rows;
  if (weight === undefined) return undefined;
  const name = `(${weight}) x (${weight})`;
  scope.derive(name, { op: '*', of: [weight, weight] });
  return scope.rowCount({ ...rows, weight: name });
}

/** Terms of the mean of a number. */
export function meanTerms(scope: BindingScope, rows: RowSelection, column: string): GroupedTerms {
  if (!isNumber(declaredColumn(scope.policy, column)))
    throw new Fault('QUERY_INVALID', `Column "${column}" is no number.`, 'Say which shares to compare: "values": ["yes"].');
  const centred = centredGrid(scope, column);
  const { grid, origin, reach } = centred;
  const [middle, lifted] = [toNumber(centred.middle), toNumber(centred.lifted)];
  const [sum, squares] = [sumTerm(scope, rows, centred), squareTerm(scope, rows, centred)];
  const count = scope.presentCount(rows, column);
  const weights = weightsOf(scope, withTests(rows, presenceTest(column)));
  const cubes = scope.policy.design && cubeSum(scope, rows, column);
  return {
    term: sum,
    group: (cell) => ({
      sum: cellTerm(sum, cell),
      count: cellTerm(count, cell),
      squares: { term: cellTerm(squares, cell), lifted },
      ...(cubes && { cubes: { term: cellTerm(cubes.term, cell), middle: cubes.middle - middle } }),
      ...(weights && { weights: cellTerm(weights, cell) }),
      middle,
      within: [toNumber(grid.unit) * Number(unitsAt(grid, 0) - origin), toNumber(grid.unit) * Number(reach)],
    }),
  };
}

/** Terms of the share of some values of a category. */
export function shareTerms(scope: BindingScope, rows: RowSelection, column: string, values: readonly string[]): GroupedTerms {
  const term = scope.rowCount(withKey(rows, sidesKey(declaredCategory(scope.policy, column), values)));
  const weights = weightsOf(scope, withTests(rows, presenceTest(column)));
  return {
    term,
    group: (cell) => ({
      sum: { ...term, cells: () => [2 * cell] },
      count: { ...term, cells: () => [2 * cell, 2 * cell + 1] },
      ...(weights && { weights: cellTerm(weights, cell) }),
      middle: 0,
      within: [0, 1],
    }),
  };
}
