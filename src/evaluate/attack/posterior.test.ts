import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../test/vectors.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { modelPosterior, posteriorTable } from './posterior.js';

const mean = (known: readonly number[]) => (x: number | string) => [
  [...known, Number(x)].reduce((s, v) => s + v, 0) / (known.length + 1),
];

/** Two bits that agree with probability .9. */
const twins: Model = {
  ids: ['ann', 'bob'],
  values: [
    [0, 1],
    [0, 1],
  ],
  factors: [{ records: [0, 1], table: Float64Array.of(0.45, 0.05, 0.05, 0.45) }],
};

describe('the posterior of one unknown value', () => {
  it('the posterior reproduces the table of Ouyang et al. with its two errors corrected', () => {
    const rows = posteriorTable({
      universe: [1, 2, 3, 5, 10],
      answerIf: mean([1, 2, 3]),
      answer: [5.041],
      noise: { kind: 'laplace', scale: 1.125 },
    });
    const { density, posterior }: { density: number[]; posterior: number[] } = readVectors('exact-loss').lpb_table1;
    expect(density).toHaveLength(rows.length);
    for (const [k, row] of rows.entries()) {
      expect(Math.abs(row.density - density[k]!)).toBeLessThan(1e-9);
      expect(Math.abs(row.posterior - posterior[k]!)).toBeLessThan(1e-9);
    }
    expect(rows[1]!.noise[0]).toBeCloseTo(3.041, 12);
  });

  it('the posterior is a distribution for every prior, answer and kind of noise, however extreme', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 2, maxLength: 6 }),
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.constantFrom('laplace', 'gaussian'),
        (weights, answer, kind) => {
          const total = weights.reduce((s, w) => s + w, 0);
          const rows = posteriorTable({
            universe: weights.map((_, k) => k),
            prior: weights.map((w) => w / total),
            answerIf: (v) => [Number(v)],
            answer: [answer],
            noise: kind === 'laplace' ? { kind, scale: 0.1 } : { kind: 'gaussian', variance: 0.01 },
          });
          expect(rows.reduce((s, r) => s + r.posterior, 0)).toBeCloseTo(1, 9);
          expect(rows.every((r) => r.posterior >= 0)).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['one value', { universe: [1] }],
    ['a prior that does not add up', { prior: [0.2, 0.2] }],
    ['a prior of another length', { prior: [1] }],
    ['no noise', { noise: { kind: 'laplace', scale: 0 } as const }],
    ['noise that is no number', { noise: { kind: 'gaussian', variance: Number.NaN } as const }],
    ['an answer that is no number', { answer: [Number.NaN] }],
    ['an answer of another shape', { answer: [1, 2] }],
  ])('the posterior refuses %s with a hint', (_what, over) => {
    const base = {
      universe: [0, 1],
      answerIf: (v: number | string) => [Number(v)],
      answer: [1],
      noise: { kind: 'laplace', scale: 1 } as const,
    };
    expect(() => posteriorTable({ ...base, ...over })).toThrowError(expect.objectContaining({ code: 'QUERY_INVALID' }));
  });
});

describe('the posterior on a dependence model', () => {
  it('the posterior shows what ties reveal beyond independent records', () => {
    const { withTies, withoutTies, gain } = modelPosterior(twins, {
      about: 'ann',
      query: 'sum',
      answer: [2],
      noise: { kind: 'laplace', scale: 1 },
    });
    expect(withTies[1]!.prior).toBeCloseTo(0.5, 12);
    // P(r | ann = 1) = .9 e^0 + .1 e^-1, P(r | ann = 0) = .9 e^-2 + .1 e^-1
    const up = 0.9 + 0.1 * Math.exp(-1);
    const down = 0.9 * Math.exp(-2) + 0.1 * Math.exp(-1);
    expect(withTies[1]!.posterior).toBeCloseTo(up / (up + down), 12);
    const separate = [0.5 + 0.5 * Math.exp(-1), 0.5 * Math.exp(-2) + 0.5 * Math.exp(-1)] as const;
    expect(withoutTies[1]!.posterior).toBeCloseTo(separate[0] / (separate[0] + separate[1]), 12);
    expect(gain.withTies).toBeGreaterThan(1);
    expect(gain.withoutTies).toBeLessThanOrEqual(1 + 1e-12);
  });

  it("the posterior conditions on the attacker's knowledge", () => {
    const released = modelPosterior(twins, {
      about: 'ann',
      query: 'sum',
      answer: [1],
      noise: { kind: 'laplace', scale: 1 },
      known: { bob: 1 },
    });
    expect(released.withTies[1]!.prior).toBeCloseTo(0.9, 12);
    expect(released.withoutTies[1]!.prior).toBeCloseTo(0.5, 12);
    expect(released.withTies[1]!.posterior).toBeCloseTo((0.9 * Math.exp(-1)) / (0.9 * Math.exp(-1) + 0.1), 12);
  });

  it('records and values that do not exist are refused', () => {
    const base = { about: 'ann', query: 'sum', answer: [1], noise: { kind: 'laplace', scale: 1 } as const };
    for (const wrong of [
      { about: 'eve' },
      { known: { eve: 1 } },
      { known: { bob: 7 } },
      { known: { ann: 1 } },
      { query: 'median' },
    ])
      expect(() => modelPosterior(twins, { ...base, ...wrong })).toThrowError(expect.objectContaining({ code: 'QUERY_INVALID' }));
  });
});
