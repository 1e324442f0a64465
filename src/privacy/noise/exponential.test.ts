import { describe, expect, it } from 'vitest';
import { alpha, chiSquare } from '../../../test/goodness-of-fit.js';
import { parseRational, rational, toNumber } from '../../base/exact/rational.js';
import { bernoulliExponential } from './bernoulli.js';
import { cryptoBits, type Digits } from './bits.js';
import { type Candidates, chooseExponential, exponentialSampler } from './exponential.js';

const countsOf = (n: number, cells: number, draw: () => number): number[] => {
  const counts = new Array<number>(cells).fill(0);
  for (let i = 0; i < n; i++) counts[draw()]!++;
  return counts;
};
const probabilitiesOf = ({ scores, multiplicities }: Candidates, rate: number): number[] => {
  const best = Math.max(...scores.map(Number));
  const weights = scores.map((s, i) => Number(multiplicities?.[i] ?? 1n) * Math.exp(rate * (Number(s) - best)));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / total);
};
/** A p-value over the cells that can happen; a hit where the probability is zero is certain failure. */
const fits = (counts: number[], probability: number[]): boolean => {
  const live = probability.map((p, i) => [counts[i]!, p] as const).filter(([, p]) => p > 1e-4);
  if (counts.some((c, i) => c > 0 && probability[i] === 0)) return false;
  return (
    chiSquare(
      live.map(([c]) => c),
      live.map(([, p]) => p),
    ) > alpha
  );
};
const digitsOf = (base: number): Digits => ({ base, word: () => cryptoBits.below(base), bit: () => cryptoBits.bit() });

/** The same distribution by rejection: propose uniformly, keep with e^(-rate gap). */
function chooseByRejection(scores: readonly bigint[], rate: ReturnType<typeof rational>): number {
  const best = [...scores].sort((a, b) => (a < b ? 1 : -1))[0]!;
  for (;;) {
    const i = cryptoBits.below(scores.length);
    if (bernoulliExponential(rational(rate.num * (best - scores[i]!), rate.den))) return i;
  }
}

describe('the exponential mechanism', () => {
  const scores = [3n, 5n, -2n, 5n, 0n, 4n];
  const cases: [string, Candidates, string][] = [
    ['a gentle rate', { scores }, '1/10'],
    ['a steep rate', { scores }, '7/3'],
    ['rate zero', { scores }, '0'],
    ['multiplicities', { scores, multiplicities: [1n, 0n, 100n, 2n, 7n, 3n] }, '1/2'],
    ['a best score that cannot happen', { scores: [9n, 1n, 0n], multiplicities: [0n, 1n, 1n] }, '1'],
    ['an impossible last candidate', { scores: [1n, 1n, 9n], multiplicities: [2n, 1n, 0n] }, '1'],
    ['one candidate', { scores: [7n] }, '1'],
    ['scores far apart', { scores: [0n, -(10n ** 30n), 1n] }, '1/3'],
  ];
  it.each(cases)('the mechanism has its distribution with %s', (_, candidates, text) => {
    const rate = parseRational(text);
    const counts = countsOf(12_000, candidates.scores.length, exponentialSampler(candidates, rate));
    const probability = probabilitiesOf(candidates, toNumber(rate));
    if (candidates.scores.length > 1) expect(fits(counts, probability)).toBe(true);
    else expect(counts[0]).toBe(12_000);
  });

  it('the mechanism stays exact with two-valued digits, where most draws need more precision', () => {
    const rate = parseRational('1/2');
    const counts = countsOf(6000, scores.length, exponentialSampler({ scores }, rate, digitsOf(2)));
    expect(fits(counts, probabilitiesOf({ scores }, 0.5))).toBe(true);
  });

  it('the mechanism agrees with rejection sampling', () => {
    const rate = parseRational('2/5');
    const probability = probabilitiesOf({ scores }, 0.4);
    expect(
      fits(
        countsOf(20_000, scores.length, () => chooseByRejection(scores, rate)),
        probability,
      ),
    ).toBe(true);
    expect(fits(countsOf(20_000, scores.length, exponentialSampler({ scores }, rate)), probability)).toBe(true);
  });

  it('the test detects a rate that is wrong by a tenth', () => {
    const counts = countsOf(40_000, scores.length, exponentialSampler({ scores }, parseRational('11/20')));
    expect(fits(counts, probabilitiesOf({ scores }, 0.5))).toBe(false);
  });

  it('the mechanism never selects a candidate a thousand nats behind, and handles it quickly', () => {
    const counts = countsOf(2000, 2, () =>
      chooseExponential({ scores: [0n, -1000n], multiplicities: [1n, 10n ** 9n] }, rational(1)),
    );
    expect(counts).toEqual([2000, 0]);
  });

  it('the mechanism refuses an empty list, a negative rate and invalid multiplicities', () => {
    expect(() => chooseExponential({ scores: [] }, rational(1))).toThrow(RangeError);
    expect(() => chooseExponential({ scores: [1n] }, rational(-1))).toThrow(RangeError);
    expect(() => chooseExponential({ scores: [1n], multiplicities: [0n] }, rational(1))).toThrow(RangeError);
    expect(() => chooseExponential({ scores: [1n], multiplicities: [1n, 2n] }, rational(1))).toThrow(RangeError);
  });
});
