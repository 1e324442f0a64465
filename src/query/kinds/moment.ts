import { multiply, type Rational, rational } from '../../base/exact/rational.js';
import { declaredNumber, declaredWeight } from '../../policy/domain.js';
import { gridOf, type NumberGrid, unitsAt } from '../../policy/grid.js';
import type { LinearTerm } from '../answer.js';
import { sameCell } from '../answer.js';
import { presenceTest } from '../filter.js';
import { type BindingScope, type BudgetWeight, type RowSelection, withTests } from '../scope.js';

/** Grid of a number, its middle (the origin that minimises the sensitivity of sums), and the distance to the ends, in units. */
export interface CentredGrid {
  readonly grid: NumberGrid;
  readonly origin: bigint;
  readonly reach: bigint;
}
export function centredGrid(scope: BindingScope, column: string): CentredGrid {
  const grid = gridOf(declaredNumber(scope.policy, column));
  const low = unitsAt(grid, 0);
  const high = unitsAt(grid, grid.last);
  const origin = low + (high - low) / 2n;
  return { grid, origin, reach: high - origin };
}

const weightUnit = (scope: BindingScope, rows: RowSelection): Rational =>
  rows.weight === undefined ? rational(1) : gridOf(declaredWeight(scope.policy, rows.weight)).unit;

/** Sum of (u - origin)^power - shift over the rows that have the number. */
export function momentTerm(
  scope: BindingScope,
  rows: RowSelection,
  grid: NumberGrid,
  { power, origin, shift }: { power: 1 | 2; origin: bigint; shift: bigint },
  sharing?: BudgetWeight,
): LinearTerm {
  const unit = power === 1 ? grid.unit : multiply(grid.unit, grid.unit);
  const factor = multiply(unit, weightUnit(scope, rows));
  const value = {
    kind: 'number',
    column: grid.column,
    power,
    origin,
    shift,
    ...(rows.weight !== undefined && { weight: rows.weight }),
  } as const;
  const name = `sum of ${grid.column}${power === 2 ? ' squared' : ''}${rows.weight === undefined ? '' : ', weighted'}`;
  return {
    measure: scope.total(withTests(rows, presenceTest(grid.column)), value, factor, name, sharing),
    factor,
    cells: sameCell,
  };
}
