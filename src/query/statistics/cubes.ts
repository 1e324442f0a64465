import { Fault } from '../../base/errors.js';
import { add, divide, multiply, rational, toNumber } from '../../base/exact/rational.js';
import { declaredNumber } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import type { LinearTerm } from '../answer.js';
import type { Expression } from '../form.js';
import { plainSum } from '../kinds/moment.js';
import type { BindingScope, RowSelection } from '../scope.js';

/** The sum of the cubes of a number less `middle`. */
export interface CubeSum {
  readonly term: LinearTerm;
  readonly middle: number;
}

/** Number of classes, each read as its middle; more are not needed for the skewness. */
const classes = 256;
/** Budget weight of the cubes, in cells: they only determine how certain a mean is. */
const worth = 1 / 64;

/** Undefined where classes of the number cannot be represented as exact whole numbers. */
export function cubeSum(scope: BindingScope, rows: RowSelection, column: string): CubeSum | undefined {
  const { low, step, last } = gridOf(declaredNumber(scope.policy, column));
  const each = Math.ceil((last + 1) / classes);
  const top = Math.floor(last / each);
  const wide = multiply(step, rational(each));
  const place: Expression = { op: 'floor', of: [{ op: '/', of: [{ op: '-', of: [column, toNumber(low)] }, toNumber(wide)] }] };
  // In half classes, centred on the middle of all.
  const about: Expression = { op: '-', of: [{ op: '*', of: [2, place] }, top] };
  const name = `(${column}) cubed`;
  try {
    scope.derive(name, { op: '*', of: [{ op: '*', of: [about, about] }, about] });
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'QUERY_UNSUPPORTED') return undefined;
    throw fault;
  }
  const term = plainSum(scope, rows, name, { worth });
  const half = divide(wide, rational(2));
  const inside = multiply(step, rational(each - 1, 2));
  return {
    term: { ...term, factor: multiply(term.factor, multiply(half, multiply(half, half))) },
    middle: toNumber(add(add(low, multiply(half, rational(top))), inside)),
  };
}
