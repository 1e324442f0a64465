import { describe, expect, it } from 'vitest';
import { combinedHalfWidth, deviation, halfWidth, normalQuantile } from './noise-law.js';

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

describe('the law of the noise', () => {
  it.each([0.3, 1, 7.5, 120])('gives the discrete Laplace its own deviation and quantiles (scale %d)', (scale) => {
    for (const alpha of [0.05, 0.025, 0.01]) {
      const slow = brute('laplace', scale, alpha);
      expect(halfWidth({ kind: 'laplace', scale }, alpha)).toBe(slow.half);
      expect(deviation({ kind: 'laplace', scale })).toBeCloseTo(slow.deviation, 9);
    }
  });
  it.each([0.3, 1, 7.5, 120])('gives the discrete Gaussian its own quantiles (sigma %d)', (scale) => {
    for (const alpha of [0.05, 0.025]) {
      const slow = brute('gaussian', scale, alpha);
      expect(Math.abs(halfWidth({ kind: 'gaussian', scale }, alpha) - slow.half)).toBeLessThanOrEqual(0);
      expect(deviation({ kind: 'gaussian', scale })).toBeGreaterThanOrEqual(slow.deviation - 1e-12);
    }
  });
  it('tells Laplace from Gaussian at the same deviation', () => {
    const laplace = halfWidth({ kind: 'laplace', scale: 1000 / Math.SQRT2 }, 0.05);
    const gaussian = halfWidth({ kind: 'gaussian', scale: 1000 }, 0.05);
    expect(gaussian).toBe(1960);
    expect(laplace).toBeGreaterThan(2110);
  });
  it('adds two noises of a kind', () => {
    const mass = (k: number, scale: number) => Math.exp(-Math.abs(k) / scale) * Math.tanh(1 / (2 * scale));
    const miss = (half: number, a: number, b: number, factor: number) => {
      let outside = 0;
      for (let i = -400; i <= 400; i++)
        for (let j = -400; j <= 400; j++) if (Math.abs(i + factor * j) > half) outside += mass(i, a) * mass(j, b);
      return outside;
    };
    for (const [a, b, factor] of [
      [10, 10, 1],
      [10, 4, 1],
      [12, 3, 2.5],
    ] as const) {
      const parts = [
        { factor: 1, noise: { kind: 'laplace', scale: a } },
        { factor, noise: { kind: 'laplace', scale: b } },
      ] as const;
      const found = miss(combinedHalfWidth(parts, 0.05), a, b, factor);
      expect(found).toBeLessThanOrEqual(0.05);
      expect(found).toBeGreaterThan(0.035);
    }
    const gaussians = [1, 1].map((factor) => ({ factor, noise: { kind: 'gaussian' as const, scale: 100 } }));
    expect(combinedHalfWidth(gaussians, 0.05)).toBeCloseTo(Math.SQRT2 * 195.996 + 1, 2);
  });
  it.each([
    [3, 0.4],
    [4, 3],
    [12, 7],
    [40, 2],
  ])('holds for %i discrete Laplace noises of scale %f added up, and not by far', (n, scale) => {
    const q = Math.exp(-1 / scale);
    const far = Math.ceil(60 * scale + 12 * scale * Math.sqrt(2 * n));
    const one = Array.from({ length: 2 * far + 1 }, (_, i) => ((1 - q) / (1 + q)) * q ** Math.abs(i - far));
    // Adding a discrete Laplace noise is two first-order recursions, one from each side.
    let law = one;
    for (let k = 1; k < n; k++) {
      const right = [...law];
      for (let i = 1; i < right.length; i++) right[i]! += q * right[i - 1]!;
      for (let i = right.length - 2; i >= 0; i--) right[i]! += q * right[i + 1]!;
      law = right.map((x) => x * (1 - q) ** 2);
    }
    const miss = (h: number) => law.reduce((sum, p, i) => (Math.abs(i - far) > h ? sum + p : sum), 0);
    const half = combinedHalfWidth(
      Array.from({ length: n }, () => ({ factor: 1, noise: { kind: 'laplace' as const, scale } })),
      0.05,
    );
    expect(miss(half)).toBeLessThanOrEqual(0.05);
    expect(miss(half - 2)).toBeGreaterThan(0.05);
  });
  it('is silent without noise', () => {
    expect(halfWidth({ kind: 'none', scale: 0 }, 0.05)).toBe(0);
    expect(deviation({ kind: 'none', scale: 0 })).toBe(0);
  });
  it('knows the normal quantiles', () => {
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963985, 7);
    expect(normalQuantile(0.9995)).toBeCloseTo(3.290526731, 7);
    expect(normalQuantile(0.5)).toBe(0);
  });
});
