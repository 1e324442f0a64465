import { describe, expect, it } from 'vitest';
import type { AdditiveDistribution } from './distribution.js';
import { sumOfNumbers } from './noise-sum.js';
import { endsOfMean, endsOfShare, factorsAt, ofMean, ofShare, type QuotientQuery, quotientIntervals } from './quotient.js';

const alpha = 0.05;
type Outcomes = readonly (readonly [x: number, p: number])[];
/** All outcomes of a discrete noise but those less likely than one in a million. */
function outcomes(distribution: AdditiveDistribution<number>): Outcomes {
  const mass = (x: number): number =>
    distribution.kind === 'laplace'
      ? Math.exp(-Math.abs(x) / distribution.scale)
      : distribution.kind === 'gaussian'
        ? Math.exp((-x * x) / (2 * distribution.variance))
        : 0;
  const xs = Array.from({ length: 161 }, (_, k) => k - 80);
  const all = xs.reduce((sum, x) => sum + mass(x), 0);
  return xs.map((x) => [x, mass(x) / all] as const).filter(([, p]) => p > 1e-6);
}
function added(a: Outcomes, b: Outcomes): Outcomes {
  const sums = new Map<number, number>();
  for (const [x, p] of a) for (const [y, q] of b) sums.set(x + y, (sums.get(x + y) ?? 0) + p * q);
  return [...sums].filter(([, p]) => p > 1e-6);
}

/** Probability that the interval does not hold the quotient, summed over all outcomes of both noises. */
function missed(
  first: Outcomes,
  second: Outcomes,
  read: (x: number, y: number) => QuotientQuery,
  interval: ReturnType<typeof quotientIntervals>,
  truth: number,
): { readonly below: number; readonly above: number } {
  let [below, above] = [0, 0];
  for (const [x, p] of first)
    for (const [y, q] of second) {
      const query = read(x, y);
      if (query.bottom <= 0) continue;
      const { low, high } = interval(query);
      if (truth > high + 1e-12) below += p * q;
      if (truth < low - 1e-12) above += p * q;
    }
  return { below, above };
}

const distributions: readonly AdditiveDistribution<number>[] = [
  { kind: 'laplace', scale: 2 },
  { kind: 'gaussian', variance: 9 },
];

describe('intervals near an end of the range', () => {
  it.each(distributions)('the interval of a share misses it in no more than 5 of 100, for any share: %o', (distribution) => {
    const one = outcomes(distribution);
    for (const others of [1, 3]) {
      const noise = { factor: 1, noise: distribution };
      const interval = quotientIntervals([[noise], new Array(others).fill(noise)], alpha);
      let rest = one;
      for (let k = 1; k < others; k++) rest = added(rest, one);
      for (const part of [0, 2, 4, 6, 8, 10, 13]) {
        const whole = 70;
        const found = missed(
          one,
          rest,
          (x, y) => ({
            top: part + x,
            bottom: whole + x + y,
            factors: ofShare,
            within: [0, 1],
            ends: endsOfShare(1, 1 + others),
          }),
          interval,
          part / whole,
        );
        expect(found.below + found.above, `${part} of ${whole}, ${others}`).toBeLessThan(0.05);
        // The two sides are exclusive: if nothing lies below, more may lie above.
        if (part <= 4) expect(found.below).toBeLessThan(1e-6);
      }
    }
  });

  it('the interval of a share further from the end misses it on either side, and on neither more often', () => {
    const distribution: AdditiveDistribution<number> = { kind: 'gaussian', variance: 36 };
    const [noise, one] = [{ factor: 1, noise: distribution }, outcomes(distribution)];
    const interval = quotientIntervals([[noise], [noise]], alpha);
    const whole = 150;
    const found = [9, 11, 13, 14, 15, 16, 18, 21].map((part) => {
      const read = (x: number, y: number): QuotientQuery => ({
        top: part + x,
        bottom: whole + x + y,
        factors: ofShare,
        within: [0, 1],
        ends: endsOfShare(1, 2),
      });
      const { below, above } = missed(one, one, read, interval, part / whole);
      return below + above;
    });
    expect(Math.max(...found)).toBeLessThan(0.05);
    expect(Math.min(...found)).toBeGreaterThan(0.025);
  });

  it.each(distributions)('the interval of a mean misses it in no more than 5 of 100, for any mean: %o', (distribution) => {
    const [top, bottom] = [outcomes(distribution), outcomes(distribution)];
    const interval = quotientIntervals([[{ factor: 10, noise: distribution }], [{ factor: 1, noise: distribution }]], alpha);
    for (const mean of [-10, -9, -8, -6, -3, 0, 7, 10]) {
      const rows = 30;
      const read = (x: number, y: number): QuotientQuery => ({
        top: mean * rows + 10 * x,
        bottom: rows + y,
        factors: ofMean,
        within: [-10, 10],
        ends: endsOfMean,
      });
      const { below, above } = missed(top, bottom, read, interval, mean);
      expect(below + above, `${mean}`).toBeLessThan(0.05);
    }
  });

  it('the interval with ends is never longer than without, and sometimes shorter', () => {
    const noise = { factor: 1, noise: distributions[0]! };
    const interval = quotientIntervals([[noise], [noise]], alpha);
    const sum = sumOfNumbers([[noise], [noise]], alpha);
    let shorter = 0;
    for (let part = -20; part <= 40; part++) {
      const query = { top: part, bottom: 200, factors: ofShare, within: [0, 1] } as const;
      const [plain, ends] = [interval(query), interval({ ...query, ends: endsOfShare(1, 2) })];
      expect(ends.high).toBe(plain.high);
      expect(ends.low).toBeGreaterThanOrEqual(plain.low);
      expect(ends.low).toBeLessThanOrEqual(ends.value);
      if (ends.low === plain.low) continue;
      shorter++;
      // Only values are excluded that the interval of zero would cover.
      expect(sum.beyond(factorsAt(ofShare, ends.low), ends.low * 200)).toBeLessThan(1e-6);
    }
    expect(shorter).toBeGreaterThan(5);
  });
});
