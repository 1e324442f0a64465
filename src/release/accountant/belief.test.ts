import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, divide, fromNumber, parseRational, type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { posteriorAtLeast, posteriorAtMost } from '../../policy/belief.js';
import { beliefBudget, beliefRows, identifiability, readEpsilon, readProbability } from './belief.js';
import { beliefSentence, naturalFrequency, percentText } from './belief-words.js';

const budget = (prior: string, posterior: string) => beliefBudget(parseRational(prior), parseRational(posterior));

describe('epsilon from belief', () => {
  it.each([
    ['0.2', '0.5', 1.38629436112, 0.721347520444],
    ['0.1', '0.2', 0.810930216216, 1.23315173119],
    ['0.3', '0.31', 0.0471785602751, 21.1960685992],
  ])('epsilon from belief agrees with the test vectors for %s to %s', (prior, posterior, epsilon, scale) => {
    const found = toNumber(budget(prior, posterior).epsilon);
    expect(Math.abs(found - epsilon)).toBeLessThan(1e-9);
    expect(Math.abs(1 / found - scale)).toBeLessThan(1e-9);
  });

  it('a budget bounds beliefs downward by the same odds factor', () => {
    const { oddsFactor, downward, epsilon } = budget('0.2', '0.5');
    expect(toNumber(oddsFactor)).toBe(4);
    expect([toNumber(downward.from), toNumber(downward.to)]).toEqual([0.5, 0.2]);
    expect(posteriorAtLeast(downward.from, epsilon)).toBeCloseTo(0.2, 12);
  });

  it('differential identifiability is the case of equally likely people', () => {
    const posterior = parseRational('0.3');
    expect(toNumber(identifiability(50, posterior).epsilon)).toBeCloseTo(Math.log((49 * 0.3) / 0.7), 12);
    expect(identifiability(50, posterior)).toEqual(beliefBudget(rational(1, 50), posterior));
  });

  it.each([
    ['a posterior equal to the prior', () => budget('0.3', '0.3')],
    ['a posterior below the prior', () => budget('0.3', '0.2')],
    ['a prior of zero', () => readProbability('0', 'prior')],
    ['a prior of one', () => readProbability('1', 'prior')],
    ['a probability above one', () => readProbability('1.5', 'posterior')],
    ['a negative probability', () => readProbability('-0.1', 'prior')],
    ['NaN', () => readProbability('NaN', 'prior')],
    ['a number beyond reason', () => readProbability('1e99', 'prior')],
    ['epsilon zero', () => readEpsilon('0')],
    ['a negative epsilon', () => readEpsilon('-1')],
    ['one candidate', () => identifiability(1, parseRational('0.5'))],
    ['half a candidate', () => identifiability(2.5, parseRational('0.5'))],
    ['a posterior below random guessing', () => identifiability(4, parseRational('0.2'))],
    ['beliefs too close for any budget', () => budget('0.5', '0.50000000000000000001')],
  ])('a belief budget refuses %s, with a hint that would work', (_what, work) => {
    expect(work).toThrowError(expect.objectContaining({ code: 'BUDGET_INVALID', hint: expect.stringMatching(/./) }));
  });
});

const probability = fc.integer({ min: 1, max: 9999 }).map((k) => rational(k, 10_000));

describe('the posterior from epsilon', () => {
  it('the posterior inverts epsilon from belief, rounded up upward and down downward', () => {
    fc.assert(
      fc.property(probability, probability, (a, b) => {
        fc.pre(compare(a, b) !== 0);
        const [prior, posterior] = compare(a, b) < 0 ? [a, b] : [b, a];
        const { epsilon } = beliefBudget(prior, posterior);
        expect(posteriorAtMost(prior, epsilon)).toBeCloseTo(toNumber(posterior), 9);
        expect(posteriorAtLeast(posterior, epsilon)).toBeCloseTo(toNumber(prior), 9);
      }),
      { numRuns: 2000 },
    );
  });

  it('the posterior grows with epsilon and with the prior', () => {
    fc.assert(
      fc.property(probability, probability, fc.double({ min: 0.01, max: 5, noNaN: true }), (a, b, e) => {
        const [low, high] = compare(a, b) <= 0 ? [a, b] : [b, a];
        expect(posteriorAtMost(low, fromNumber(e))).toBeLessThanOrEqual(posteriorAtMost(high, fromNumber(e)) + 1e-12);
        expect(posteriorAtMost(low, fromNumber(e))).toBeLessThanOrEqual(posteriorAtMost(low, fromNumber(e * 2)) + 1e-12);
      }),
    );
  });

  it('the posterior is the prior at epsilon zero and certainty at infinite epsilon', () => {
    const p = rational(1, 10);
    expect(posteriorAtMost(p, rational(1, 10n ** 18n))).toBeCloseTo(0.1, 12);
    expect(posteriorAtMost(p, rational(2000))).toBe(1);
    expect(posteriorAtLeast(p, rational(2000))).toBe(0);
    expect(beliefRows(rational(1)).every((r) => r.atLeast < r.prior && r.prior < r.atMost)).toBe(true);
  });
});

describe('breaches of a belief budget', () => {
  /** A small fast generator: the cases must be many, not secret. */
  let seed = 20260731;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };

  it('no breach occurs upward or downward in 100,000 random priors, mechanisms and statements', () => {
    let worst = 0;
    for (let run = 0; run < 100_000; run++) {
      const low = 0.001 + 0.998 * random();
      const high = low + (1 - low) * (0.001 + 0.998 * random());
      const epsilon = toNumber(beliefBudget(fromNumber(low), fromNumber(high)).epsilon);
      const size = 2 + Math.floor(random() * 5);
      // Any mechanism whose likelihoods of one output lie within e^epsilon of each other.
      const likelihood = Array.from({ length: size }, () =>
        Math.exp(epsilon * (random() < 0.5 ? Math.round(random()) : random())),
      );
      const cut = 1 + Math.floor(random() * (size - 1));
      const inside = random() < 0.5 ? low * (random() < 0.5 ? 1 : random()) : high + (1 - high) * (random() < 0.5 ? 0 : random());
      const weights = likelihood.map(() => random() + 1e-9);
      const sum = (from: number, to: number) => weights.slice(from, to).reduce((s, w) => s + w, 0);
      const prior = weights.map((w, k) => (k < cut ? (w / sum(0, cut)) * inside : (w / sum(cut, size)) * (1 - inside)));
      const evidence = prior.map((p, k) => p * likelihood[k]!);
      const total = evidence.reduce((s, w) => s + w, 0);
      const after = evidence.slice(0, cut).reduce((s, w) => s + w, 0) / total;
      const breach = inside <= low ? after - high : low - after;
      worst = Math.max(worst, breach);
    }
    expect(worst).toBeLessThan(1e-9);
  });

  it('the bound is tight: two values and an output beyond both reach it', () => {
    for (const [low, high] of [
      ['0.2', '0.5'],
      ['0.01', '0.6'],
      ['0.3', '0.31'],
    ] as const) {
      const { prior, posterior, epsilon } = budget(low, high);
      const ratio = Math.exp(toNumber(epsilon));
      const p = toNumber(prior);
      expect(Math.abs((p * ratio) / (p * ratio + 1 - p) - toNumber(posterior))).toBeLessThan(1e-6);
    }
  });
});

describe('belief in words', () => {
  const epsilon = (p: string, q: string): Rational => budget(p, q).epsilon;

  it('belief in words counts whole people and rounds against the promise', () => {
    const frequency = naturalFrequency(parseRational('0.1'), epsilon('0.1', '0.3'));
    expect(frequency).toMatchObject({ of: 100, before: 10, atMost: 30 });
    expect(frequency.sentence).toMatch(
      /^Of 100 people an attacker suspects at 10 %, 10 are rightly suspected\. .*at most 30 of 100/,
    );
    expect(naturalFrequency(parseRational('0.001'), rational(1)).of).toBe(1000);
    expect(naturalFrequency(parseRational('0.0001'), rational(1)).of).toBe(100_000);
  });

  it('belief in words names delta whenever there is one', () => {
    expect(naturalFrequency(parseRational('0.1'), rational(1), 1e-6).sentence).toMatch(/except with probability 0\.000001/);
    expect(beliefSentence(parseRational('0.1'), parseRational('0.3'), 1e-6)).toMatch(/except with probability/);
    expect(beliefSentence(parseRational('0.1'), parseRational('0.3'))).not.toMatch(/except/);
  });

  it('belief in words never understates a percentage', () => {
    expect(percentText(0.3001, 'up')).toBe('31 %');
    expect(percentText(0.3, 'up')).toBe('30 %');
    expect(percentText(0.2999, 'down')).toBe('29 %');
    expect(percentText(0.0123, 'up')).toBe('1.3 %');
    expect(percentText(toNumber(divide(rational(1), rational(3))))).toBe('33 %');
  });
});
