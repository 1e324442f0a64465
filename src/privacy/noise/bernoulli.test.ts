import { describe, expect, it } from 'vitest';
import { alpha, chiSquare } from '../../../test/goodness-of-fit.js';
import { fromNumber, parseRational, type Rational, toNumber } from '../../base/exact/rational.js';
import { bernoulli, bernoulliExponential } from './bernoulli.js';
import { cryptoBits, type Digits } from './bits.js';
import { survives } from './unit-exponential.js';

const fits = (p: number, draw: () => boolean, n = 60_000): boolean => {
  let hits = 0;
  for (let i = 0; i < n; i++) if (draw()) hits++;
  if (p === 0 || p === 1) return hits === n * p;
  return chiSquare([hits, n - hits], [p, 1 - p]) > alpha;
};
const digitsOf = (base: number): Digits => ({ base, word: () => cryptoBits.below(base), bit: () => cryptoBits.bit() });

describe('a Bernoulli coin', () => {
  it.each(['0', '1', '1/3', '2/7', '999/1000'])('the coin has probability %s', (text) => {
    const p = parseRational(text);
    expect(fits(toNumber(p), () => bernoulli(p))).toBe(true);
  });

  it.each(['0', '1/10', '2/3', '1', '7/5', '3', '50/7'])('the coin has probability e^-%s', (text) => {
    const x = parseRational(text);
    expect(fits(Math.exp(-toNumber(x)), () => bernoulliExponential(x))).toBe(true);
  });

  it('the test detects a coin whose run is stopped one step early', () => {
    const x = parseRational('2/3');
    expect(fits(1 - toNumber(x), () => bernoulliExponential(x))).toBe(false);
  });

  it('the coin refuses a negative exponent', () => {
    expect(() => bernoulliExponential(parseRational('-1/2'))).toThrow(RangeError);
  });
});

describe('survival in plain numbers', () => {
  const x = 0.7310585786300049;
  const exact = (): Rational => fromNumber(x);
  it.each([2, 4, 2 ** 32])('survival has probability e^-x with digits of %i values', (base) => {
    expect(fits(Math.exp(-x), () => survives(x, x, exact, digitsOf(base)))).toBe(true);
  });
  it('survival evaluates the exact number only in doubt, and then decides by it', () => {
    const wide = { low: 0, high: 1 };
    expect(fits(Math.exp(-x), () => survives(wide.low, wide.high, exact, cryptoBits))).toBe(true);
    expect(fits(Math.exp(-x), () => survives(wide.low, wide.high, () => parseRational('1/2'), cryptoBits))).toBe(false);
    const never = (): Rational => {
      throw new Error('evaluated without doubt');
    };
    expect(fits(Math.exp(-1), () => survives(1, 1, never, cryptoBits))).toBe(true);
    expect(fits(1, () => survives(0, 0, never, cryptoBits))).toBe(true);
  });
});
