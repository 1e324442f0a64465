import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import { numberNamed } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import type { Term } from '../answer.js';
import type { Expression } from '../form.js';
import { centreOf, momentTerm } from '../kinds/moment.js';
import type { Rows, Scope } from '../scope.js';

/** Most places of a number in a product; finer grids are read in larger steps. */
const mostPlaces = 2 ** 19;

/** The sum over rows of the product of two numbers, each about the middle of its bounds: one more derived column (../count/derived.proof.md). */
export function productOf(scope: Scope, rows: Rows, a: string, b: string): Term {
  const [x, y] = a < b ? [a, b] : [b, a];
  const name = `(${x}) x (${y})`;
  scope.derive(name, { op: '*', of: [centred(scope, x), centred(scope, y)] });
  return momentTerm(scope, rows, gridOf(numberNamed(scope.policy, name)), { power: 1, origin: 0n, shift: 0n });
}

function centred(scope: Scope, column: string): Expression {
  const { grid, origin } = centreOf(scope, column);
  const about: Expression = { op: '-', of: [column, toNumber(multiply(grid.unit, rational(origin)))] };
  const many = Math.ceil((grid.last + 1) / mostPlaces);
  if (many === 1) return about;
  const step = toNumber(multiply(grid.step, rational(many)));
  return { op: '*', of: [{ op: 'floor', of: [{ op: '/', of: [about, step] }] }, step] };
}
