import { describe, expect, it } from 'vitest';
import { noiseHalfWidth, normalQuantile, scaledNormalTail, standardDeviation } from './half-width.js';

/** Straight sums over the probability mass, as a second opinion. */
function masses(kind: 'laplace' | 'gaussian', scale: number): (k: number) => number {
  return kind === 'laplace' ? (k) => Math.exp(-Math.abs(k) / scale) : (k) => Math.exp(-(k * k) / (2 * scale * scale));
}
function brute(kind: 'laplace' | 'gaussian', scale: number, alpha: number) {
  const mass = masses(kind, scale);
  const far = Math.ceil(60 * scale + 60);
  let total = 0;
  let second = 0;
  for (let k = -far; k <= far; k++) {
    total += mass(k);
    second += k * k * mass(k);
  }
  let outside = total;
  let half = -1;
  while (outside > alpha * total * (1 + 1e-12)) {
    half += 1;
    outside -= half === 0 ? mass(0) : 2 * mass(half);
  }
  return { deviation: Math.sqrt(second / total), half };
}

describe('the width of noise', () => {
  it.each([0.3, 1, 7.5, 120])('the discrete Laplace has its own standard deviation and quantiles (scale %d)', (scale) => {
    for (const alpha of [0.05, 0.025, 0.01]) {
      const slow = brute('laplace', scale, alpha);
      expect(noiseHalfWidth({ kind: 'laplace', scale }, alpha)).toBe(slow.half);
      expect(standardDeviation({ kind: 'laplace', scale })).toBeCloseTo(slow.deviation, 9);
    }
  });
  it.each([0.3, 1, 7.5, 120])('the discrete Gaussian has its own quantiles (sigma %d)', (scale) => {
    for (const alpha of [0.05, 0.025]) {
      const slow = brute('gaussian', scale, alpha);
      expect(Math.abs(noiseHalfWidth({ kind: 'gaussian', variance: scale ** 2 }, alpha) - slow.half)).toBeLessThanOrEqual(0);
      expect(standardDeviation({ kind: 'gaussian', variance: scale ** 2 })).toBeGreaterThanOrEqual(slow.deviation - 1e-12);
    }
  });
  it('the half widths of Laplace and Gaussian noise differ at the same standard deviation', () => {
    const laplace = noiseHalfWidth({ kind: 'laplace', scale: 1000 / Math.SQRT2 }, 0.05);
    const gaussian = noiseHalfWidth({ kind: 'gaussian', variance: 1000 ** 2 }, 0.05);
    expect(gaussian).toBe(1960);
    expect(laplace).toBeGreaterThan(2110);
  });
  it('the half width without noise is zero', () => {
    expect(noiseHalfWidth({ kind: 'none' }, 0.05)).toBe(0);
    expect(standardDeviation({ kind: 'none' })).toBe(0);
  });
  it('the normal quantiles have their known values', () => {
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963985, 7);
    expect(normalQuantile(0.9995)).toBeCloseTo(3.290526731, 7);
    expect(normalQuantile(0.5)).toBe(0);
  });
  it('the normal tail inverts its quantiles, near and far', () => {
    expect(scaledNormalTail(0)).toBe(0.5);
    for (const tail of [0.4, 0.1, 0.025, 0.0014, 0.0013, 1e-5, 1e-9]) {
      const x = normalQuantile(1 - tail);
      expect(scaledNormalTail(x) * Math.exp((-x * x) / 2)).toBeCloseTo(tail, 9);
      expect((scaledNormalTail(x) * Math.exp((-x * x) / 2)) / tail).toBeCloseTo(1, 6);
    }
    // Both sides of where the series hands over to the fraction.
    expect(scaledNormalTail(3 - 1e-12)).toBeCloseTo(scaledNormalTail(3), 10);
  });
});

describe('a whole half width', () => {
  it('a whole half width holds 95 to 98 of 100, except at scales where none can (docs/how-to/statistics.md)', () => {
    const above = {
      laplace: [0.22, 0.27, 0.44, 0.57, 0.68, 0.88, 0.93],
      gaussian: [0.33, 0.37, 0.7, 0.82, 1.11, 1.31, 1.53, 1.81, 1.95, 2.32, 2.38],
    };
    for (const kind of ['laplace', 'gaussian'] as const)
      for (let scale = 0.155; scale < 6; scale += 0.01) {
        const distribution = kind === 'laplace' ? ({ kind, scale } as const) : ({ kind, variance: scale ** 2 } as const);
        const mass = (x: number) => Math.exp(kind === 'laplace' ? -Math.abs(x) / scale : -(x * x) / (2 * scale * scale));
        const half = noiseHalfWidth(distribution, 0.05);
        let [inside, all] = [0, 0];
        for (let x = -150; x <= 150; x++) {
          all += mass(x);
          if (Math.abs(x) <= half) inside += mass(x);
        }
        expect(inside / all).toBeGreaterThanOrEqual(0.95);
        // Those below the first, between the second and the third, and so on; an edge may be off by its rounding.
        const edges = above[kind];
        if (edges.some((edge) => Math.abs(edge - scale) < 0.011)) continue;
        const odd = edges.filter((edge) => edge < scale).length % 2 === 0;
        expect([scale, inside / all > 0.98]).toEqual([scale, edges.at(-1)! > scale && odd]);
      }
  });
});
