import { describe, expect, it, vi } from 'vitest';
import { rational, toNumber } from '../../base/exact/rational.js';
import { pure, zcdp } from '../../privacy/mechanism/budget-share.js';
import { Payment } from '../../privacy/mechanism/payment.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { encode, partCells, placesWithout, type ResidualLayout } from '../../privacy/mechanism/residual/layout.js';
import { noisedTables } from '../../privacy/mechanism/residual/residual.js';
import { layoutSensitivity } from '../../privacy/mechanism/residual/row-sensitivity.js';
import { halfWidthFactor } from './answer.js';
import { maximalSets, subsetsUpTo } from './closure.js';
import { cellVariance, combineParts, tableFrom, variancesOf } from './estimate.js';
import { minimaxTables } from './minimax-tables.js';
import { largestVariance, plainLayout, residualLayout, weightedVariance } from './residual-layout.js';

// Seeded noise: every run draws the same.
vi.mock('../../privacy/noise/bits.js', async (original) =>
  (await import('../../../test/seeded-source.js')).seededNoise(
    await original<typeof import('../../privacy/noise/bits.js')>(),
    11,
  ),
);

const all = (sizes: readonly number[], ...orders: number[]) => ({
  sizes,
  tables: subsetsUpTo([...sizes.keys()], Math.max(...orders))
    .filter((axes) => orders.includes(axes.length))
    .map((axes) => ({ axes, weight: 1 })),
});
const cellsIn = ({ sizes, tables }: ReturnType<typeof all>) => tables.reduce((n, t) => n + partCells(sizes, t), 0);
/** Root mean square error of a cell if a record costs rho = 1/2. */
const rmse = (requested: ReturnType<typeof all>, layout: ResidualLayout, change: 'replaced' | 'removed') =>
  Math.sqrt((weightedVariance(requested, layout) * Number(layoutSensitivity(layout, change).l2squared)) / cellsIn(requested));

/** Counts of a table from those of all combinations of all axes. */
const margin = (sizes: readonly number[], full: readonly bigint[], axes: readonly number[]): bigint[] => {
  const { at, cells } = placesWithout(
    sizes,
    [...sizes.keys()].reduce((set, k) => (axes.includes(k) ? set : set | (1 << k)), 0),
  );
  const sums = new Array<bigint>(cells).fill(0n);
  full.forEach((x, cell) => {
    sums[at[cell]!]! += x;
  });
  return sums;
};

/** Variance of the best linear unbiased estimator of a sum of cells, from the whole matrix: q (E'E)^-1 q by conjugate gradients. */
function denseVariance({ sizes, parts }: ResidualLayout, q: readonly number[]): number {
  const n = q.length;
  const columns = Array.from({ length: n }, (_, c) => {
    const unit = Array.from({ length: n }, (_, i) => (i === c ? 1n : 0n));
    return parts.flatMap((part) => encode(sizes, part, margin(sizes, unit, part.axes))).map(Number);
  });
  const times = (x: readonly number[]) => {
    const y = columns[0]!.map((_, r) => columns.reduce((sum, column, c) => sum + column[r]! * x[c]!, 0));
    return columns.map((column) => column.reduce((sum, e, r) => sum + e * y[r]!, 0));
  };
  const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
  let [z, rest] = [q.map(() => 0), [...q]];
  let p = rest;
  for (let step = 0; step < 4 * n && dot(rest, rest) > 1e-24; step++) {
    const turned = times(p);
    const a = dot(rest, rest) / dot(p, turned);
    z = z.map((x, i) => x + a * p[i]!);
    const next = rest.map((x, i) => x - a * turned[i]!);
    const b = dot(next, next) / dot(rest, rest);
    rest = next;
    p = rest.map((x, i) => x + b * p[i]!);
  }
  return dot(q, z);
}

const sizes = [2, 3, 4];
const requested = {
  sizes,
  tables: [
    { axes: [0, 1], weight: 1 },
    { axes: [1, 2], weight: 2 },
    { axes: [2], weight: 1 },
  ],
};
const firstCell = (axes: readonly number[]) =>
  margin(
    sizes,
    Array.from({ length: 24 }, (_, i) => BigInt(i)),
    axes,
  )
    .map(() => 0)
    .map((_, k) => (k === 0 ? 1 : 0));
const sumOf = (axes: readonly number[]) => {
  const { at } = placesWithout(
    sizes,
    [...sizes.keys()].reduce((set, k) => (axes.includes(k) ? set : set | (1 << k)), 0),
  );
  return Array.from(at, (place) => firstCell(axes)[place]!);
};
const layouts: readonly (readonly [string, ResidualLayout])[] = [
  // Multiples of all cell numbers: whole numbers centre exactly.
  [
    'without smaller tables',
    { sizes, parts: residualLayout(requested, 'replaced').parts.map((p) => ({ ...p, scale: (p.scale / 24n + 1n) * 24n })) },
  ],
  ['every table by itself', plainLayout({ sizes, tables: requested.tables.slice(0, 2) }, 'zcdp')],
];

describe('the variance of a cell', () => {
  it.each(layouts)('the variance is that of the best linear estimator over the whole domain: %s', (_, layout) => {
    const variances = variancesOf(layout);
    for (const { axes } of [...requested.tables, { axes: [1] }, { axes: [] as number[] }])
      expect(cellVariance(sizes, axes, variances) / denseVariance(layout, sumOf(axes))).toBeCloseTo(1, 8);
  });

  it('the variance is at most a hundredth above it when whole numbers do not centre exactly', () => {
    const layout = residualLayout(requested, 'replaced');
    for (const { axes } of requested.tables) {
      const ratio = cellVariance(sizes, axes, variancesOf(layout)) / denseVariance(layout, sumOf(axes));
      expect(ratio).toBeGreaterThanOrEqual(1 - 1e-9);
      expect(ratio).toBeLessThan(1.01);
    }
  });

  it.each([
    ['Gaussian noise without smaller tables', residualLayout(requested, 'replaced'), zcdp(rational(1, 10))],
    ['Gaussian noise on every table', plainLayout(requested, 'zcdp'), zcdp(rational(1, 10))],
    ['Laplace noise on every table', plainLayout(requested, 'pure'), pure(rational(1))],
  ] as const)(
    'the variance is that of the noise drawn around the truth, and confidence intervals have their coverage: %s',
    (_, layout, budgetShare) => {
      const noised = noisedTables(
        { name: 'tables', layout, changes: [{ of: everyRecord, change: 'replaced', rows: 1 }] },
        budgetShare,
      );
      const full = Array.from({ length: 24 }, (_, i) => BigInt((i * 37) % 50));
      const vector = noised.vector(layout.parts.map((part) => margin(sizes, full, part.axes)));
      const draws = 1500;
      const payment = new Payment(Array.from({ length: draws }, () => noised.mechanism));
      const sums = requested.tables.map(() => ({ error: 0, square: 0, held: 0, cells: 0 }));
      for (let k = 0; k < draws; k++) {
        const noisyNumbers = noised.split(noised.mechanism.prepare(payment)(vector).map(Number));
        const estimate = combineParts(layout, noisyNumbers, noised.variance);
        const variances = new Map([...estimate.by].map(([text, { variance }]) => [text, variance]));
        for (const [t, { axes }] of requested.tables.entries()) {
          const half = halfWidthFactor(noised.mechanism.distribution.kind) * Math.sqrt(cellVariance(sizes, axes, variances));
          const exact = margin(sizes, full, axes);
          tableFrom(estimate, axes).forEach((x, cell) => {
            const off = x - Number(exact[cell]);
            const sum = sums[t]!;
            sum.error += off;
            sum.square += off * off;
            sum.held += Number(Math.abs(off) <= half);
            sum.cells++;
          });
        }
      }
      for (const [t, { axes }] of requested.tables.entries()) {
        const variance = cellVariance(sizes, axes, variancesOf(layout)) * noised.variance;
        const { error, square, held, cells } = sums[t]!;
        expect(Math.abs(error / cells)).toBeLessThan(5 * Math.sqrt(variance / draws));
        expect(square / cells / variance).toBeGreaterThan(0.88);
        expect(square / cells / variance).toBeLessThan(1.12);
        expect(held / cells).toBeGreaterThan(0.93);
        expect(held / cells).toBeLessThan(0.98);
      }
    },
  );
});

describe('tables of one estimate', () => {
  it('tables of one estimate agree in their common marginals', () => {
    const layout = residualLayout(all(sizes, 2), 'replaced');
    const noisyNumbers = layout.parts.map((part) =>
      Array.from({ length: partCells(sizes, part) }, (_, k) => 1000 + ((k * 7919) % 613)),
    );
    const estimate = combineParts(layout, noisyNumbers, 1);
    const [ab, bc] = [tableFrom(estimate, [0, 1]), tableFrom(estimate, [1, 2])];
    const b = tableFrom(estimate, [1]);
    for (let j = 0; j < 3; j++) {
      expect(ab[j]! + ab[3 + j]!).toBeCloseTo(b[j]!, 6);
      expect(bc.slice(4 * j, 4 * j + 4).reduce((x, y) => x + y)).toBeCloseTo(b[j]!, 6);
    }
  });

  it('tables of one estimate are derived from the maximal ones', () => {
    expect(maximalSets([[0], [0, 1], [1, 2], [0, 1], []])).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });
});

describe('the chosen noise', () => {
  const adult = [100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2];
  it.each([[[1]], [[2]], [[3]], [[1, 2, 3]]])(
    'the error is that of the closed form of Xiao et al. 2023 on Adult, all tables of %j columns, under add-or-remove',
    (orders) => {
      const workload = all(adult, ...orders);
      const roots = subsetsUpTo([...adult.keys()], 3).reduce((sum, inner) => {
        const over = workload.tables.filter(({ axes }) => inner.every((axis) => axes.includes(axis)));
        const own = inner.reduce((x, axis) => x * (adult[axis]! - 1), 1);
        const weight = over.reduce(
          (w, { axes }) => w + own / axes.filter((axis) => !inner.includes(axis)).reduce((x, axis) => x * adult[axis]!, 1),
          0,
        );
        return sum + Math.sqrt(weight * inner.reduce((x, axis) => x * (1 - 1 / adult[axis]!), 1));
      }, 0);
      const least = roots / Math.sqrt(cellsIn(workload));
      const found = rmse(workload, residualLayout(workload, 'removed'), 'removed');
      expect(found / least).toBeGreaterThan(1 - 1e-9);
      expect(found / least).toBeLessThan(1.0005);
    },
  );

  it('the error under replacement is at most 1.5 % above the lower bound, sqrt(2) times that under add-or-remove', () => {
    const workload = all(adult, 2);
    const least = Math.SQRT2 * rmse(workload, residualLayout(workload, 'removed'), 'removed');
    const found = rmse(workload, residualLayout(workload, 'replaced'), 'replaced');
    expect(found / least).toBeGreaterThan(0.999);
    expect(found / least).toBeLessThan(1.015);
  });

  it.each([
    [[1], 12.047],
    [[2], 67.802],
    [[3], 236.843],
    [[0, 1, 2, 3], 253.605],
  ])(
    'the maximal variance is that of Xiao et al. 2023 on Adult, when it is the objective, all tables of %j columns',
    (orders, published) => {
      const workload = all(adult, ...orders);
      const layout = residualLayout({ sizes: adult, tables: minimaxTables(workload, 'removed') }, 'removed');
      const found = largestVariance(workload, layout) * Number(layoutSensitivity(layout, 'removed').l2squared);
      expect(found / published).toBeGreaterThan(0.9995);
      expect(found / published).toBeLessThan(1.005);
    },
  );

  it.each([
    [40, 2, 0.35],
    [40, 3, 0.53],
    [12, 3, 0.6],
  ])(
    'the error of all tables of two of %i columns with %i answers each is at most %f of that of independent noise',
    (d, m, most) => {
      const workload = all(new Array<number>(d).fill(m), 2);
      const independent = Math.sqrt(2 * workload.tables.length);
      const found = rmse(workload, residualLayout(workload, 'replaced'), 'replaced');
      expect(found / independent).toBeLessThan(most);
      expect(found).toBeLessThan(rmse(workload, plainLayout(workload, 'zcdp'), 'replaced'));
    },
  );

  it('the scales are a minimum: other scales of any table have more error for the same cost', () => {
    for (const change of ['replaced', 'removed'] as const) {
      const workload = all([2, 3, 4, 5], 1, 2);
      const layout = residualLayout(workload, change);
      const best = rmse(workload, layout, change);
      for (const k of layout.parts.keys())
        for (const times of [7n, 13n]) {
          const parts = layout.parts.map((p, i) => (i === k ? { ...p, scale: (p.scale * times) / 10n } : p));
          expect(rmse(workload, { ...layout, parts }, change)).toBeGreaterThan(best * 0.997);
        }
    }
  });

  it('the privacy cost is at most the share, however many tables there are', () => {
    const workload = all(new Array<number>(20).fill(3), 2);
    const { mechanism } = noisedTables(
      {
        name: 'tables',
        layout: residualLayout(workload, 'replaced'),
        changes: [{ of: everyRecord, change: 'replaced', rows: 3 }],
      },
      zcdp(rational(1, 7)),
    );
    expect(toNumber(mechanism.cost.perRecord.get(everyRecord)!)).toBe(1 / 7);
  });
});
