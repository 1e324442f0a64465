import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { artanhDown, artanhUp, mulDown, mulUp, tanhDown, tanhUp } from '../../../base/exact/outward.js';
import { contraction, push } from './push.js';

const inf = Number.POSITIVE_INFINITY;
const positive = fc.double({ min: 1e-12, max: 60, noNaN: true });

describe('push', () => {
  it('push is never below 4 artanh(tanh(B/4) tanh(D/4)), and at most a few units in the last place above it', () => {
    fc.assert(
      fc.property(positive, positive, (b, d) => {
        const low = 4 * artanhDown(mulDown(tanhDown(b / 4), tanhDown(d / 4)));
        const high = 4 * artanhUp(Math.min(1, mulUp(tanhUp(b / 4), tanhUp(d / 4))));
        expect(push(b, d)).toBeGreaterThanOrEqual(low * (1 - 2 ** -52));
        if (high - low < 1e-12 * high) expect(push(b, d)).toBeLessThanOrEqual(high * (1 + 2 ** -45));
      }),
      { numRuns: 3000 },
    );
  });

  it('push is symmetric up to rounding, monotone in both arguments and at most each of them', () => {
    fc.assert(
      fc.property(positive, positive, positive, (b, d, more) => {
        const here = push(b, d);
        expect(Math.abs(here - push(d, b))).toBeLessThanOrEqual(1e-13 * here);
        expect(push(b + more, d)).toBeGreaterThanOrEqual(here * (1 - 1e-14));
        expect(push(b, d + more)).toBeGreaterThanOrEqual(here * (1 - 1e-14));
        expect(here).toBeLessThanOrEqual(Math.min(b, d));
        expect(here).toBeLessThanOrEqual(contraction(d) * b * (1 + 1e-14));
      }),
    );
  });

  it('push passes everything to copies, nothing to independent records, and at most the odds of an unbounded loss', () => {
    expect(push(0.7, inf)).toBe(0.7);
    expect(push(inf, 0.7)).toBe(0.7);
    expect(push(inf, inf)).toBe(inf);
    expect(push(inf, 0)).toBe(0);
    expect(push(0, inf)).toBe(0);
    expect(push(Number.NaN, 1)).toBeNaN();
  });

  it('push keeps its digits where the artanh form loses them', () => {
    expect(push(1e-9, 1e-9)).toBeCloseTo(2.5e-19, 30);
    expect(push(100, 100)).toBeCloseTo(100 - 2 * Math.log(2), 10);
    expect(push(1e5, 300)).toBe(300);
    expect(push(300, 1e5)).toBe(300);
  });

  it('push is the worst case of a 2x2 table: no tilt of the table exceeds it', () => {
    fc.assert(
      fc.property(
        positive,
        fc.double({ min: 0.01, max: 8, noNaN: true }),
        fc.double({ min: -12, max: 12, noNaN: true }),
        (b0, d, s) => {
          const b = Math.min(b0, 8);
          const share = (odds: number) => odds / (1 + odds);
          const p = share(Math.exp(s + d));
          const q = share(Math.exp(s));
          expect(Math.log1p(p * Math.expm1(b)) - Math.log1p(q * Math.expm1(b))).toBeLessThanOrEqual(push(b, d) + 1e-12);
        },
      ),
    );
  });
});
