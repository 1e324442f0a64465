import { describe, expect, it } from 'vitest';
import { normalFrom, seeded } from '../../../experiments/coverage/world.js';
import { chiSquareTail, normalTails } from './chi-square.js';
import { confidenceInterval, criticalValue, type PerturbedValue } from './confidence-interval.js';
import { choleskyRoot, eigenDecomposition, multiplyVector, solveCholesky } from './matrix.js';

const gaussian = () => false;
/** (a + s z1) / (b + t z2). */
const quotient =
  (a: number, b: number, s: number, t: number): PerturbedValue =>
  (z) => {
    const [top, bottom] = [a + s * z[0]!, b + t * z[1]!];
    return bottom > 0 ? { value: top / bottom, slopes: Float64Array.of(s / bottom, (-t * top) / bottom ** 2) } : undefined;
  };

describe('confidence intervals of calculated numbers', () => {
  it('the interval of a quotient is Fieller’s, however noisy its denominator is', () => {
    for (const [a, b, s, t] of [
      [30, 100, 5, 10],
      [30, 100, 5, 40],
      [-80, 60, 20, 20],
      [0, 50, 10, 20],
    ] as const) {
      const { low, high } = confidenceInterval(quotient(a, b, s, t), 2, gaussian)!;
      const c = 1.959964 ** 2;
      // (a - r b)^2 = c (s^2 + r^2 t^2)
      const [p, q, r] = [b * b - c * t * t, -2 * a * b, a * a - c * s * s];
      const root = Math.sqrt(q * q - 4 * p * r);
      expect(low).toBeCloseTo((-q - root) / (2 * p), 3);
      expect(high).toBeCloseTo((-q + root) / (2 * p), 3);
    }
  });

  it('the interval of a quotient is unbounded on the side where the denominator could be zero, and Fieller’s on the other', () => {
    const { low, high } = confidenceInterval(quotient(30, 100, 5, 60), 2, gaussian)!;
    const c = 1.959964 ** 2;
    const [p, q, r] = [100 ** 2 - c * 60 ** 2, -2 * 30 * 100, 30 ** 2 - c * 5 ** 2];
    expect(p).toBeLessThan(0);
    expect(low).toBeCloseTo((-q - Math.sqrt(q * q - 4 * p * r)) / (2 * p), 4);
    expect(high).toBeNull();
    // Also the top could be nothing: then it could be anything.
    expect(confidenceInterval(quotient(5, 100, 5, 60), 2, gaussian)).toMatchObject({ low: null, high: null });
  });

  it('no point of the ball exceeds the interval, and some reach its ends', () => {
    const random = seeded(3);
    const of: PerturbedValue = (z) => {
      const [x, y, w] = [2 + z[0]!, 3 + z[1]! / 2, 5 + z[2]!];
      return { value: (x * y) / w, slopes: Float64Array.of(y / w, x / (2 * w), (-x * y) / w ** 2) };
    };
    const { low, high } = confidenceInterval(of, 3, gaussian)!;
    let [least, most] = [Infinity, -Infinity];
    for (let k = 0; k < 20_000; k++) {
      const z = Float64Array.from({ length: 3 }, () => normalFrom(random));
      const length = Math.hypot(...z) / 1.959964;
      const { value } = of(z.map((x) => x / length))!;
      [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
    expect(low!).toBeLessThanOrEqual(least + 1e-6);
    expect(high!).toBeGreaterThanOrEqual(most - 1e-6);
    expect(low!).toBeCloseTo(least, 1);
    expect(high!).toBeCloseTo(most, 1);
  });

  it('the critical value allows for the tails of Laplace noise', () => {
    expect(criticalValue(Float64Array.of(1), () => true)).toBeCloseTo(2.166, 2);
    expect(criticalValue(new Float64Array(100).fill(1), () => true)).toBeLessThan(1.965);
    expect(criticalValue(Float64Array.of(1), () => false)).toBeCloseTo(1.96, 3);
  });
});

describe('the numerical routines', () => {
  it('the tail of the chi-square distribution is accurate', () => {
    for (const [freedom, x] of [
      [1, 3.841459],
      [2, 5.991465],
      [10, 18.307038],
      [100, 124.342113],
    ] as const)
      expect(chiSquareTail(freedom, x)).toBeCloseTo(0.05, 7);
    expect(chiSquareTail(1, 0)).toBe(1);
    expect(normalTails(1.959964)).toBeCloseTo(0.05, 6);
    expect(normalTails(6) / 1.973e-9).toBeCloseTo(1, 3);
  });

  it('linear systems and eigenvalues are solved accurately', () => {
    const a = [Float64Array.of(4, 1, 0.5), Float64Array.of(1, 3, -0.2), Float64Array.of(0.5, -0.2, 2)];
    const x = solveCholesky(choleskyRoot(a)!, [1, 2, 3]);
    for (const [i, b] of multiplyVector(a, x).entries()) expect(b).toBeCloseTo(i + 1, 12);
    const { values, vectors } = eigenDecomposition(a);
    for (const [i, row] of a.entries())
      for (const [j, entry] of row.entries()) {
        const again = values.reduce((sum, value, k) => sum + value * vectors[i]![k]! * vectors[j]![k]!, 0);
        expect(again).toBeCloseTo(entry, 10);
      }
    expect(choleskyRoot([Float64Array.of(1, 2), Float64Array.of(2, 1)])).toBeUndefined();
  });
});
