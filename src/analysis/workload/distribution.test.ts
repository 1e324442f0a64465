import { describe, expect, it, vi } from 'vitest';
import { category, samplePolicy } from '../../../test/sample-policy.js';
import { rational } from '../../base/exact/rational.js';
import { pure, zcdp } from '../../privacy/mechanism/budget-share.js';
import { Payment } from '../../privacy/mechanism/payment.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { placesWithout, type ResidualLayout } from '../../privacy/mechanism/residual/layout.js';
import { noisedTables } from '../../privacy/mechanism/residual/residual.js';
import { answerTables, halfWidthFactor, tidyTables } from './answer.js';
import { distributionCells, fitDistribution } from './distribution.js';
import { combineParts, tableFrom } from './estimate.js';
import { readWorkload } from './form.js';
import { nonNegative } from './non-negative.js';
import { plainLayout, residualLayout } from './residual-layout.js';

// Seeded noise: every run draws the same.
vi.mock('../../privacy/noise/bits.js', async (original) =>
  (await import('../../../test/seeded-source.js')).seededNoise(
    await original<typeof import('../../privacy/noise/bits.js')>(),
    11,
  ),
);

let seed = 17;
const uniform = () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};

const policy = samplePolicy(
  [2, 3, 4, 6].map((m, k) =>
    category(
      `q${k}`,
      Array.from({ length: m }, (_, v) => String(v)),
    ),
  ),
);
const workload = readWorkload(policy, { tables: [{ all: [1, 2] }] });
const { sizes, tables } = workload;
const cells = sizes.reduce((a, b) => a * b);

/** Dependent answers, some of them rare. */
function dataOf(rows: number): Float64Array {
  const full = new Float64Array(cells);
  for (let r = 0; r < rows; r++) {
    const own = uniform() ** 3;
    const cell = sizes.reduce((at, m) => at * m + Math.min(m - 1, Math.floor(m * (uniform() < 0.8 ? own : uniform() ** 6))), 0);
    full[cell]!++;
  }
  return full;
}
const marginOf = (full: Float64Array, axes: readonly number[]): Float64Array => {
  const { at, cells: own } = placesWithout(
    sizes,
    [...sizes.keys()].reduce((set, k) => (axes.includes(k) ? set : set | (1 << k)), 0),
  );
  const out = new Float64Array(own);
  full.forEach((x, cell) => {
    out[at[cell]!]! += x;
  });
  return out;
};

const ways: readonly (readonly [string, ResidualLayout, ReturnType<typeof zcdp> | ReturnType<typeof pure>])[] = [
  ['Gaussian noise without smaller tables', residualLayout(workload, 'replaced'), zcdp(rational(1, 50))],
  ['Gaussian noise on every table', plainLayout(workload, 'zcdp'), zcdp(rational(1, 50))],
  ['Laplace noise on every table', plainLayout(workload, 'pure'), pure(rational(1, 2))],
];
/** 16 draws in the suite, with a small tolerance; FUGU_COVERAGE of them in a long run. */
const draws = Number(process.env.FUGU_COVERAGE ?? 16);

const tolerance = process.env.FUGU_COVERAGE ? 0 : 0.015;

describe('the distribution behind all tables', () => {
  it('the distribution is fitted when its junction tree is small, which is known before anything is drawn', () => {
    expect(distributionCells(workload)).toBe(cells);
    const many = { sizes: new Array<number>(40).fill(3), tables: [] as { axes: number[]; weight: number }[] };
    for (let a = 0; a < 40; a++) for (let b = 0; b < a; b++) many.tables.push({ axes: [b, a], weight: 1 });
    expect(distributionCells(many)).toBeUndefined();
    expect(distributionCells({ ...many, tables: many.tables.filter(({ axes }) => axes[1] === axes[0]! + 1) })).toBe(39 * 9);
  });
});

describe.each(ways)('%s', (name, layout, budgetShare) => {
  it.each([300, 3_000, 100_000])(
    'confidence intervals hold the truth of 93 to 98 of 100 cells, tidied or not, of %i rows',
    (rows) => {
      const noised = noisedTables(
        { name: 'tables', layout, changes: [{ of: everyRecord, change: 'replaced', rows: 1 }] },
        budgetShare,
      );
      const full = dataOf(rows);
      const vector = noised.vector(layout.parts.map(({ axes }) => Array.from(marginOf(full, axes), BigInt)));
      const payment = new Payment(Array.from({ length: draws }, () => noised.mechanism));
      const kinds = ['as noised', 'one distribution', 'nearest'] as const;
      const sums = new Map(kinds.map((kind) => [kind, { held: 0, cells: 0, square: 0, width: 0 }]));
      for (let turn = 0; turn < draws; turn++) {
        const noisyNumbers = noised.split(noised.mechanism.prepare(payment)(vector).map(Number));
        const estimate = combineParts(layout, noisyNumbers, noised.variance);
        const raw = answerTables(workload, estimate, halfWidthFactor(noised.mechanism.distribution.kind));
        const near = nonNegative(
          estimate,
          tables.map(({ axes }) => axes),
          rows,
        );
        const better = (valuesOf: (axes: readonly number[]) => Float64Array) => tidyTables(workload, raw, valuesOf);
        const targets = tables.map(({ axes }) => axes);
        const answers = {
          'as noised': raw,
          'one distribution': better(fitDistribution(estimate, targets, rows).table),
          nearest: better((axes) => tableFrom(near, axes)),
        };
        for (const kind of kinds)
          for (const [t, { axes }] of tables.entries()) {
            const sum = sums.get(kind)!;
            const exact = marginOf(full, axes);
            for (const [cell, { value, low, high, standardError }] of answers[kind][t]!.rows.entries()) {
              const x = exact[cell]!;
              sum.held += Number(x >= low! && x <= high!);
              sum.square += ((value! - x) / standardError!) ** 2;
              sum.width += (high! - low!) / standardError!;
              sum.cells++;
            }
          }
      }
      if (process.env.FUGU_COVERAGE)
        for (const [kind, { held, cells: n, square, width }] of sums)
          console.log(
            name,
            rows,
            kind,
            `held ${(held / n).toFixed(4)} error ${Math.sqrt(square / n).toFixed(3)} width ${(width / n).toFixed(2)}`,
          );
      for (const kind of kinds) {
        const { held, cells: n } = sums.get(kind)!;
        expect(held / n).toBeGreaterThan(0.93 - tolerance);
        expect(held / n).toBeLessThan(0.98 + tolerance);
      }
      const error = (kind: (typeof kinds)[number]) => sums.get(kind)!.square;
      expect(error('one distribution')).toBeLessThan(1.01 * error('as noised'));
      expect(error('one distribution')).toBeLessThan(1.02 * error('nearest'));
    },
  );
});
