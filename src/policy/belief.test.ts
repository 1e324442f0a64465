import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, one, parseRational, rational, toNumber } from '../base/exact/rational.js';
import { epsilonFromOdds, oddsFactor, posteriorAtMost } from './belief.js';

const probability = fc.integer({ min: 1, max: 9999 });

describe('epsilon from a belief', () => {
  it('epsilon keeps every attacker at or below the posterior and is within one part in a billion of the largest such value', () => {
    fc.assert(
      fc.property(probability, probability, (a, b) => {
        fc.pre(a < b);
        const epsilon = epsilonFromOdds(oddsFactor(rational(a, 10000), rational(b, 10000)));
        const highest = posteriorAtMost(rational(a, 10000), epsilon);
        expect(highest).toBeLessThanOrEqual((b / 10000) * (1 + 1e-14));
        expect(highest).toBeGreaterThan((b / 10000) * (1 - 1e-9));
      }),
    );
  });

  it('the epsilon for an increase of one statement equals that for a decrease of its opposite', () => {
    fc.assert(
      fc.property(probability, probability, (a, b) => {
        const [p, q] = [rational(a, 10000), rational(b, 10000)];
        const [notP, notQ] = [rational(10000 - a, 10000), rational(10000 - b, 10000)];
        expect(compare(oddsFactor(p, q), oddsFactor(notQ, notP))).toBe(0);
      }),
    );
  });

  it('epsilon is zero if prior and posterior are too close', () => {
    expect(toNumber(epsilonFromOdds(one))).toBe(0);
    expect(toNumber(epsilonFromOdds(parseRational('0.5')))).toBe(0);
  });
});
