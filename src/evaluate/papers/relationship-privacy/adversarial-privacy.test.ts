import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  beliefGain,
  breaking,
  conditioned,
  distinguishable,
  exchanges,
  indistinguishability,
  isConditionallyNegative,
  isLogSubmodular,
  isPlanar,
  isTotallyLogSubmodular,
  monotoneFormulas,
  type Prior,
  posteriorBelief,
  probability,
  relaxedParams,
  towards,
} from '../../../../test/adversarial-privacy.js';

const ones = (mask: number) => mask.toString(2).replaceAll('0', '').length;
const normal = (weights: readonly number[]): Prior => {
  const total = weights.reduce((a, b) => a + b, 0);
  return Float64Array.from(weights, (w) => w / total);
};
/** Independent tuples, conditioned on the size of the database: planar and totally log-submodular. */
const tilted = (odds: readonly number[], size: number): Prior =>
  normal(
    Array.from({ length: 1 << odds.length }, (_, i) =>
      ones(i) === size ? odds.reduce((p, o, t) => (i & (1 << t) ? p * o : p), 1) : 0,
    ),
  );
const odds = (n: number) => fc.array(fc.double({ min: 0.05, max: 20, noNaN: true }), { minLength: n, maxLength: n });
/** Any planar prior of size two over four tuples. */
const planar = fc
  .array(fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 1, noNaN: true })), { minLength: 6, maxLength: 6 })
  .filter((w) => w.some((x) => x > 0))
  .map((weights) => {
    const pairs = [3, 5, 6, 9, 10, 12];
    return normal(Array.from({ length: 16 }, (_, i) => (pairs.includes(i) ? weights[pairs.indexOf(i)]! : 0)));
  });
const epsilons = fc.constantFrom(0.1, 0.5, 1, 2);

describe('adversarial privacy on small domains', () => {
  it('indistinguishability gives adversarial privacy against planar totally log-submodular priors, and no more (Theorem 2.12)', () => {
    let reached = 0;
    fc.assert(
      fc.property(odds(4), fc.integer({ min: 1, max: 3 }), fc.nat(15), epsilons, (o, size, target, epsilon) => {
        const prior = tilted(o, size);
        expect(isPlanar(prior) && isTotallyLogSubmodular(prior)).toBe(true);
        fc.pre(ones(target) === size);
        const gain = beliefGain(prior, towards(target, epsilon, 4));
        expect(gain).toBeLessThanOrEqual(epsilon + 1e-9);
        reached = Math.max(reached, gain / epsilon);
      }),
      { numRuns: 300 },
    );
    // An attacker who knows all but one tuple, and thinks it unlikely, gains epsilon.
    const informed = tilted([1e9, 1e9, 1e-9, 1], 3);
    expect(beliefGain(informed, towards(7, 1, 4))).toBeCloseTo(1, 3);
    expect(reached).toBeGreaterThan(0.5);
  });

  it('positive correlations break adversarial privacy: up to twice epsilon with pairs that come together', () => {
    // Either the first two tuples or the last two.
    const together = normal(Array.from({ length: 16 }, (_, i) => (i === 3 ? 1e-6 : i === 12 ? 1 : 0)));
    expect(isTotallyLogSubmodular(together)).toBe(false);
    expect(isTotallyLogSubmodular(together, 2)).toBe(true);
    const gain = beliefGain(together, towards(3, 1, 4));
    expect(gain).toBeGreaterThan(1.99);
    expect(gain).toBeLessThanOrEqual(2);
  });

  it('adversarial privacy costs k epsilon when tuples may be positively correlated with k - 1 others (Proposition 4.6)', () => {
    fc.assert(
      fc.property(planar, fc.nat(15), epsilons, (prior, target, epsilon) => {
        const gain = beliefGain(prior, towards(target, epsilon, 4));
        for (const k of [1, 2]) if (isTotallyLogSubmodular(prior, k)) expect(gain).toBeLessThanOrEqual(k * epsilon + 1e-9);
      }),
      { numRuns: 400 },
    );
  });

  it('negatively associated priors are exactly the totally log-submodular ones (Proposition 3.10)', () => {
    const seen = { yes: 0, no: 0 };
    fc.assert(
      fc.property(
        fc.oneof(
          planar,
          odds(4).map((o) => tilted(o, 2)),
        ),
        (prior) => {
          const total = isTotallyLogSubmodular(prior);
          expect(isConditionallyNegative(prior)).toBe(total);
          seen[total ? 'yes' : 'no']++;
        },
      ),
      { numRuns: 150 },
    );
    expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(10);
  });

  it('the relative tolerance is needed: it rejects a false prior with tiny probabilities', () => {
    const tiny = normal(
      Array.from({ length: 16 }, (_, i) => (i === 12 ? 1 : i === 3 ? 1e-13 : [5, 6, 9, 10].includes(i) ? 1e-14 : 0)),
    );
    expect(isTotallyLogSubmodular(tiny)).toBe(false);
    expect(isLogSubmodular(tilted([1, 2, 3, 4], 2))).toBe(true);
  });

  it('adversarial privacy breaks for every prior with enough positive association (Theorem 3.12)', () => {
    let broken = 0;
    fc.assert(
      fc.property(planar, (prior) => {
        for (let t = 0; t < 4; t++) {
          const has = (i: number) => (i & (1 << t)) !== 0;
          const p = probability(prior, has);
          for (const m of monotoneFormulas(4, t)) {
            const excess = probability(prior, (i) => has(i) && m(i)) - p * probability(prior, m) - p * p;
            if (p < 1e-6 || excess < 1e-3) continue;
            const found = [0.2, 0.05, 0.01, 0.001].some((epsilon) => {
              const likelihood = breaking(4, t, m, epsilon);
              expect(indistinguishability(likelihood)).toBeLessThanOrEqual(epsilon * (1 + 1e-9));
              return posteriorBelief(prior, likelihood, has) > Math.exp(epsilon) * p * (1 + 1e-12);
            });
            expect(found).toBe(true);
            broken++;
          }
        }
      }),
      { numRuns: 100 },
    );
    expect(broken).toBeGreaterThan(20);
  });

  it('adversarial privacy follows from relaxed indistinguishability when marginals are small (Theorem 4.3)', () => {
    const n = 8;
    let strictlyRelaxed = 0;
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.6, max: 1.4, noNaN: true }), { minLength: n, maxLength: n }),
        fc.array(fc.double({ min: -3, max: 0, noNaN: true }), { minLength: n, maxLength: n }),
        (weights, logs) => {
          const prior = tilted(weights, 1);
          const delta = Math.max(...weights.map((_, t) => probability(prior, (i) => i === 1 << t))) * (1 + 1e-9);
          const epsilon = 1;
          const { l, epsilonPrime } = relaxedParams(delta, epsilon, 0.5);
          const likelihood = Float64Array.from({ length: 1 << n }, (_, i) => (ones(i) === 1 ? Math.exp(logs[Math.log2(i)]!) : 1));
          const singles = (most: number) => {
            // Only databases of one tuple are possible here.
            let worst = 0;
            for (let t = 0; t < n; t++) worst = Math.max(worst, logs.filter((x, u) => u !== t && logs[t]! >= most + x).length);
            return worst;
          };
          if (singles(epsilonPrime) > l) return;
          if (singles(epsilon) > 0) strictlyRelaxed++;
          expect(beliefGain(prior, likelihood)).toBeLessThanOrEqual(epsilon + 1e-9);
        },
      ),
      { numRuns: 2000 },
    );
    expect(strictlyRelaxed).toBeGreaterThan(5);
    expect(relaxedParams(0.01, 1, 0.5)).toEqual({ l: 48, epsilonPrime: 1 + Math.log(0.5) });
    expect(() => relaxedParams(0.1, 0.1, 0.5)).toThrow(/r e\^epsilon/);
  });

  it('distinguishable tuples are counted', () => {
    expect(distinguishable(towards(3, 0.5, 4), 0.6)).toBe(0);
    expect(distinguishable(towards(3, 0.7, 4), 0.6)).toBe(2);
    expect(exchanges(0b0011, 0b1001)).toBe(1);
  });

  it('adversarial privacy covers monotone properties of a set of which exactly one tuple is there (Proposition 4.4)', () => {
    fc.assert(
      fc.property(odds(4), fc.nat(15), epsilons, fc.integer({ min: 1, max: 6 }), (o, target, epsilon, wanted) => {
        // Exactly one of the first three tuples.
        const prior = conditioned(tilted(o, 2), (i) => ones(i & 7) === 1)!;
        fc.pre(isTotallyLogSubmodular(prior) && ones(target) === 2);
        const property = (i: number) => (i & wanted) !== 0;
        const p = probability(prior, property);
        expect(posteriorBelief(prior, towards(target, epsilon, 4), property)).toBeLessThanOrEqual(
          Math.exp(epsilon) * p * (1 + 1e-9),
        );
      }),
      { numRuns: 300 },
    );
  });
});
