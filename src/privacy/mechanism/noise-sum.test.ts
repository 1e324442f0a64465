import { describe, expect, it } from 'vitest';
import type { AdditiveDistribution } from './distribution.js';
import { fourierTail } from './fourier-tail.js';
import { noiseScale, scaledNormalTail } from './half-width.js';
import { combinedHalfWidth, noiseSum, type ScaledNoise, sumHalfWidth, sumOfNumbers } from './noise-sum.js';

const laplace = (scale: number): AdditiveDistribution<number> => ({ kind: 'laplace', scale });
const gaussian = (scale: number): AdditiveDistribution<number> => ({ kind: 'gaussian', variance: scale ** 2 });
const alpha = 0.05;
const normalTail = (x: number) => Math.exp((-x * x) / 2) * scaledNormalTail(x);

/** P(k) of a discrete noise, k = -far .. far. */
function massOf(distribution: AdditiveDistribution<number>): { readonly far: number; readonly mass: readonly number[] } {
  const { kind } = distribution;
  const scale = noiseScale(distribution);
  const far = Math.ceil(kind === 'laplace' ? 16 * scale + 8 : 6 * scale + 4);
  const weight = (k: number) => Math.exp(kind === 'laplace' ? -Math.abs(k) / scale : -(k * k) / (2 * scale * scale));
  const raw = Array.from({ length: 2 * far + 1 }, (_, i) => weight(i - far));
  const total = raw.reduce((a, b) => a + b);
  return { far, mass: raw.map((w) => w / total) };
}
/** P(|sum of factor x discrete noise| > h), added up over every outcome. */
function outside(parts: readonly ScaledNoise[], h: number): number {
  const masses = parts.map(({ noise }) => massOf(noise));
  const walk = (i: number, at: number, probability: number): number => {
    if (probability < 1e-9) return 0;
    const distribution = masses[i];
    if (!distribution) return Math.abs(at) > h ? probability : 0;
    const { factor } = parts[i]!;
    let sum = 0;
    for (let k = -distribution.far; k <= distribution.far; k++)
      sum += walk(i + 1, at + factor * k, probability * distribution.mass[k + distribution.far]!);
    return sum;
  };
  return walk(0, 0, 1);
}

/** P(G - G' > h) of two Gamma(n) variables of scale one: P(S > h) = sum over j < n of Poisson(j; h) sum over m < n - j of C(n+m-1, m) 2^-(n+m). */
function gammaDifferenceTail(n: number, h: number): number {
  const term = (m: number): number => {
    let log = -(n + m) * Math.LN2;
    for (let k = 1; k <= m; k++) log += Math.log((n + k - 1) / k);
    return Math.exp(log);
  };
  let [sum, poisson] = [0, Math.exp(-h)];
  for (let j = 0; j < n; j++) {
    for (let m = 0; m < n - j; m++) sum += poisson * term(m);
    poisson *= h / (j + 1);
  }
  return sum;
}

describe('a sum of noises of one distribution', () => {
  const masses = [laplace, gaussian].flatMap((distribution) =>
    Array.from({ length: 100 }, (_, i) => distribution(0.3 * 1.03 ** i)),
  );
  it.each([[[1]], [[0.3]], [[1, 1]], [[2, 1]], [[1, 1, 1]]])('the sum is within its bar even for few steps: %j', (factors) => {
    const squares = factors.reduce((sum, factor) => sum + factor ** 2, 0);
    const few = masses.filter((distribution) => noiseScale(distribution) < (factors.length > 2 ? 2.5 : 6));
    expect(few.length).toBeGreaterThan(100);
    for (const noise of few) {
      const parts = factors.map((factor) => ({ factor, noise }));
      expect(outside(parts, sumHalfWidth(noise, squares) * (1 + 1e-12))).toBeLessThan(alpha * 1.001);
    }
  });
});

describe('a sum of noises', () => {
  it.each<[string, readonly ScaledNoise[], number]>([
    [
      'two Laplace of one scale',
      [
        { factor: 1, noise: laplace(10) },
        { factor: 1, noise: laplace(10) },
      ],
      0.044,
    ],
    [
      'two Laplace, factors apart',
      [
        { factor: 1, noise: laplace(12) },
        { factor: 2.5, noise: laplace(3) },
      ],
      0.042,
    ],
    [
      'two Laplace nearly alike',
      [
        { factor: 1, noise: laplace(9) },
        { factor: 1.00001, noise: laplace(9) },
      ],
      0.04,
    ],
    [
      'two Gaussian',
      [
        { factor: 1, noise: gaussian(9) },
        { factor: -0.7, noise: gaussian(14) },
      ],
      0.042,
    ],
    [
      'a Laplace and a Gaussian',
      [
        { factor: 1, noise: laplace(8) },
        { factor: 0.8, noise: gaussian(15) },
      ],
      0.043,
    ],
    [
      'a Gaussian far wider than the Laplace',
      [
        { factor: 1, noise: laplace(1) },
        { factor: 1.5, noise: gaussian(40) },
      ],
      0.043,
    ],
    [
      'three Laplace',
      [
        { factor: 1, noise: laplace(3) },
        { factor: 0.7, noise: laplace(2) },
        { factor: 0.3, noise: laplace(5) },
      ],
      0.033,
    ],
    [
      'small scales',
      [
        { factor: 0.6, noise: laplace(0.5) },
        { factor: 0.4, noise: laplace(0.5) },
      ],
      0.001,
    ],
  ])('the sum exceeds its half width with probability at most one in twenty, and little less: %s', (_, parts, least) => {
    const half = combinedHalfWidth(parts, alpha);
    expect(outside(parts, half)).toBeLessThanOrEqual(alpha);
    expect(outside(parts, half)).toBeGreaterThan(least);
    expect(outside(parts, (least > 0.01 ? 0.85 : 0.5) * half)).toBeGreaterThan(alpha);
  });

  it.each([
    [3, 0.4],
    [4, 3],
    [12, 7],
    [40, 2],
  ])('the half width holds for %i discrete Laplace noises of scale %f, closely', (n, scale) => {
    const q = Math.exp(-1 / scale);
    const far = Math.ceil(60 * scale + 12 * scale * Math.sqrt(2 * n));
    const one = Array.from({ length: 2 * far + 1 }, (_, i) => ((1 - q) / (1 + q)) * q ** Math.abs(i - far));
    // Adding a discrete Laplace noise is two first-order recursions, one from each side.
    let distribution = one;
    for (let k = 1; k < n; k++) {
      const right = [...distribution];
      for (let i = 1; i < right.length; i++) right[i]! += q * right[i - 1]!;
      for (let i = right.length - 2; i >= 0; i--) right[i]! += q * right[i + 1]!;
      distribution = right.map((x) => x * (1 - q) ** 2);
    }
    const over = (h: number) => distribution.reduce((sum, p, i) => (Math.abs(i - far) > h ? sum + p : sum), 0);
    const half = combinedHalfWidth(
      Array.from({ length: n }, () => ({ factor: 1, noise: laplace(scale) })),
      alpha,
    );
    expect(over(half)).toBeLessThanOrEqual(alpha);
    expect(over(half - 2)).toBeGreaterThan(alpha);
  });

  it('the half width of many equal Gaussian noises is on their grid', () => {
    const many = (n: number) =>
      combinedHalfWidth(
        Array.from({ length: n }, () => ({ factor: 3, noise: gaussian(100) })),
        alpha,
      );
    expect(many(50)).toBe(3 * Math.ceil(1.959964 * Math.sqrt(50 * (100 ** 2 + 1 / 4))));
  });

  it('the tail of more Laplace scales than partial fractions can separate is summed as a series', () => {
    const parts = [1, 2, 3, 4, 5].map((scale) => ({ factor: scale / 3, noise: laplace(scale) }));
    const [half, fewer] = [combinedHalfWidth(parts, alpha), combinedHalfWidth(parts.slice(1), alpha)];
    expect(half).toBeGreaterThan(fewer);
    expect(half).toBeLessThan(1.02 * fewer + 1 / 6);
  });

  it.each([
    [[2, 3, 5], 0],
    [[1, 1.001, 4, 0.2], 0],
    [[3], 2],
    [[1, 2, 3], 4],
  ] as const)('the tail is the same by partial fractions and by its series: %j with %d', (scales, sigma) => {
    const noises = [...scales.map(laplace), ...(sigma > 0 ? [gaussian(sigma)] : [])];
    // A factor of zero removes its noise; five or more noises take the series.
    const factors = noises.map(() => 1);
    const many = noiseSum([...noises, laplace(1), laplace(1), laplace(1), laplace(1)], alpha);
    const few = noiseSum(noises, alpha);
    expect(many.half([...factors, 1e-9, 1e-9, 1e-9, 1e-9]) / few.half(factors)).toBeCloseTo(1, 3);
    expect(fourierTail([{ scale: 3, times: 1 }], 0, 9, 1e-9)).toBeCloseTo(Math.exp(-3), 7);
  });

  it('the series is an upper bound on the tail for any number of noises', () => {
    for (const times of [5, 20, 64])
      for (const h of [1, 10, 30, 60]) {
        const tail = 2 * gammaDifferenceTail(times, h);
        const found = fourierTail([{ scale: 1, times }], 0, h, 1e-7);
        expect(found).toBeGreaterThanOrEqual(tail - 1e-12);
        expect(found).toBeLessThan(tail + 3e-7);
      }
  });

  it('the comparison of x with the half width needs no half width', () => {
    const masses = [
      [laplace(7), laplace(3)],
      [gaussian(7), gaussian(3), gaussian(5)],
      [laplace(7), gaussian(3), laplace(2)],
      [laplace(7), { kind: 'none' } as const],
      [1, 2, 3, 4, 5].map(laplace),
    ];
    for (const noises of masses)
      for (const factors of [
        [1, -0.3],
        [0, 2],
        [1e-9, 1],
        [5, 5.0001],
      ].map((f) => noises.map((_, i) => f[i % 2]!))) {
        const { half, beyond } = noiseSum(noises, alpha);
        const h = half(factors);
        if (h === 0) continue;
        expect(beyond(factors, h * (1 + 1e-9))).toBeGreaterThan(0);
        expect(beyond(factors, h * (1 - 1e-9))).toBeLessThan(0);
        expect(Number.isFinite(beyond(factors, 1e9))).toBe(true);
      }
  });

  it('the half width is a norm of the factors', () => {
    let state = 3;
    const uniform = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 31 - 1;
    };
    const worst = (norm: (f: readonly number[]) => number, size: number) => {
      let most = Number.NEGATIVE_INFINITY;
      for (let k = 0; k < 300; k++) {
        const [a, b] = [0, 0].map(() => Array.from({ length: size }, () => uniform() * 10 ** (2 * uniform())));
        const both = a!.map((x, i) => x + b![i]!);
        most = Math.max(most, norm(both) / (norm(a!) + norm(b!)) - 1);
      }
      return most;
    };
    for (const noises of [
      [laplace(4), laplace(1)],
      [laplace(4), laplace(3), laplace(0.4)],
      [gaussian(4), laplace(9)],
      [gaussian(2), gaussian(5)],
    ]) {
      // Scales closer than one in ten thousand are separated.
      expect(worst(noiseSum(noises, alpha).half, noises.length)).toBeLessThan(2e-4);
      // The test sees what is no norm.
      expect(worst((f) => noiseSum(noises, alpha).half(f) ** 1.1, noises.length)).toBeGreaterThan(0.01);
    }
  });

  /** Largest ratio of tail probabilities at t: discrete noise spread evenly over its steps, relative to the continuous one. */
  const excess = (noise: AdditiveDistribution<number>, tail: (t: number) => number): number => {
    const { far, mass } = massOf(noise);
    let beyond = 0;
    let most = 0;
    for (let k = far; k >= 0; k--) {
      const p = mass[far + k]!;
      for (let j = 0; j <= 20; j++) {
        const t = k + 0.5 - j / 20;
        if (t >= 0 && tail(t) > 1e-6) most = Math.max(most, (beyond + (p * j) / 20) / (tail(t) / 2) - 1);
      }
      beyond += p;
    }
    return most;
  };
  it('the continuous sum dominates its discrete noises spread evenly over their steps', () => {
    let narrower = 0;
    for (const scale of [0.15, 0.3, 0.5, 0.7, 1, 1.6, 3, 10, 40]) {
      // With one factor 0, the half width at e^-1 is the scale of the continuous noise, plus half a step; at one deviation its sigma.
      const smooth = noiseSum([laplace(scale), laplace(scale)], Math.exp(-1)).half([1, 0]) - 0.5;
      expect(excess(laplace(scale), (t) => Math.exp(-t / smooth))).toBeLessThan(1e-5);
      const sigma = noiseSum([gaussian(scale), gaussian(scale)], 2 * normalTail(1)).half([1, 0]) - 0.5;
      expect(excess(gaussian(scale), (t) => 2 * normalTail(t / sigma))).toBeLessThan(1e-5);
      const less = Math.sqrt(scale * scale + 1 / 12);
      narrower = Math.max(
        narrower,
        excess(gaussian(scale), (t) => 2 * normalTail(t / less)),
        excess(laplace(scale), (t) => Math.exp(-t / scale)),
      );
    }
    expect(narrower).toBeGreaterThan(0.01);
  });
});

describe('a sum of numbers with many Laplace noises each', () => {
  const convolved = (a: readonly number[], b: readonly number[]): readonly number[] => {
    const sum = new Array<number>(a.length + b.length - 1).fill(0);
    for (const [i, x] of a.entries()) for (const [j, y] of b.entries()) sum[i + j]! += x * y;
    return sum;
  };
  const many = (n: number, scale: number): readonly ScaledNoise[] =>
    Array.from({ length: n }, () => ({ factor: 1, noise: laplace(scale) }));
  const massOfMany = (n: number, scale: number): readonly number[] =>
    Array.from({ length: n - 1 }).reduce<readonly number[]>(
      (sum) => convolved(sum, massOf(laplace(scale)).mass),
      massOf(laplace(scale)).mass,
    );

  it.each([
    [1, 5, 3],
    [1, 12, 3],
    [3, 9, 2],
    [5, 7, 2],
    [6, 6, 0.4],
  ])(
    'the sum exceeds its half width with probability at most one in twenty, and little less: %i and %i of scale %d',
    (own, rest, scale) => {
      const sum = sumOfNumbers([many(own, scale), many(rest, scale)], alpha);
      const [a, b] = [massOfMany(own, scale), massOfMany(rest, scale)];
      const [middle, centre] = [(a.length - 1) / 2, (b.length - 1) / 2];
      for (const r of [0, 0.02, 0.2, 0.5, 0.9, 1]) {
        const half = sum.half([1 - r, r]);
        let outside = 0;
        for (const [i, p] of a.entries())
          for (const [j, q] of b.entries()) if (Math.abs((1 - r) * (i - middle) - r * (j - centre)) > half) outside += p * q;
        expect(outside).toBeLessThanOrEqual(alpha);
        // Sums that are not whole numbers get half a step for both.
        if (scale >= 2) expect(outside).toBeGreaterThan(0.03);
        expect(sum.beyond([1 - r, r], half * 1.001)).toBeGreaterThan(0);
        expect(sum.beyond([1 - r, r], half * 0.999)).toBeLessThan(0);
      }
    },
  );

  it('the half width of numbers is a norm of their factors', () => {
    const { half } = sumOfNumbers([many(2, 5), many(9, 5)], alpha);
    for (let k = 0; k < 40; k++) {
      const [x, y] = [0, 1].map((j) => [Math.sin(3 * k + j), Math.cos(7 * k - j)] as const) as [
        readonly [number, number],
        readonly [number, number],
      ];
      expect(half([x[0] + y[0], x[1] + y[1]])).toBeLessThanOrEqual((half(x) + half(y)) * (1 + 1e-9));
    }
  });
});

describe('a tail summed as a series', () => {
  it('the series ends at the precision of doubles', () => {
    const parts = [1, 1e-6, 2e-6, 3e-6, 4e-6].map((scale) => ({ factor: 1e6 * scale, noise: laplace(3) }));
    expect(combinedHalfWidth(parts, 1e-6)).toBeGreaterThan(0);
    expect(() => combinedHalfWidth(parts, 1e-13)).toThrow(RangeError);
  });
});
