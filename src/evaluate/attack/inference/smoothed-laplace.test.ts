import { describe, expect, it } from 'vitest';
import { logSmoothedLaplace, scaledErfc } from './smoothed-laplace.js';

describe('the scaled complementary error function', () => {
  it('the function has its known values', () => {
    expect(scaledErfc(0)).toBeCloseTo(1, 15);
    expect(Math.exp(-1) * scaledErfc(1)).toBeCloseTo(0.157299207050285, 14);
    expect(Math.exp(-0.04) * scaledErfc(0.2)).toBeCloseTo(0.777297410789522, 14);
    expect(scaledErfc(10)).toBeCloseTo(0.0561409927438226, 14);
    expect(scaledErfc(50)).toBeCloseTo(0.0112815362653238, 14);
  });
});

/** Laplace density averaged over a Gaussian, by brute force. */
function slow(z: number, scale: number, variance: number): number {
  const sigma = Math.sqrt(variance);
  const steps = 40_000;
  let sum = 0;
  for (let k = 0; k < steps; k++) {
    const g = -10 * sigma + (20 * sigma * (k + 0.5)) / steps;
    sum += Math.exp(-Math.abs(z - g) / scale - (g * g) / (2 * variance));
  }
  return (sum * ((20 * sigma) / steps)) / (2 * scale * sigma * Math.sqrt(2 * Math.PI));
}

describe('Laplace noise plus a Gaussian', () => {
  it('the density is the convolution of the two', () => {
    for (const [z, scale, variance] of [
      [0, 1, 1],
      [3, 1, 0.5],
      [-3, 1, 0.5],
      [20, 2, 9],
      [0.1, 5, 100],
      [40, 0.5, 4],
    ] as const)
      expect(logSmoothedLaplace(z, scale, variance)).toBeCloseTo(Math.log(slow(z, scale, variance)), 6);
  });

  it('the density without variance is plain Laplace', () => {
    expect(logSmoothedLaplace(-3, 2, 0)).toBeCloseTo(-1.5 - Math.log(4), 14);
  });

  it('the log density never changes faster than that of Laplace, near and far', () => {
    for (const scale of [0.5, 3, 120])
      for (const variance of [0.01, 1, 50, 2500])
        for (let z = -1000; z <= 1000; z += 7.3) {
          const moved = Math.abs(logSmoothedLaplace(z + 1, scale, variance) - logSmoothedLaplace(z, scale, variance));
          expect(moved).toBeLessThanOrEqual(1 / scale + 1e-9);
        }
  });
});
