import { Fault } from '../../base/errors.js';
import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import { codesOf } from '../../policy/code.js';
import { categoryNamed, columnNamed, declaredCode, isNumber } from '../../policy/domain.js';
import { unitsAt } from '../../policy/grid.js';
import type { Term } from '../answer.js';
import type { RowKey } from '../count/measure.js';
import { present } from '../filter.js';
import { centreOf, momentTerm } from '../kinds/moment.js';
import { furtherBy, only, type Rows, type Scope } from '../scope.js';
import { cubesOf } from './cubes.js';
import type { Group } from './group-means.js';

/** Groups of rows, cell by cell, as noisy numbers. */
export interface GroupsRead {
  readonly group: (cell: number) => Group;
  /** Measure whose noise matters most. */
  readonly term: Term;
}
const at = (term: Term, cell: number): Term => ({ ...term, cells: () => [cell] });
const own = (term: Term, cell: number): Term => ({ ...term, cells: () => term.cells(cell) });

/** The sum of squared weights, where rows have weights. */
function weightsOf(scope: Scope, rows: Rows): Term | undefined {
  const { weight } = rows;
  if (weight === undefined) return undefined;
  const name = `(${weight}) x (${weight})`;
  scope.derive(name, { op: '*', of: [weight, weight] });
  return scope.rowCount({ ...rows, weight: name });
}

/** Terms of the mean of a number. */
export function meansOf(scope: Scope, rows: Rows, column: string): GroupsRead {
  if (!isNumber(columnNamed(scope.policy, column)))
    throw new Fault('QUERY_INVALID', `Column "${column}" is no number.`, 'Say which shares to compare: "values": ["yes"].');
  const { grid, origin, reach } = centreOf(scope, column);
  const shift = (reach * reach) / 2n;
  const lifted = toNumber(multiply(multiply(grid.unit, grid.unit), rational(shift)));
  const [sum, squares, count] = [
    momentTerm(scope, rows, grid, { power: 1, origin, shift: 0n }),
    momentTerm(scope, rows, grid, { power: 2, origin, shift }),
    scope.presentCount(rows, column),
  ];
  const weights = weightsOf(scope, only(rows, present(column)));
  const cubes = scope.policy.design && cubesOf(scope, rows, column);
  const middle = toNumber(multiply(grid.unit, rational(origin)));
  return {
    term: sum,
    group: (cell) => ({
      sum: own(sum, cell),
      count: own(count, cell),
      squares: { term: own(squares, cell), lifted },
      ...(cubes && { cubes: { term: own(cubes.term, cell), middle: cubes.middle - middle } }),
      ...(weights && { weights: own(weights, cell) }),
      middle,
      within: [toNumber(grid.unit) * Number(unitsAt(grid, 0) - origin), toNumber(grid.unit) * Number(reach)],
    }),
  };
}

/** Terms of the share of some values of a category. */
export function sharesOf(scope: Scope, rows: Rows, column: string, values: readonly string[]): GroupsRead {
  const declared = categoryNamed(scope.policy, column);
  const named = new Set(values.map((value) => declaredCode(declared, value)));
  const codes = codesOf(declared);
  const sides = [codes.filter((c) => named.has(c)), codes.filter((c) => !named.has(c))];
  const key: RowKey = { kind: 'code', column, groups: sides, missing: 'drop', size: 2 };
  const term = scope.rowCount(furtherBy(rows, { key, labels: ['in', 'not in'] }));
  const weights = weightsOf(scope, only(rows, present(column)));
  return {
    term,
    group: (cell) => ({
      sum: at(term, 2 * cell),
      count: { ...term, cells: () => [2 * cell, 2 * cell + 1] },
      ...(weights && { weights: own(weights, cell) }),
      middle: 0,
      within: [0, 1],
    }),
  };
}
