import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { within } from '../../base/input/limits.js';
import { beliefPropagation } from './belief-propagation.js';
import { eliminateColumns } from './eliminate.js';
import { junctionTree } from './junction-tree.js';
import { marginalIndex, marginalSize, sumInto } from './marginal.js';

vi.mock('../../base/input/limits.js', { spy: true });

/** Up to six columns, and factors over some of them. */
const models = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 6 }).chain((sizes) =>
  fc.record({
    sizes: fc.constant(sizes),
    sets: fc.array(fc.subarray([...sizes.keys()], { minLength: 1, maxLength: Math.min(3, sizes.length) }), {
      minLength: 1,
      maxLength: 6,
    }),
    targets: fc.subarray([...sizes.keys()]),
    seed: fc.integer({ min: 1, max: 2 ** 30 }),
  }),
);

describe('marginals that no clique holds', () => {
  it('an eliminated marginal has the sums of the whole domain, however few cells are computed at once', () => {
    fc.assert(
      fc.property(models, fc.constantFrom(1, 2, 3, 5, 8, 20, 2 ** 20), ({ sizes, sets, targets, seed }, most) => {
        const all = [...sizes.keys()];
        const factors = [...sets, ...all.map((a) => [a])];
        let state = seed;
        const values = factors.map((own) =>
          Float64Array.from({ length: marginalSize(sizes, own) }, () => {
            state = (state * 48271) % 2147483647;
            return (6 * state) / 2147483647 - 3;
          }),
        );
        const tree = junctionTree(sizes, factors);
        const spread = beliefPropagation(sizes, tree, factors, []);
        spread.run(values, 100);
        const full = new Float64Array(marginalSize(sizes, all));
        for (const [k, own] of factors.entries()) {
          const { high, low } = marginalIndex(sizes, all, own);
          full.forEach((x, cell) => {
            full[cell] = x + values[k]![high[Math.floor(cell / low.length)]! + low[cell % low.length]!]!;
          });
        }
        const sum = full.reduce((a, x) => a + Math.exp(x), 0);
        const whole = full.map((x) => (100 * Math.exp(x)) / sum);
        const expected = new Float64Array(marginalSize(sizes, targets));
        sumInto(marginalIndex(sizes, all, targets), whole, expected);
        const found = eliminateColumns({ sizes, tree, beliefs: spread.beliefs }, targets, most);
        expect(found.length).toBe(expected.length);
        found.forEach((x, cell) => {
          expect(Math.abs(x - expected[cell]!)).toBeLessThan(1e-9);
        });
      }),
      { numRuns: 400 },
    );
  });

  it('an eliminated marginal is refused for its own size only', () => {
    // A ring of columns: joining the two targets takes many times the cells of their own marginal.
    const sizes = new Array(8).fill(40);
    const tree = junctionTree(
      sizes,
      sizes.slice(1).map((_, a) => [a, a + 1]),
    );
    const beliefs = tree.cliques.map((own) => new Float64Array(marginalSize(sizes, own)).fill(1 / 1600));
    vi.mocked(within).mockClear();
    const table = eliminateColumns({ sizes, tree, beliefs }, [0, 4, 7], 1600);
    expect(table.every((x) => Math.abs(x - 1 / 64_000) < 1e-12)).toBe(true);
    expect(vi.mocked(within).mock.calls).toEqual([['graphicalCells', 64_000]]);
  });
});
