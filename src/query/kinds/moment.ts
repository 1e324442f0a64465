import { multiply, type Rational, rational } from '../../base/exact/rational.js';
import { codesOf } from '../../policy/code.js';
import { declaredCode, declaredNumber, declaredWeight } from '../../policy/domain.js';
import { gridOf, type NumberGrid, unitsAt } from '../../policy/grid.js';
import type { CategoryColumn, MultiColumn } from '../../policy/policy.js';
import { type LinearTerm, sameCell } from '../answer.js';
import { codeKey } from '../count/measure.js';
import { presenceTest } from '../filter.js';
import type { LabelledKey } from '../keys.js';
import { type BindingScope, type BudgetWeight, type RowSelection, withTests } from '../scope.js';

/** Grid of a number, its middle (the origin that minimises the sensitivity of sums), and the distance to the ends, in units. */
export interface CentredGrid {
  readonly grid: NumberGrid;
  readonly origin: bigint;
  readonly reach: bigint;
  /** The origin as a number. */
  readonly middle: Rational;
  /** Half the largest square, by which squares are centred, in units and as a number. */
  readonly shift: bigint;
  readonly lifted: Rational;
}
export function centredGrid(scope: BindingScope, column: string): CentredGrid {
  const grid = gridOf(declaredNumber(scope.policy, column));
  const low = unitsAt(grid, 0);
  const high = unitsAt(grid, grid.last);
  const origin = low + (high - low) / 2n;
  const reach = high - origin;
  const shift = (reach * reach) / 2n;
  const lifted = multiply(multiply(grid.unit, grid.unit), rational(shift));
  return { grid, origin, reach, middle: multiply(grid.unit, rational(origin)), shift, lifted };
}

/** Sum of a number about an origin over the rows that have it. */
export const sumTerm = (
  scope: BindingScope,
  rows: RowSelection,
  { grid, origin }: Pick<CentredGrid, 'grid' | 'origin'>,
  sharing?: BudgetWeight,
): LinearTerm => momentTerm(scope, rows, { grid, power: 1, origin, shift: 0n, sharing });
/** Sum of the squares about the middle, each less `lifted`. */
export const squareTerm = (scope: BindingScope, rows: RowSelection, { grid, origin, shift }: CentredGrid): LinearTerm =>
  momentTerm(scope, rows, { grid, power: 2, origin, shift });
/** Sum of a number as it is. */
export const plainSum = (scope: BindingScope, rows: RowSelection, column: string, sharing?: BudgetWeight): LinearTerm =>
  sumTerm(scope, rows, { grid: gridOf(declaredNumber(scope.policy, column)), origin: 0n }, sharing);

interface Moment extends Pick<CentredGrid, 'grid' | 'origin' | 'shift'> {
  readonly power: 1 | 2;
  readonly sharing?: BudgetWeight | undefined;
}
/** Sum of (u - origin)^power - shift over the rows that have the number. */
function momentTerm(scope: BindingScope, rows: RowSelection, { grid, power, origin, shift, sharing }: Moment): LinearTerm {
  const { weight } = rows;
  const unit = power === 1 ? grid.unit : multiply(grid.unit, grid.unit);
  const factor = weight === undefined ? unit : multiply(unit, gridOf(declaredWeight(scope.policy, weight)).unit);
  const { column } = grid;
  const value = { kind: 'number', column, power, origin, shift, ...(weight !== undefined && { weight }) } as const;
  const name = `sum of ${column}${power === 2 ? ' squared' : ''}${weight === undefined ? '' : ', weighted'}`;
  const measure = scope.total(withTests(rows, presenceTest(column)), value, { grid: factor, name, ...sharing });
  return { measure, factor, cells: sameCell };
}

/** Two positions: rows with one of the values, and answered rows without. */
export function sidesKey(column: CategoryColumn | MultiColumn, values: readonly string[]): LabelledKey {
  const named = new Set(values.map((value) => declaredCode(column, value)));
  const codes = codesOf(column);
  const sides = [codes.filter((code) => named.has(code)), codes.filter((code) => !named.has(code))];
  return { key: codeKey(column.name, sides), labels: ['in', 'not in'] };
}
