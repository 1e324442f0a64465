import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, fromNumber, rational, toNumber } from '../../base/exact/rational.js';
import { amountWithin } from './affected-accounts.js';

describe('the part of an amount that takes no more than a share', () => {
  const curves = [(x: number) => x, (x: number) => x ** 2, Math.sqrt, (x: number) => Math.max(x / 3, x - 0.2), Math.tanh];

  it('amountWithin finds the largest part within the share', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...curves),
        fc.double({ min: 1e-3, max: 10, noNaN: true }),
        fc.double({ min: 1e-3, max: 1, noNaN: true }),
        (curve, amount, share) => {
          const found = toNumber(amountWithin(fromNumber(amount), fromNumber(share), (x) => curve(toNumber(x)))!);
          expect(curve(found)).toBeLessThan(share + 1e-9);
          if (found < amount) expect(curve(found)).toBeGreaterThan(share - 1e-8);
        },
      ),
    );
  });

  it('amountWithin returns the whole amount if it fits, and nothing if the smallest part does not', () => {
    const amount = rational(1, 3);
    expect(compare(amountWithin(amount, rational(1, 2), (x) => toNumber(x))!, amount)).toBe(0);
    expect(amountWithin(amount, rational(1, 10), (x) => 0.2 + toNumber(x))).toBeUndefined();
  });
});
