import { describe, expect, it } from 'vitest';
import { compare, divide, fromNumber, multiply, one, type Rational, subtract, toNumber } from '../../../base/exact/rational.js';
import type { Model } from './model.js';
import { graphsOf } from './model-graph.js';

/** Factors whose product in doubles loses nearly half a unit of its last place at every step; and the product as it really is. */
function roundedDown(count: number): { readonly factors: readonly number[]; readonly rounded: number; readonly exact: Rational } {
  const factors: number[] = [];
  let rounded = 1.7;
  let exact = fromNumber(rounded);
  factors.push(rounded);
  const much = fromNumber(1 + 2 ** -55);
  for (let k = 1; factors.length < count; k++) {
    const next = (rounded > 2.5 ? 0.7 : 1.3) + k * 2 ** -40;
    const product = multiply(fromNumber(rounded), fromNumber(next));
    if (compare(multiply(fromNumber(rounded * next), much), product) > 0) continue;
    rounded *= next;
    exact = multiply(exact, fromNumber(next));
    factors.push(next);
  }
  return { factors, rounded, exact };
}

describe('tables multiplied into one', () => {
  const { factors, rounded, exact } = roundedDown(400);
  const pairs = factors.map((x) => ({ records: [0, 1], table: Float64Array.of(x, 1, 1, 1) }));
  const whole = { records: [0, 1, 2], table: new Float64Array(8).fill(1) };
  const values = [0, 1, 2].map(() => [0, 1]);
  const model: Model = { ids: ['a', 'b', 'c'], values, factors: [...pairs, whole] };
  const lost = toNumber(subtract(divide(exact, fromNumber(rounded)), one));
  /** log of the true product, to within 1e-15. */
  const truth = Math.log(rounded) + lost;

  it('the odds ratio of a product of tables is never too small, even when multiplied into a larger table', () => {
    const [plain, absorbed] = graphsOf(model);
    expect(absorbed!.factors).toBe(1);
    for (const graph of [plain!, absorbed!]) expect(graph.logOdds[0]!).toBeGreaterThanOrEqual(truth - 1e-15);
  });

  it('the odds ratio of a product would be too small without an allowance for rounding', () => {
    expect(Math.log(rounded) + 4.1 * 4 * 2 ** -53).toBeLessThan(truth - 1e-15);
  });
});
