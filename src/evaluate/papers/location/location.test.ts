import { describe, expect, it } from 'vitest';
import { compare, multiply, type Rational, rational, subtract, toNumber } from '../../../base/exact/rational.js';
import { Bits } from '../../../privacy/noise/bits.js';
import { distanceNoise, type GridNoise, hullNoise } from './grid-noise.js';
import { hullShape, locationSet, normIn, type Point, sensitivityHull } from './hull.js';
import { locationMoment, releaseAt, surrogateOf, updatedBelief } from './location.js';

/** A small generator, only to make these tests repeatable. */
function testBits(seed: number): Bits {
  let a = seed;
  return new Bits((buffer) => {
    for (let i = 0; i < buffer.length; i++) {
      a = (a * 48271) % 2147483647;
      buffer[i] = a >>> 12;
    }
  });
}

const cells: readonly Point[] = [
  [0, 0],
  [1, 0],
  [0, 1],
  [2, 2],
];
const hull = sensitivityHull(cells);
const one = rational(1);

describe('the likely cells of a location', () => {
  it('the likely cells are the fewest with at least 1 - delta of the belief', () => {
    expect(locationSet([0.1, 0.4, 0.3, 0.2], 0.1)).toEqual([1, 2, 3]);
    expect(locationSet([0.1, 0.4, 0.3, 0.2], 0.11)).toEqual([1, 2, 3]);
    expect(locationSet([0.1, 0.4, 0.3, 0.2], 0.3)).toEqual([1, 2]);
    expect(locationSet([0.25, 0.25, 0.25, 0.25], 0)).toEqual([0, 1, 2, 3]);
  });

  it('the hull, area, covariance and norms agree with independent computations', () => {
    const corners = [
      [-2, -2],
      [-1, -2],
      [1, -1],
      [2, 1],
      [2, 2],
      [1, 2],
      [-1, 1],
      [-2, -1],
    ];
    expect([...hull].sort()).toEqual([...corners].sort());
    const { area, covariance } = hullShape(hull);
    expect(area).toBe(10);
    expect(covariance[0]![0]).toBeCloseTo(1.033333, 6);
    expect(covariance[0]![1]).toBeCloseTo(0.65, 12);
    expect(covariance[1]![1]).toBeCloseTo(1.033333, 6);
    expect(
      [
        [1, 0],
        [1, 1],
        [1, -1],
        [2, 2],
      ].map((z) => normIn(hull, z as unknown as Point)),
    ).toEqual([rational(2, 3), rational(1, 2), one, one]);
  });
});

/** Largest log ratio of any output for two protected cells, over all cells around, in exact fractions. */
function worst({ epsilon, sizeOf }: GridNoise, set: readonly Point[]): Rational {
  let most = rational(0);
  for (const a of set)
    for (const b of set)
      for (let x = -12; x <= 12; x++)
        for (let y = -12; y <= 12; y++) {
          const [near, far] = [sizeOf([x - a[0], y - a[1]]), sizeOf([x - b[0], y - b[1]])];
          if (near === undefined || far === undefined) continue;
          const ratio = multiply(epsilon, subtract(far, near));
          if (compare(ratio, most) > 0) most = ratio;
        }
  return most;
}

/** Chi-squared statistic of the draws over the cells with more than 20 expected. */
function off(noise: GridNoise, draws: number, draw: () => Point): { readonly chi: number; readonly cells: number } {
  const seen = new Map<string, number>();
  for (let k = 0; k < draws; k++) {
    const z = draw();
    seen.set(`${z}`, (seen.get(`${z}`) ?? 0) + 1);
  }
  const distribution = new Map<string, number>();
  for (let x = -60; x <= 60; x++)
    for (let y = -60; y <= 60; y++) {
      const size = noise.sizeOf([x, y]);
      if (size !== undefined) distribution.set(`${[x, y]}`, Math.exp(-toNumber(noise.epsilon) * toNumber(size)));
    }
  const mass = [...distribution.values()].reduce((a, b) => a + b, 0);
  const large = [...distribution].filter(([, w]) => (draws * w) / mass > 20);
  const chi = large.reduce((sum, [z, w]) => sum + ((seen.get(z) ?? 0) - (draws * w) / mass) ** 2 / ((draws * w) / mass), 0);
  return { chi, cells: large.length };
}

describe('noise on the grid', () => {
  it('the log ratio of two protected cells is at most epsilon, and reaches it', () => {
    expect(worst(hullNoise(hull, one), cells)).toEqual(one);
    const line: readonly Point[] = [
      [0, 0],
      [2, 4],
      [3, 6],
    ];
    expect(worst(hullNoise(sensitivityHull(line), one), line)).toEqual(one);
    // A hull that leaves a cell out is caught.
    expect(compare(worst(hullNoise(sensitivityHull(cells.slice(0, 3)), one), cells), one)).toBe(1);
  });

  it('the log ratio of two cells is at most epsilon times their distance, for distance noise', () => {
    const near: readonly Point[] = [
      [0, 0],
      [1, 0],
    ];
    expect(compare(worst(distanceNoise(one), near), one)).toBeLessThanOrEqual(0);
    expect(toNumber(worst(distanceNoise(one), near))).toBeCloseTo(1, 5);
  });

  it('the draws have the declared distribution', () => {
    const bits = testBits(11);
    for (const noise of [
      hullNoise(hull, one),
      distanceNoise(rational(1, 2)),
      hullNoise(
        sensitivityHull([
          [0, 0],
          [2, 4],
        ]),
        one,
      ),
    ]) {
      const { chi, cells: n } = off(noise, 12_000, () => noise.draw(bits));
      expect(chi).toBeLessThan(n + 5 * Math.sqrt(2 * n));
    }
  });

  it('the test detects draws with another epsilon, or along the axes', () => {
    const bits = testBits(12);
    const noise = hullNoise(hull, one);
    const wider = hullNoise(hull, rational(9, 10));
    const turned = hullNoise(sensitivityHull(cells.map(([x, y]) => [x, -y])), one);
    for (const wrong of [wider, turned]) {
      const { chi, cells: n } = off(noise, 12_000, () => wrong.draw(bits));
      expect(chi).toBeGreaterThan(n + 8 * Math.sqrt(2 * n));
    }
  });

  it('the noise has nearly the covariance of the distribution in the plane', () => {
    const noise = hullNoise(hull, rational(1, 4));
    expect(noise.meanSquare / (16 * 24.8)).toBeCloseTo(1, 2);
    expect(
      hullNoise(
        sensitivityHull([
          [0, 0],
          [3, 0],
        ]),
        one,
      ).meanSquare,
    ).toBeCloseTo(1 / (2 * Math.sinh(1 / 6) ** 2), 9);
    expect(hullNoise(sensitivityHull([[4, 4]]), one).draw()).toEqual([0, 0]);
  });
});

describe('one moment', () => {
  const grid: readonly Point[] = Array.from({ length: 25 }, (_, k) => [k % 5, Math.floor(k / 5)]);
  const belief = grid.map(([x, y]) => (x === y ? 0.18 : 0.005));

  it('a moment protects the likely cells, and releases another cell as the nearest of them', () => {
    const moment = locationMoment(grid, belief, 0.1, one);
    expect(moment.protected).toEqual([0, 6, 12, 18, 24]);
    expect(surrogateOf(moment, 1)).toBe(0);
    expect(surrogateOf(moment, 12)).toBe(12);
    const z = releaseAt(moment, 1, testBits(3));
    expect(z[0] - z[1]).toBe(0);
    // All on one line: less noise than a disc that covers it.
    expect(moment.noise.meanSquare).toBeLessThan(moment.comparator.meanSquare);
  });

  it("a release changes beliefs by Bayes' rule within the promise", () => {
    const moment = locationMoment(grid, belief, 0.1, one);
    for (const z of [
      [0, 0],
      [2, 2],
      [-3, -3],
      [9, 9],
    ] as const) {
      const now = updatedBelief(moment, z);
      expect(now.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
      for (const a of moment.protected)
        for (const b of moment.protected) {
          const moved = Math.log(now[a]! / now[b]!) - Math.log(belief[a]! / belief[b]!);
          expect(moved).toBeLessThanOrEqual(1 + 1e-9);
        }
    }
  });
});
