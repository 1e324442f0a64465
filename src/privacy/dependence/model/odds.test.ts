import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logOddsRatio } from './odds.js';

const inf = Number.POSITIVE_INFINITY;
const D = (table: number[], shape: number[], axis: number) => logOddsRatio(Float64Array.from(table), shape, axis);

/** The definition, word for word. */
function slow(table: readonly number[], shape: readonly number[], axis: number): number {
  const size = shape[axis]!;
  const rows: number[][] = Array.from({ length: size }, () => []);
  const inner = shape.slice(axis + 1).reduce((p, k) => p * k, 1);
  for (const [cell, w] of table.entries()) rows[Math.floor(cell / inner) % size]!.push(w);
  let worst = 0;
  for (const x of rows)
    for (const y of rows)
      for (let u = 0; u < x.length; u++)
        for (let v = 0; v < x.length; v++) {
          const top = x[u]! * y[v]!;
          const bottom = x[v]! * y[u]!;
          if (top > 0) worst = Math.max(worst, bottom > 0 ? Math.log(top / bottom) : inf);
        }
  return worst;
}

describe('the odds ratio of a table', () => {
  it('the odds ratio follows its definition on any table, zeros included', () => {
    const weight = fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: fc.integer({ min: 1, max: 40 }) });
    const shapes = fc.constantFrom<number[]>([2, 2], [2, 3], [3, 3], [2, 2, 2], [3, 2, 2]);
    fc.assert(
      fc.property(
        shapes.chain((s) =>
          fc.tuple(
            fc.constant(s),
            fc.array(weight, { minLength: s.reduce((p, k) => p * k), maxLength: s.reduce((p, k) => p * k) }),
          ),
        ),
        ([shape, table]) => {
          for (const axis of shape.keys()) {
            const exact = slow(table, shape, axis);
            const fast = D(table, shape, axis);
            if (exact === inf) expect(fast).toBe(inf);
            else {
              expect(fast).toBeGreaterThanOrEqual(exact - 1e-15);
              expect(fast).toBeLessThanOrEqual(exact + 1e-12);
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('the odds ratio of two bits that agree with probability .9 is 81, from either side', () => {
    expect(Math.exp(D([0.9, 0.1, 0.1, 0.9], [2, 2], 0))).toBeCloseTo(81, 10);
    expect(Math.exp(D([0.9, 0.1, 0.1, 0.9], [2, 2], 1))).toBeCloseTo(81, 10);
  });

  it('the odds ratio is infinite for copies and for xor; its logarithm is zero for an impossible value and for equal rows', () => {
    expect(D([1, 0, 0, 1], [2, 2], 0)).toBe(inf);
    expect(D([1, 0, 0, 1, 0, 1, 1, 0], [2, 2, 2], 0)).toBe(inf);
    expect(D([1, 2, 0, 0], [2, 2], 0)).toBe(0);
    expect(D([0.1, 0.2, 0.1, 0.2], [2, 2], 0)).toBe(0);
  });
});
