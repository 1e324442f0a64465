import { describe, expect, it } from 'vitest';
import { failuresOf, gaussianDistribution, laplaceDistribution } from '../../../test/goodness-of-fit.js';
import { rational, toNumber } from '../../base/exact/rational.js';
import { additiveMechanism } from './additive.js';
import { type BudgetShare, pure, zcdp } from './budget-share.js';
import { exponentialMechanism } from './exponential-mechanism.js';
import { ladderMechanism } from './ladder-mechanism.js';
import type { Mechanism } from './mechanism.js';
import { Payment } from './payment.js';
import { everyRecord } from './record-class.js';
import { type RecordSensitivity, sensitivityOn } from './sensitivity.js';
import { smoothMechanism } from './smooth-sensitivity.js';

/** Cost, plan and receipt are computed from the distribution; these tests compare it with the draws, for every mechanism. */
const sensitivity: RecordSensitivity = sensitivityOn([everyRecord], { l1: 2n, l2squared: 2n });
const followed = { name: 'x', classes: [everyRecord] };
/** Fraction of `draws` that satisfy the predicate. */
const part = <T>(draws: readonly T[], is: (drawn: T) => boolean): number => draws.filter(is).length / draws.length;
const many = <M extends Mechanism, T>(mechanism: M, draws: number, draw: (mechanism: M, payment: Payment) => T): T[] =>
  Array.from({ length: draws }, () => draw(mechanism, new Payment([mechanism])));
function expectPart(found: number, expected: number, draws: number): void {
  expect(Math.abs(found - expected)).toBeLessThan(6 * Math.sqrt((expected * (1 - expected)) / draws));
}

describe('drawn noise', () => {
  it.each<[string, BudgetShare]>([
    ['Laplace', pure(rational(1, 2))],
    ['Gaussian', zcdp(rational(1, 20))],
  ])('the drawn %s noise has the stated distribution', (_, share) => {
    const noise = additiveMechanism({ name: 'x', cells: 20_000, sensitivity }, share);
    const { distribution } = noise;
    const drawn = noise
      .prepare(new Payment([noise]))(new Array<bigint>(20_000).fill(7n))
      .map((x) => Number(x - 7n));
    if (distribution.kind === 'none') throw new Error('no noise');
    expect(
      failuresOf(
        drawn,
        distribution.kind === 'laplace'
          ? laplaceDistribution(toNumber(distribution.scale))
          : gaussianDistribution(toNumber(distribution.variance)),
      ),
    ).toEqual([]);
  });

  it.each<[string, BudgetShare]>([
    ['pure', pure(rational(1))],
    ['zcdp', zcdp(rational(1, 8))],
  ])('a drawn selection has the stated sharpness, by penalties and their order, in %s accounting', (_, share) => {
    const choice = exponentialMechanism({ name: 'x', cells: 1, sensitivity }, share);
    if (choice.distribution.kind !== 'selection') throw new Error('no choice');
    const sharpness = toNumber(choice.distribution.sharpness);
    const penalties = [3n, 0n, 1n];
    const weights = penalties.map((p) => Math.exp(-sharpness * Number(p)));
    const total = weights.reduce((a, b) => a + b);
    const drawn = many(choice, 10_000, (c, payment) => c.choose(payment, penalties));
    for (const [k, weight] of weights.entries()) {
      const found = part(drawn, (c) => c === k);
      expectPart(found, weight / total, drawn.length);
    }
  });

  it('the drawn ladder noise decays at the stated rate', () => {
    const noise = ladderMechanism(followed, pure(rational(1)));
    const width = (t: number) => BigInt(2 + t);
    const decay = toNumber(noise.distribution.decay);
    // Rung u holds the 2 width(u - 1) numbers beyond those before it.
    const weights = [1, ...Array.from({ length: 400 }, (_, u) => 2 * Number(width(u)) * Math.exp(-decay * (u + 1)))];
    const total = weights.reduce((a, b) => a + b);
    const drawn = many(noise, 4000, (l, payment) => Number(l.addNoise(payment, 50n, { width, widest: 1000n }) - 50n));
    let [reach, mass] = [0, 0];
    for (let u = 0; u < 6; u++) {
      mass += weights[u]! / total;
      expectPart(
        part(drawn, (x) => Math.abs(x) <= reach),
        mass,
        drawn.length,
      );
      reach += Number(width(u));
    }
  });

  it('the drawn smooth noise has the stated width, by the widest rung that beta permits', () => {
    const noise = smoothMechanism(followed, pure(rational(1)));
    const [scale, beta] = [toNumber(noise.distribution.scale), toNumber(noise.distribution.beta)];
    const rungs = { width: (t: number) => (t < 3 ? 1n : 1000n), widest: 1000n };
    const wide = scale * 1000 * Math.exp(-3 * beta);
    const drawn = many(noise, 3000, (s, payment) => Math.abs(Number(s.addNoise(payment, 0n, rungs))));
    for (const z of [0.25, 0.5, 1, 2])
      expectPart(
        part(drawn, (x) => x <= z * wide),
        within(z),
        drawn.length,
      );
  });
});

/** P(|Z| <= z) for a density like 1 / (1 + z^4), by the midpoint rule. */
function within(z: number): number {
  const steps = 10_000;
  let sum = 0;
  for (let k = 0; k < steps; k++) sum += 1 / (1 + (((k + 0.5) * z) / steps) ** 4);
  return (((sum * z) / steps) * 2 * Math.SQRT2) / Math.PI;
}
