import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromNumber, type Rational, rational } from '../../src/base/exact/rational.js';
import { enumerate, type JointDistribution } from '../../src/privacy/dependence/model/joint.js';
import { readModel } from '../../src/privacy/dependence/model/model-file.js';
import { cryptoBits } from '../../src/privacy/noise/bits.js';
import { laplaceNumbers } from '../../src/privacy/noise/discrete-laplace.js';
import { betaCdf, lowerLimit, upperLimit } from './confidence.js';
import { auditOutputs, auditSamplers, lowestBit, type Output } from './statistical.js';
import { worldGiven } from './worlds.js';

const samples = 60_000;
const draw = (sampler: () => Output) => Array.from({ length: samples }, sampler);
const laplace = (scale: Rational) => {
  const { draw: next } = laplaceNumbers(scale);
  return () => Number(next());
};
const total = (x: readonly number[]) => x.reduce((s, v) => s + v, 0);
const joint = (sizes: readonly number[], table: readonly number[]): JointDistribution =>
  enumerate({
    ids: sizes.map((_, j) => `r${j}`),
    values: sizes.map((m) => Array.from({ length: m }, (_, v) => v)),
    factors: [{ records: [...sizes.keys()], table: Float64Array.from(table) }],
  });
const xor = enumerate(readModel(readFileSync(new URL('../../examples/models/xor.json', import.meta.url), 'utf8'), 'xor.json'));
const twins = joint([2, 2], [1, 0, 0, 1]);

/** Outputs in the two worlds where record 0 has value 0 or 1. */
const between = (model: JointDistribution, release: (x: readonly number[]) => Output) =>
  auditOutputs(
    ...([0, 1].map((value) =>
      draw(
        (
          (world) => () =>
            release(world())
        )(worldGiven(model, 0, value)),
      ),
    ) as [Output[], Output[]]),
  );

describe('the statistical auditor on honest mechanisms', () => {
  it('the auditor passes a count with discrete Laplace noise and sees nearly all of its loss', () => {
    for (const epsilon of [0.5, 1, 2]) {
      const noise = laplace(fromNumber(1 / epsilon));
      const found = auditOutputs(
        draw(noise),
        draw(() => 1 + noise()),
      );
      expect(found.epsilon).toBeLessThanOrEqual(epsilon);
      expect(found.epsilon).toBeGreaterThan(epsilon * 0.75);
    }
  });

  it('the auditor passes a histogram, twins under group noise and the xor model under group noise', () => {
    const half = laplace(rational(2));
    const third = laplace(rational(3));
    expect(
      auditOutputs(
        draw(() => [half(), 1 + half(), 5 + half()]),
        draw(() => [1 + half(), half(), 5 + half()]),
      ).epsilon,
    ).toBeLessThanOrEqual(1);
    expect(between(twins, (x) => total(x) + half()).epsilon).toBeLessThanOrEqual(1);
    expect(between(xor, (x) => total(x) + third()).epsilon).toBeLessThanOrEqual(1);
    expect(between(xor, (x) => x.map((v) => v + third())).epsilon).toBeLessThanOrEqual(1);
  });

  it('the auditor passes two worlds that are the same', async () => {
    const noise = laplace(rational(1));
    expect((await auditSamplers({ first: noise, second: async () => noise() }, 5000)).epsilon).toBe(0);
    expect(auditOutputs([], []).epsilon).toBe(0);
  });
});

describe('the statistical auditor on planted violations of epsilon 1', () => {
  const caught = (found: { epsilon: number }) => expect(found.epsilon).toBeGreaterThan(1);
  const one = laplace(rational(1));

  it('the auditor detects floating-point noise', () => {
    const uniform = () => (cryptoBits.below(2 ** 53) + 0.5) / 2 ** 53;
    const float = () => (uniform() < 0.5 ? -1 : 1) * Math.log(uniform());
    const found = auditOutputs(
      draw(() => 0 + float()),
      draw(() => 1 + float()),
    );
    expect(found.event).toContain('lowest bit');
    caught(found);
  });

  it('the auditor detects half the scale', () => {
    const half = laplace(rational(1, 2));
    caught(
      auditOutputs(
        draw(half),
        draw(() => 1 + half()),
      ),
    );
  });

  it('the auditor detects a missing self term: noise for the effect through a weak tie, and none for the record itself', () => {
    const pair = joint([2, 2], [0.3, 0.2, 0.2, 0.3]);
    const scale = laplace(fromNumber(Math.log(1.5)));
    caught(between(pair, (x) => total(x) + scale()));
  });

  it('the auditor detects xor columns under dependent perturbation, as a sum and column by column', () => {
    caught(between(xor, (x) => total(x) + one()));
    caught(between(xor, (x) => x.map((v) => v + one())));
  });

  it('the auditor detects correlated sensitivity on data whose Pearson correlation is zero', () => {
    const model = joint([3, 2], [1, 0, 0, 1, 1, 0]);
    caught(between(model, ([a, b]) => (a === 1 ? 1 : 0) + b! + one()));
  });

  it('the auditor detects parallel composition across twins', () => {
    caught(between(twins, ([a, b]) => [a! + one(), b! + one()]));
  });
});

describe('the parts of the auditor', () => {
  it('the bound of a probability equals Clopper and Pearson 1934', () => {
    expect(upperLimit(0, 100, 0.025)).toBeCloseTo(1 - 0.025 ** (1 / 100), 10);
    expect(lowerLimit(10, 100, 0.025)).toBeCloseTo(0.0490047, 6);
    expect(upperLimit(10, 100, 0.025)).toBeCloseTo(0.1762226, 6);
    expect(betaCdf(2, 3, 0.4)).toBeCloseTo(0.5248, 10);
    expect(betaCdf(30_000, 30_000, 0.5)).toBeCloseTo(0.5, 9);
    expect([lowerLimit(0, 5, 0.1), upperLimit(5, 5, 0.1)]).toEqual([0, 1]);
  });

  it('the last bit of a double is read', () => {
    expect([1, 3, 0.5, 0.75, 2 ** 52 + 1, 1 + 2 ** -52, 6].map(lowestBit)).toEqual([0, 0, -1, -2, 0, -52, 1]);
  });

  it('worlds are drawn with the right frequencies', () => {
    const model = joint([2, 3], [1, 2, 3, 0, 0, 4]);
    const world = worldGiven(model, 0, 0);
    const counts = [0, 0, 0];
    for (let k = 0; k < 6000; k++) counts[world()[1]!]!++;
    for (const [v, n] of counts.entries()) expect(Math.abs(n - 1000 * (v + 1))).toBeLessThan(250);
    expect(worldGiven(model, 0, 1)()).toEqual([1, 2]);
  });
});
