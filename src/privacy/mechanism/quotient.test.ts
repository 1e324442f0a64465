import { describe, expect, it } from 'vitest';
import type { AdditiveDistribution } from './distribution.js';
import { normalQuantile } from './half-width.js';
import { noiseSum } from './noise-sum.js';
import { factorsAt, farthest, ofMean, ofShare, type QuotientQuery, quotientIntervals } from './quotient.js';

const alpha = 0.05;
const laplace = (scale: number): AdditiveDistribution<number> => ({ kind: 'laplace', scale });
const gaussian = (scale: number): AdditiveDistribution<number> => ({ kind: 'gaussian', variance: scale ** 2 });
const solver = (...noises: AdditiveDistribution<number>[]) =>
  quotientIntervals(
    noises.map((noise) => [{ factor: 1, noise }]),
    alpha,
  );

/** Every possible r of a fine grid, by the half width itself. */
function scanner(
  noises: readonly AdditiveDistribution<number>[],
  points: number,
  { factors, within: [least, most] }: Pick<QuotientQuery, 'factors' | 'within'>,
) {
  const { half } = noiseSum(noises, alpha);
  const step = (most - least) / points;
  const grid = Array.from({ length: points + 1 }, (_, k) => least + k * step).map((r) => ({
    r,
    half: half(factorsAt(factors, r)),
  }));
  return (top: number, bottom: number) => {
    const value = Math.min(most, Math.max(least, top / bottom));
    const possible = grid.filter((at) => Math.abs(value - at.r) * bottom <= at.half).map(({ r }) => r);
    return { low: Math.min(value, ...possible), high: Math.max(value, ...possible), step };
  };
}

describe('the interval of a quotient', () => {
  it('the interval holds every possible value, even if these have no end or there are none', () => {
    for (const noises of [
      [laplace(146), laplace(2)],
      [laplace(146), laplace(11)],
      [gaussian(90), gaussian(4)],
      [laplace(30), gaussian(6)],
    ]) {
      const means = { factors: ofMean, within: [-36.5, 36.5] } as const;
      const scan = scanner(noises, 1500, means);
      for (const bottom of [0.5, 3, 9, 24, 60, 400])
        for (const r of [-60, -36.5, -20, 0, 4, 36, 39]) {
          const { value, low, high } = solver(...noises)({ ...means, top: r * bottom, bottom });
          const found = scan(r * bottom, bottom);
          expect(Math.abs(low - found.low)).toBeLessThanOrEqual(found.step);
          expect(Math.abs(high - found.high)).toBeLessThanOrEqual(found.step);
          expect(low).toBeLessThanOrEqual(value);
          expect(high).toBeGreaterThanOrEqual(value);
        }
    }
  });

  it('the interval is correct far below the step of any grid', () => {
    const query = { top: 1e9 / 3, bottom: 1e9, factors: ofShare, within: [0, 1] } as const;
    const { value, low, high } = solver(laplace(20), laplace(20))(query);
    const half = noiseSum([laplace(20), laplace(20)], alpha).half([1 - 1 / 3, 1 / 3]) / 1e9;
    expect((value - low) / half).toBeCloseTo(1, 6);
    expect((high - value) / half).toBeCloseTo(1, 6);
  });

  it("the interval of Gaussian noise is Fieller's", () => {
    const [a, b, top, bottom] = [4000, 900, 60_000, 9000];
    const z = normalQuantile(1 - alpha / 2);
    const [p, q, s] = [bottom ** 2 - (z * b) ** 2, top * bottom, top ** 2 - (z * a) ** 2];
    const root = Math.sqrt(q * q - p * s);
    const { low, high } = solver(gaussian(a), gaussian(b))({ top, bottom, factors: ofMean, within: [-100, 100] });
    // The grid of the noise, half a step of each, is all the difference.
    const grain = ((1 + 10) * 0.6) / bottom;
    expect(Math.abs(low - (q - root) / p)).toBeLessThan(grain);
    expect(Math.abs(high - (q + root) / p)).toBeLessThan(grain);
  });

  it('the interval is a single number without noise, and one noise wide with a single noise', () => {
    const none: AdditiveDistribution<number> = { kind: 'none' };
    expect(solver(none, none)({ top: 1, bottom: 3, factors: ofMean, within: [-2, 2] })).toEqual({
      value: 1 / 3,
      low: 1 / 3,
      high: 1 / 3,
    });
    const { low, high } = solver(laplace(10), none)({ top: 600, bottom: 300, factors: ofMean, within: [-9, 9] });
    expect(low).toBeCloseTo(2 - 30 / 300, 6);
    expect(high).toBeCloseTo(2 + 30 / 300, 6);
  });

  it('the end of an interval is found in few steps, wherever it lies', () => {
    for (const where of [1e-9, 1e-3, 0.4, 0.999])
      for (const shape of [(x: number) => x, (x: number) => Math.expm1(20 * x), (x: number) => Math.log1p(1e6 * x)]) {
        let steps = 0;
        const found = farthest(0, 1, (x) => {
          steps++;
          return shape(x) - shape(where);
        });
        expect(Math.abs(found / where - 1)).toBeLessThan(1e-6);
        expect(steps).toBeLessThan(45);
      }
  });
});
