import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import type { LinearTerm } from '../answer.js';
import type { Expression } from '../form.js';
import { centredGrid, plainSum } from '../kinds/moment.js';
import type { BindingScope, RowSelection } from '../scope.js';

/** Most places of a number in a product; finer grids are read in larger steps. */
const maxPlaces = 2 ** 19;

/** The sum over rows of the product of two numbers, each about the middle of its bounds: one more derived column (../count/derived.proof.md). */
export function productTerm(scope: BindingScope, rows: RowSelection, a: string, b: string): LinearTerm {
  const [x, y] = a < b ? [a, b] : [b, a];
  const name = `(${x}) x (${y})`;
  scope.derive(name, { op: '*', of: [centred(scope, x), centred(scope, y)] });
  return plainSum(scope, rows, name);
}

function centred(scope: BindingScope, column: string): Expression {
  const { grid, middle } = centredGrid(scope, column);
  const about: Expression = { op: '-', of: [column, toNumber(middle)] };
  const many = Math.ceil((grid.last + 1) / maxPlaces);
  if (many === 1) return about;
  const step = toNumber(multiply(grid.step, rational(many)));
  return { op: '*', of: [{ op: 'floor', of: [{ op: '/', of: [about, step] }] }, step] };
}
