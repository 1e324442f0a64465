import { multiply, type Rational, rational } from '../../base/exact/rational.js';
import { numberNamed, weightNamed } from '../../policy/domain.js';
import { type Grid, gridOf, unitsAt } from '../../policy/grid.js';
import type { Term } from '../answer.js';
import { sameCell } from '../answer.js';
import { present } from '../filter.js';
import { only, type Rows, type Scope, type Sharing } from '../scope.js';

/** Grid of a number, its middle (the origin that minimises the sensitivity of sums), and the distance to the ends, in units. */
export interface Centre {
  readonly grid: Grid;
  readonly origin: bigint;
  readonly reach: bigint;
}
export function centreOf(scope: Scope, column: string): Centre {
  const grid = gridOf(numberNamed(scope.policy, column));
  const low = unitsAt(grid, 0);
  const high = unitsAt(grid, grid.last);
  const origin = low + (high - low) / 2n;
  return { grid, origin, reach: high - origin };
}

const weightUnit = (scope: Scope, rows: Rows): Rational =>
  rows.weight === undefined ? rational(1) : gridOf(weightNamed(scope.policy, rows.weight)).unit;

/** Sum of (u - origin)^power - shift over the rows that have the number. */
export function momentTerm(
  scope: Scope,
  rows: Rows,
  grid: Grid,
  { power, origin, shift }: { power: 1 | 2; origin: bigint; shift: bigint },
  sharing?: Sharing,
): Term {
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
  return { measure: scope.total(only(rows, present(grid.column)), value, factor, name, sharing), factor, cells: sameCell };
}
