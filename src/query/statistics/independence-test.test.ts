import { describe, expect, it } from 'vitest';
import { normalFrom, seeded } from '../../../experiments/coverage/world.js';
import { independenceTest } from './independence-test.js';

const random = seeded(9);
const levels = (parts: readonly number[]): number => {
  let [u, k] = [random(), 0];
  while (k < parts.length - 1 && u > parts[k]!) u -= parts[k++]!;
  return k;
};
const noises = {
  laplace: (scale: number) => {
    const u = random() - 0.5;
    return Math.round(-Math.sign(u) * scale * Math.log(1 - 2 * Math.abs(u)));
  },
  gaussian: (scale: number) => Math.round(scale * Math.SQRT2 * normalFrom(random)),
};

/** Rejection rate at 5 % for independent answers, when the test takes that much of the noise into account. */
function rejected(
  noise: keyof typeof noises,
  rows: readonly number[],
  columns: readonly number[],
  known: number,
  tries = 1500,
): number {
  const scale = 4;
  let times = 0;
  for (let t = 0; t < tries; t++) {
    const table = rows.map(() => columns.map(() => 0));
    for (let i = 0; i < 300; i++) table[levels(rows)]![levels(columns)]!++;
    const noisyTable = table.map((row) => row.map((x) => x + noises[noise](scale)));
    if (independenceTest(noisyTable, { variance: known * 2 * scale ** 2, laplace: noise === 'laplace' }, 1).chance < 0.05)
      times++;
  }
  return times / tries;
}

describe('the chi-square test of a noisy table', () => {
  // Exact p-values: summed over all tables of that many people, equal departures included.
  it.each([
    [[4, 1], [0, 3], 0.0358],
    [[2, 2, 0], [0, 1, 3], 0.0435],
    [[3, 0], [0, 3], 0.0303],
  ])('the simulated p-value counts equally extreme tables despite rounding: %j %j', (a, b, exact) => {
    const { chance } = independenceTest([a, b], { variance: 0, laplace: true }, 1);
    expect(chance / exact).toBeGreaterThan(0.6);
    expect(chance / exact).toBeLessThan(1.6);
  });

  it.each([
    ['laplace', [0.5, 0.5], [0.3, 0.7]],
    ['gaussian', [0.5, 0.5], [0.3, 0.7]],
    ['laplace', [0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4]],
    ['gaussian', [0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4]],
  ] as const)('the test rejects independent tables in about 5 of 100 draws: %s, %j by %j', (noise, rows, columns) => {
    const share = rejected(noise, rows, columns, 1);
    expect(share).toBeGreaterThan(0.033);
    expect(share).toBeLessThan(0.067);
  });

  it('the test rejects no more often when cells are nearly empty and noise is small, and repeats its p-value', () => {
    const [few, rare] = [
      [0.9, 0.08, 0.02],
      [0.3, 0.3, 0.2, 0.1, 0.05, 0.03, 0.015, 0.005],
    ];
    let times = 0;
    for (let t = 0; t < 400; t++) {
      const table = few!.map(() => rare!.map(() => 0));
      for (let i = 0; i < 300; i++) table[levels(few!)]![levels(rare!)]!++;
      const noise = { variance: 1e-4, laplace: true };
      const { chance, statistic } = independenceTest(table, noise, 1);
      if (chance < 0.05) times++;
      if (t === 0) expect(independenceTest(table, noise, 1)).toMatchObject({ chance, statistic });
    }
    expect(times / 400).toBeGreaterThan(0.01);
    // The asymptotic distribution of the statistic, without simulation, rejects 7 in 100 here.
    expect(times / 400).toBeLessThan(0.06);
  });

  it('a test that ignores the noise rejects several times as often', () => {
    expect(rejected('laplace', [0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4], 0, 100)).toBeGreaterThan(0.25);
  });

  it('the test is Pearson’s where there is no noise', () => {
    const table = [
      [20, 30, 50],
      [40, 30, 30],
    ];
    const { statistic, degrees, chance } = independenceTest(table, { variance: 0, laplace: false }, 1);
    // 10^2/30 x 2 + 0 + 10^2/40 x 2
    expect(statistic).toBeCloseTo(200 / 30 + 200 / 40, 9);
    expect(degrees).toBe(2);
    expect(chance).toBeCloseTo(Math.exp(-statistic! / 2), 9);
    expect(independenceTest(table, { variance: 0, laplace: false }, 2).statistic).toBeCloseTo(statistic! / 2, 9);
  });

  it('the test reports nothing where the noise left no rows, and detects real dependence', () => {
    expect(
      independenceTest(
        [
          [-3, 1],
          [0, 1],
        ],
        { variance: 4, laplace: true },
        1,
      ),
    ).toMatchObject({ statistic: null, chance: 1 });
    const strong = independenceTest(
      [
        [500, 20],
        [30, 450],
      ],
      { variance: 32, laplace: true },
      1,
    );
    expect(strong.chance).toBeLessThan(1e-6);
    expect(strong.cramersV).toBeGreaterThan(0.8);
  });
});
