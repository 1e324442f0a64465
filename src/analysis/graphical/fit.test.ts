import { describe, expect, it } from 'vitest';
import { eliminateColumns } from './eliminate.js';
import { fitModel as fitted, type NoisyMarginal } from './fit.js';
import { junctionTree } from './junction-tree.js';
import { marginalSize } from './marginal.js';
import { noiseCovariance } from './noise-covariance.js';

let seed = 7;
const uniform = () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};
const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

/** Sums of a table over all columns, by walking through every cell. */
function marginOf(sizes: readonly number[], full: ArrayLike<number>, columns: readonly number[]): Float64Array {
  const out = new Float64Array(marginalSize(sizes, columns));
  for (let cell = 0; cell < full.length; cell++) out[placeOf(sizes, cell, columns)]! += full[cell]!;
  return out;
}
function placeOf(sizes: readonly number[], cell: number, columns: readonly number[]): number {
  const digits: number[] = [];
  let rest = cell;
  for (let k = sizes.length - 1; k >= 0; k--) {
    digits[k] = rest % sizes[k]!;
    rest = Math.floor(rest / sizes[k]!);
  }
  return columns.reduce((place, a) => place * sizes[a]! + digits[a]!, 0);
}
const lossOf = (sizes: readonly number[], full: ArrayLike<number>, measured: readonly NoisyMarginal[]): number =>
  measured.reduce((sum, { columns, counts, sd }) => {
    const own = marginOf(sizes, full, columns);
    return sum + own.reduce((s, x, i) => s + (x - counts[i]!) ** 2, 0) / sd ** 2 / 2;
  }, 0);

/** Euclidean projection onto non-negative vectors with this sum. */
function ontoSimplex(x: readonly number[], total: number): number[] {
  const sorted = [...x].sort((a, b) => b - a);
  let [sum, shift] = [0, 0];
  for (const [k, v] of sorted.entries()) {
    sum += v;
    if (v - (sum - total) / (k + 1) > 0) shift = (sum - total) / (k + 1);
  }
  return x.map((v) => Math.max(0, v - shift));
}

/** Least loss over the whole domain, by projected gradients with momentum: another method and form than the tested one. */
function bruteForce(
  sizes: readonly number[],
  measured: readonly NoisyMarginal[],
  total: number,
  possible: readonly boolean[],
): Float64Array {
  const cells = [...possible.keys()].filter((cell) => possible[cell]);
  const places = measured.map(({ columns }) => cells.map((cell) => placeOf(sizes, cell, columns)));
  const widest = measured.reduce((sum, { columns, sd }) => sum + cells.length / marginalSize(sizes, columns) / sd ** 2, 0) * 2;
  const gradient = (x: readonly number[]) => {
    const g = x.map(() => 0);
    for (const [m, { counts, sd }] of measured.entries()) {
      const off = Array.from(counts, (c) => -c);
      x.forEach((v, i) => {
        off[places[m]![i]!]! += v;
      });
      x.forEach((_, i) => {
        g[i]! += off[places[m]![i]!]! / sd ** 2;
      });
    }
    return g;
  };
  let x = cells.map(() => total / cells.length);
  let [y, t] = [x, 1];
  for (let turn = 0; turn < 6000; turn++) {
    const g = gradient(y);
    const next = ontoSimplex(
      y.map((v, i) => v - g[i]! / widest),
      total,
    );
    const up = next.reduce((s, v, i) => s + (y[i]! - v) * (v - x[i]!), 0) > 0;
    const s = up ? 1 : (1 + Math.sqrt(1 + 4 * t * t)) / 2;
    y = next.map((v, i) => v + (up ? 0 : (t - 1) / s) * (v - x[i]!));
    [x, t] = [next, s];
  }
  const full = new Float64Array(possible.length);
  cells.forEach((cell, i) => {
    full[cell] = x[i]!;
  });
  return full;
}

const cases: readonly (readonly [string, readonly number[], readonly (readonly number[])[]])[] = [
  ['one table', [3, 4], [[0, 1]]],
  ['a chain', [2, 3, 4, 2], [[0, 1], [1, 2], [2, 3], [1]]],
  [
    'a ring',
    [2, 3, 2, 3],
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [0, 3],
    ],
  ],
  [
    'a star and a lonely column',
    [3, 2, 2, 3],
    [
      [0, 1],
      [0, 2],
    ],
  ],
  ['tables that hold one another', [2, 3, 3], [[0, 1, 2], [0, 1], [1, 2], [0], []]],
];
const noisy = (
  sizes: readonly number[],
  sets: readonly (readonly number[])[],
  full: readonly number[],
  sd: number,
): NoisyMarginal[] =>
  sets.map((columns, k) => ({
    columns,
    counts: marginOf(sizes, full, columns).map((x) => x + sd * (1 + k / 2) * normal()),
    sd: sd * (1 + k / 2),
  }));
const sparse = (cells: number): number[] =>
  Array.from({ length: cells }, () => (uniform() < 0.4 ? Math.floor(60 * uniform()) : 0));

describe('the best-fitting distribution', () => {
  it.each(cases)('the fitted model has the least loss over the whole domain: %s', (_, sizes, sets) => {
    for (let turn = 0; turn < 2; turn++) {
      const full = sparse(marginalSize(sizes, [...sizes.keys()]));
      const total = full.reduce((a, b) => a + b, 0);
      const measured = noisy(sizes, sets, full, 5);
      const model = fitted({ sizes, measured, total, within: 0.001, iterations: 20_000 });
      const best = bruteForce(
        sizes,
        measured,
        total,
        full.map(() => true),
      );
      const above = model.descent.loss - lossOf(sizes, best, measured);
      expect(above).toBeLessThan(2e-3);
      expect(model.descent.gap).toBeGreaterThanOrEqual(above - 1e-9);
      for (const { columns, sd } of measured) {
        const [a, b] = [model.table(columns), marginOf(sizes, best, columns)];
        a.forEach((x, i) => {
          expect(Math.abs(x - b[i]!)).toBeLessThan(0.05 * sd);
        });
      }
    }
  });

  it('the fitted model leaves structural zeros exactly empty, and is the best model that does', () => {
    const sizes = [2, 3, 3];
    const impossible = [{ columns: [0, 2], cells: [1, 3, 5] }];
    const possible = Array.from({ length: 18 }, (_, cell) => !impossible[0]!.cells.includes(placeOf(sizes, cell, [0, 2])));
    const full = Array.from({ length: 18 }, (_, i) => (possible[i] ? (i * 7) % 23 : 0));
    const total = full.reduce((a, b) => a + b, 0);
    const measured = noisy(sizes, [[0, 1], [1, 2], [2]], full, 4);
    const model = fitted({ sizes, measured, total, impossible, within: 0.001, iterations: 20_000 });
    for (const cell of impossible[0]!.cells) expect(model.table([0, 2])[cell]).toBe(0);
    expect(model.descent.loss - lossOf(sizes, bruteForce(sizes, measured, total, possible), measured)).toBeLessThan(2e-3);
    const rows = model.rows(5000, uniform);
    rows[0]!.forEach((a, r) => {
      expect(impossible[0]!.cells).not.toContain(a * 3 + rows[2]![r]!);
    });
    expect(() => fitted({ sizes, measured, total, impossible: [{ columns: [1], cells: [0, 1, 2] }] })).toThrow(
      /No row is possible/,
    );
  });

  it('the fitted model reproduces measurements that are consistent and possible', () => {
    for (const [, sizes, sets] of cases) {
      const full = Array.from({ length: marginalSize(sizes, [...sizes.keys()]) }, () => 5 + Math.floor(60 * uniform()));
      const total = full.reduce((a, b) => a + b, 0);
      const measured = sets.map((columns) => ({ columns, counts: marginOf(sizes, full, columns), sd: 2 }));
      const model = fitted({ sizes, measured, total, within: 0.001 });
      for (const { columns, counts } of measured)
        model.table(columns).forEach((x, i) => {
          expect(Math.abs(x - counts[i]!)).toBeLessThan(0.02);
        });
    }
  });

  it('the fitted model has the given number of rows and consistent marginals, including those that no clique holds', () => {
    const sizes = [2, 3, 4, 2, 3];
    const full = sparse(144);
    const measured = noisy(
      sizes,
      [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 4],
      ],
      full,
      6,
    );
    const model = fitted({ sizes, measured, total: 1234 });
    const all = model.table([0, 1, 2, 3, 4]);
    expect(all.reduce((a, b) => a + b)).toBeCloseTo(1234, 6);
    for (const columns of [[], [4], [0, 4], [0, 2, 4], [1, 3], [0, 1, 4], [3, 4]]) {
      const table = model.table(columns);
      marginOf(sizes, all, columns).forEach((x, i) => {
        expect(table[i]).toBeCloseTo(x, 6);
      });
    }
    expect(model.table([4, 0])).toEqual(model.table([0, 4]));
  });

  it('the fitted model computes marginals across cells near the smallest double', () => {
    const sizes = [2, 2, 2, 2];
    const tree = junctionTree(sizes, [
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
    const [tiny, none] = [5e-324, 0];
    const full = tree.cliques.map(() => Float64Array.of(100, tiny, tiny, none));
    const all = eliminateColumns({ sizes, tree, beliefs: full }, [0, 3]);
    expect(all.every(Number.isFinite)).toBe(true);
    expect(all.reduce((a, b) => a + b)).toBeCloseTo(100, 9);
  });

  it('columns of a chain are conditionally independent in the fitted model: only columns measured together are related', () => {
    const sizes = [2, 3, 2];
    const measured = noisy(
      sizes,
      [
        [0, 1],
        [1, 2],
      ],
      sparse(12),
      3,
    );
    const model = fitted({ sizes, measured, total: 300 });
    const [all, left, right, middle] = [model.table([0, 1, 2]), model.table([0, 1]), model.table([1, 2]), model.table([1])];
    all.forEach((x, cell) => {
      const [a, b, c] = [Math.floor(cell / 6), Math.floor(cell / 2) % 3, cell % 2];
      expect(x * middle[b]!).toBeCloseTo(left[a * 3 + b]! * right[b * 2 + c]!, 4);
    });
  });

  it('the fit accounts for noise that smaller marginals share', () => {
    const sizes = [2, 3];
    const full = sparse(6);
    const total = full.reduce((a, b) => a + b, 0);
    const noisyTables = noisy(sizes, [[0, 1], [0], [1], []], full, 4);
    // Least squares over all measured tables, by its normal equations: one table with that noise is equivalent to all of them.
    const weights = noisyTables.map(({ sd }) => 1 / sd ** 2);
    const precision = [0, 1, 2, 3].map((set) => {
      const [a, b] = [set & 1, set >> 1];
      // A table without a column does not see what is centred along it; summing over a column multiplies sums by its size.
      return weights[0]! + (b ? 0 : 3 * weights[1]!) + (a ? 0 : 2 * weights[2]!) + (a || b ? 0 : 6 * weights[3]!);
    });
    const pulled = Float64Array.from({ length: 6 }, (_, cell) => {
      const [a, b] = [Math.floor(cell / 3), cell % 3];
      return (
        noisyTables[0]!.counts[cell]! * weights[0]! +
        noisyTables[1]!.counts[a]! * weights[1]! +
        noisyTables[2]!.counts[b]! * weights[2]! +
        noisyTables[3]!.counts[0]! * weights[3]!
      );
    });
    const best = new Float64Array(6);
    noiseCovariance(sizes, { columns: [0, 1], sd: 1, variances: precision.map((p) => 1 / p) }).spread(pulled, best);
    const one = fitted({
      sizes,
      total,
      measured: [{ columns: [0, 1], counts: best, sd: 1, variances: precision.map((p) => 1 / p) }],
      within: 0.001,
      iterations: 20_000,
    });
    const all = fitted({ sizes, total, measured: noisyTables, within: 0.001, iterations: 20_000 });
    one.table([0, 1]).forEach((x, i) => {
      expect(Math.abs(x - all.table([0, 1])[i]!)).toBeLessThan(0.05);
    });
  });

  it('a fit started from another model reaches the same distribution in fewer steps', () => {
    const sizes = [4, 5, 6, 3];
    const full = sparse(360);
    const total = full.reduce((a, b) => a + b, 0);
    const measured = noisy(
      sizes,
      [
        [0, 1],
        [1, 2],
        [2, 3],
        [0, 3],
      ],
      full,
      3,
    );
    const before = fitted({ sizes, measured: measured.slice(0, 3), total, within: 0.01 });
    const cold = fitted({ sizes, measured, total, within: 0.01, iterations: 5000 });
    const warm = fitted({ sizes, measured, total, within: 0.01, iterations: 5000, from: before });
    expect(warm.descent.iterations).toBeLessThan(cold.descent.iterations);
    expect(Math.abs(warm.descent.loss - cold.descent.loss)).toBeLessThan(0.05);
  });

  it('the fit works with factors whose logarithms exceed the range of doubles', () => {
    // Two tables that disagree about a column by a thousand standard deviations, in cliques that share only that column.
    const sizes = [2, 2, 2];
    const measured = [
      { columns: [0, 1], counts: Float64Array.of(1000, 0, 1000, 0), sd: 1 },
      { columns: [1, 2], counts: Float64Array.of(0, 0, 1000, 1000), sd: 1 },
    ];
    const model = fitted({ sizes, measured, total: 2000, within: 0.01 });
    for (const x of model.table([0, 1, 2])) expect(x).toBeCloseTo(250, 0);
  });
});

describe('rows drawn from a model', () => {
  const sizes = [3, 4, 2, 5];
  const model = () =>
    fitted({
      sizes,
      measured: noisy(
        sizes,
        [
          [0, 1],
          [1, 2],
          [2, 3],
        ],
        sparse(120),
        3,
      ),
      total: 1000,
    });
  const tableOf = (rows: readonly Uint16Array[], columns: readonly number[]) => {
    const out = new Float64Array(marginalSize(sizes, columns));
    rows[0]!.forEach((_, r) => {
      out[columns.reduce((cell, a) => cell * sizes[a]! + rows[a]![r]!, 0)]!++;
    });
    return out;
  };
  it('drawn rows have the requested number, and marginals nearer to the model than rows drawn one by one', () => {
    const own = model();
    const n = 4000;
    for (const columns of [[0], [0, 1], [2, 3]]) {
      const expected = own.table(columns).map((x) => (x * n) / 1000);
      let square = 0;
      for (let turn = 0; turn < 20; turn++) {
        const rows = own.rows(n, uniform);
        expect(rows.map((list) => list.length)).toEqual([n, n, n, n]);
        square += tableOf(rows, columns).reduce((sum, x, i) => sum + (x - expected[i]!) ** 2, 0) / 20;
      }
      // Variance of rows drawn one by one: the sum of n p (1 - p).
      const drawn = expected.reduce((sum, x) => sum + x * (1 - x / n), 0);
      expect(square).toBeLessThan(0.2 * drawn);
    }
  });

  it('drawn rows have the marginals of the model on average, even when they are few', () => {
    const own = model();
    const sums = new Float64Array(12);
    const turns = 4000;
    for (let turn = 0; turn < turns; turn++)
      tableOf(own.rows(3, uniform), [0, 1]).forEach((x, i) => {
        sums[i]! += x / turns;
      });
    own.table([0, 1]).forEach((x, i) => {
      expect(Math.abs(sums[i]! - (3 * x) / 1000)).toBeLessThan(0.05);
    });
  });
});
