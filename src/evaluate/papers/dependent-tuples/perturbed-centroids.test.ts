import { describe, expect, it } from 'vitest';
import { backstrom } from '../../../analysis/learn/odds/friendship-model.js';
import { friendDpm } from './friend-model.js';
import {
  type CentroidSetting,
  correlatedDegree,
  dpmCentroids,
  groupCentroids,
  lpmCentroids,
  perturb,
  zhuCentroids,
} from './perturbed-centroids.js';

const setting: CentroidSetting = {
  people: 200,
  mostTies: 7,
  assumedSensitivity: 1,
  epsilon: 0.9,
  grid: { side: 20, step: 0.05 },
  tieDecay: backstrom,
};

describe('noise on cluster centres, as published', () => {
  it('the mechanism is not certified', () => {
    for (const c of [lpmCentroids, groupCentroids, zhuCentroids, dpmCentroids]) {
      expect(c(setting).certified).toBe(false);
      expect(c(setting).assumption).toContain('false');
    }
  });

  it('the scale of dependent perturbation comes from the person with most ties', () => {
    const star = Array.from({ length: 7 }, (_, k) => ({ from: 0, to: k + 1, ...backstrom }));
    const chain = Array.from({ length: 50 }, (_, k) => ({ from: k + 10, to: k + 11, ...backstrom }));
    const whole = friendDpm({ grid: setting.grid, friendships: [...star, ...chain], people: 200 }, 1, 0.9).scale;
    expect(dpmCentroids(setting).scale / whole).toBeCloseTo(1, 9);
  });

  it('an understated rho adds less noise, and never less than plain Laplace', () => {
    const scales = [1, 0.9, 0.8].map((share) => dpmCentroids(setting, share).scale);
    expect(scales[0]).toBeGreaterThan(scales[1]!);
    expect(scales[1]).toBeGreaterThan(scales[2]!);
    expect(scales[2]).toBeGreaterThan(lpmCentroids(setting).scale);
    expect(scales[0]).toBeLessThan(groupCentroids(setting).scale);
    expect(() => dpmCentroids(setting, 0)).toThrowError(/share of rho/);
  });

  it('the correlated degree counts correlations of records above the threshold', () => {
    const vectors = Float64Array.of(1, 2, 3, 2, 4, 6, 3, 2, 1, 1, -2, 1);
    expect(correlatedDegree(vectors, 3, 0.5)).toBeCloseTo(3, 12);
    expect(correlatedDegree(vectors.subarray(0, 3), 3, 0.5)).toBe(1);
  });

  it('the noise has the standard deviation of its scale', () => {
    const noisy = perturb(new Float64Array(4000), 2.5);
    const mean = noisy.reduce((s, v) => s + Math.abs(v), 0) / noisy.length;
    expect(Math.abs(mean - 2.5)).toBeLessThan(0.25);
  });
});
