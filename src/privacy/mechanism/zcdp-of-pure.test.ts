import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, fromNumber, parseRational, rational, toNumber } from '../../base/exact/rational.js';
import { fromStored, inZcdp, nothingSpent, pureCost, spend, toStored, withZcdp, zcdpOfAll } from './privacy-cost.js';
import { everyRecord, slice, sliced, slicingOf } from './record-class.js';
import { pureOfZcdp, zcdpOfPure } from './zcdp-of-pure.js';

/** Renyi divergence of order alpha between two distributions on whole numbers. */
const renyi = (p: readonly number[], q: readonly number[], alpha: number): number =>
  Math.log(p.reduce((sum, x, k) => sum + x * (x / q[k]!) ** (alpha - 1), 0)) / (alpha - 1);
const orders = [1.0001, 1.01, 1.5, 2, 3, 7, 20, 60];
const epsilons = [0.01, 0.1, 0.5, 1, 2, 3];

describe('the zCDP cost of one pure draw', () => {
  it('the zCDP cost bounds every order of randomised response, and no smaller one does', () => {
    for (const epsilon of epsilons) {
      const high = Math.exp(epsilon) / (1 + Math.exp(epsilon));
      const [p, q] = [[high, 1 - high], [1 - high, high]]; // biome-ignore format: one line
      const rho = toNumber(zcdpOfPure(fromNumber(epsilon)));
      for (const alpha of orders) expect(renyi(p, q, alpha)).toBeLessThanOrEqual(alpha * rho * (1 + 1e-9));
      expect(renyi(p, q, 1.0001)).toBeGreaterThan(0.999 * rho);
      expect(rho).toBeLessThanOrEqual((epsilon ** 2 / 2) * (1 + 1e-12));
    }
  });

  it('the zCDP cost bounds discrete Laplace noise, and half of it does not', () => {
    const distribution = (epsilon: number, at: number) =>
      Array.from({ length: 400 }, (_, k) => Math.tanh(epsilon / 2) * Math.exp(-epsilon * Math.abs(k - 200 - at)));
    for (const epsilon of [0.2, 0.5, 1, 2]) {
      const divergences = orders.map((alpha) => renyi(distribution(epsilon, 0), distribution(epsilon, 1), alpha) / alpha);
      const rho = toNumber(zcdpOfPure(fromNumber(epsilon)));
      expect(Math.max(...divergences)).toBeLessThanOrEqual(rho * (1 + 1e-9));
      expect(Math.max(...divergences)).toBeGreaterThan(rho / 2);
    }
  });

  it('the zCDP cost is inverted by the largest epsilon that it permits', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 500, noNaN: true }), (rho) => {
        const found = pureOfZcdp(fromNumber(rho));
        return (
          compare(zcdpOfPure(found), fromNumber(rho)) <= 0 &&
          compare(zcdpOfPure(fromNumber(toNumber(found) * (1 + 1e-9))), fromNumber(rho)) > 0
        );
      }),
    );
  });

  it('the zCDP cost adds up draw by draw and survives being stored', () => {
    const tenth = withZcdp(pureCost([[everyRecord, rational(1, 10)]]));
    const two = spend(spend(nothingSpent, tenth), tenth);
    expect(toNumber(zcdpOfAll(two).perRecord.get(everyRecord)!)).toBeCloseTo(0.2 * Math.tanh(0.05), 12);
    expect(toStored(fromStored(toStored(two.pure)))).toEqual(toStored(two.pure));
    // Four draws of a quarter each.
    const four = withZcdp(pureCost([[everyRecord, rational(1, 10)]]), 4);
    expect(toNumber(inZcdp(four).perRecord.get(everyRecord)!)).toBeCloseTo(0.1 * Math.tanh(0.0125), 12);
  });

  it('an entry without a number of draws counts as one draw, by value too, and its text is unchanged', () => {
    const week = slicingOf('week', 'x');
    const old = pureCost([
      [everyRecord, parseRational('0.3')],
      [sliced(week), parseRational('0.2')],
      [slice(week, 1, 1), parseRational('0.2')],
    ]);
    expect(toStored(spend(nothingSpent, old).pure)).not.toHaveProperty('zcdp');
    const cost = inZcdp(old).perRecord;
    const price = (e: number) => e * Math.tanh(e / 2);
    const rest = toNumber(cost.get(everyRecord)!) - toNumber(cost.get(sliced(week))!);
    expect(rest).toBeCloseTo(price(0.1), 12);
    expect(rest + toNumber(cost.get(slice(week, 1, 1))!)).toBeCloseTo(price(0.3), 12);
  });
});
