import { describe, expect, it, vi } from 'vitest';
import { placesWithout } from '../../privacy/mechanism/residual/layout.js';
import { subsetsUpTo } from './closure.js';
import { combineParts, type TableEstimate, tableFrom, variancesOf } from './estimate.js';
import { negativeTolerance, nonNegative } from './non-negative.js';
import { residualLayout } from './residual-layout.js';

// Seeded noise: every run draws the same.
vi.mock('../../privacy/noise/bits.js', async (original) =>
  (await import('../../../test/seeded-source.js')).seededNoise(
    await original<typeof import('../../privacy/noise/bits.js')>(),
    11,
  ),
);

const sizes = [3, 2, 4, 3];
const tables = subsetsUpTo([...sizes.keys()], 2).filter((axes) => axes.length === 2);
const cells = sizes.reduce((a, b) => a * b);
let seed = 3;
const uniform = () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};
const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

/** Estimates of every centred table from exact counts of a few rows, without and with noise. */
const layout = residualLayout({ sizes, tables: tables.map((axes) => ({ axes, weight: 1 })) }, 'replaced');
const variances = variancesOf(layout);
function estimateOf(full: readonly number[], noise: number): TableEstimate {
  const noisyNumbers = layout.parts.map(({ axes, scale }) => {
    const { at, cells: own } = placesWithout(
      sizes,
      [...sizes.keys()].reduce((set, k) => (axes.includes(k) ? set : set | (1 << k)), 0),
    );
    const counts = new Float64Array(own);
    full.forEach((x, cell) => {
      counts[at[cell]!]! += x;
    });
    // The contribution of smaller tables is removed again by centring.
    return Array.from(counts, (x) => Number(scale) * x + noise * normal());
  });
  return combineParts(layout, noisyNumbers, noise ** 2 || 1);
}
const sparse = () => Array.from({ length: cells }, () => (uniform() < 0.1 ? Math.floor(40 * uniform()) : 0));
/** Squared distance, in units of the noise. */
const inner = (a: TableEstimate, b: TableEstimate, c: TableEstimate, d: TableEstimate): number =>
  [...a.by].reduce(
    (sum, [text, { values }]) =>
      sum +
      values.reduce(
        (s, x, k) => s + (x - b.by.get(text)!.values[k]!) * (c.by.get(text)!.values[k]! - d.by.get(text)!.values[k]!),
        0,
      ) /
        variances.get(text)!,
    0,
  );
const squaredDistance = (a: TableEstimate, b: TableEstimate): number => inner(a, b, a, b);

describe('tables without negative cells', () => {
  /** Standard error of the finest part. */
  const spread = 6;
  const noise = spread * Number(layout.parts.at(-1)!.scale);
  it('tidied tables have no negative cells, and agree with one another', () => {
    for (let turn = 0; turn < 20; turn++) {
      const found = nonNegative(estimateOf(sparse(), noise), tables);
      for (const axes of tables) expect(Math.min(...tableFrom(found, axes))).toBeGreaterThan(-2 * negativeTolerance * spread);
      const [ab, bc] = [tableFrom(found, [0, 1]), tableFrom(found, [1, 2])];
      const ofAb = [0, 1].map((j) => ab[j]! + ab[2 + j]! + ab[4 + j]!);
      const ofBc = [0, 1].map((j) => bc.slice(4 * j, 4 * j + 4).reduce((x, y) => x + y));
      for (const j of [0, 1]) expect(ofAb[j]).toBeCloseTo(ofBc[j]!, 8);
    }
  });

  it('tidied tables are the nearest ones: no tables of real rows lie from there towards the noisy ones', () => {
    for (let turn = 0; turn < 20; turn++) {
      const noisy = estimateOf(sparse(), noise);
      const found = nonNegative(noisy, tables);
      const far = Math.sqrt(squaredDistance(noisy, found));
      for (let k = 0; k < 20; k++) {
        const real = estimateOf(sparse(), 0);
        expect(inner(noisy, found, real, found)).toBeLessThan(0.02 * far * Math.sqrt(squaredDistance(real, found)) + 1e-9);
      }
    }
  });

  it('tidied tables are nearer to the truth than the noisy ones, every time, and much nearer when rows are few', () => {
    let [before, after] = [0, 0];
    for (let turn = 0; turn < 40; turn++) {
      const full = sparse();
      const truth = estimateOf(full, 0);
      const noisy = estimateOf(full, noise);
      const found = nonNegative(noisy, tables);
      expect(squaredDistance(found, truth)).toBeLessThanOrEqual(1.001 * squaredDistance(noisy, truth));
      before += squaredDistance(noisy, truth);
      after += squaredDistance(found, truth);
    }
    expect(after / before).toBeLessThan(0.75);
  });

  it('tidied tables are unchanged when nothing is negative', () => {
    const estimate = estimateOf(new Array<number>(cells).fill(1000), 1);
    const found = nonNegative(estimate, tables);
    for (const axes of tables) expect(tableFrom(found, axes)).toEqual(tableFrom(estimate, axes));
  });

  it('tidied tables keep a public number of rows, and are nearer to the truth for it', () => {
    let [free, bound] = [0, 0];
    for (let turn = 0; turn < 20; turn++) {
      const full = sparse();
      const rows = full.reduce((a, b) => a + b, 0);
      const [truth, noisy] = [estimateOf(full, 0), estimateOf(full, noise)];
      const found = nonNegative(noisy, tables, rows);
      for (const axes of tables) {
        expect(tableFrom(found, axes).reduce((a, b) => a + b)).toBeCloseTo(rows, 6);
        expect(Math.min(...tableFrom(found, axes))).toBeGreaterThan(-2 * negativeTolerance * spread);
      }
      bound += squaredDistance(found, truth);
      free += squaredDistance(nonNegative(noisy, tables), truth);
    }
    expect(bound).toBeLessThan(free);
  });

  it('tidied tables are empty when the noisy number of rows is negative', () => {
    const found = nonNegative(estimateOf(new Array<number>(cells).fill(-5), 1), tables);
    for (const axes of tables) for (const x of tableFrom(found, axes)) expect(Math.abs(x)).toBeLessThan(0.01);
  });
});
