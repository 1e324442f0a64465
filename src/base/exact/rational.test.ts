import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../errors.js';
import {
  add,
  ceiling,
  compare,
  divide,
  equal,
  floor,
  fromNumber,
  isZero,
  maximum,
  minimum,
  multiply,
  negate,
  nextDown,
  nextUp,
  parseRational,
  type Rational,
  rational,
  subtract,
  sum,
  toNumber,
  toNumberDown,
  toNumberUp,
  toText,
  zero,
} from './rational.js';

const anyRational: fc.Arbitrary<Rational> = fc
  .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.bigInt({ min: 1n, max: 10n ** 40n }))
  .map(([n, d]) => rational(n, d));
const anyDouble = fc.double({ noNaN: true, noDefaultInfinity: true });

describe('rational numbers', () => {
  it('a rational is stored in lowest terms with a positive denominator', () => {
    expect(rational(6, -4)).toEqual({ num: -3n, den: 2n });
    expect(rational(0, -7)).toEqual({ num: 0n, den: 1n });
    expect(() => rational(1, 0)).toThrow(RangeError);
  });

  it('rationals obey the laws of an ordered field', () => {
    fc.assert(
      fc.property(anyRational, anyRational, anyRational, (a, b, c) => {
        expect(equal(add(a, b), add(b, a))).toBe(true);
        expect(equal(multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c)))).toBe(true);
        expect(isZero(subtract(a, a))).toBe(true);
        if (!isZero(b)) expect(equal(multiply(divide(a, b), b), a)).toBe(true);
        expect(compare(a, b)).toBe(0 - compare(b, a));
        if (compare(a, b) <= 0) expect(compare(add(a, c), add(b, c))).toBeLessThanOrEqual(0);
        expect(equal(add(minimum(a, b), maximum(a, b)), add(a, b))).toBe(true);
        expect(equal(sum([a, b, c]), add(a, add(b, c)))).toBe(true);
        expect(equal(sum([]), zero)).toBe(true);
      }),
    );
  });

  it('a rational lies between its floor and its ceiling', () => {
    fc.assert(
      fc.property(anyRational, (a) => {
        const low = rational(floor(a));
        const high = rational(ceiling(a));
        expect(compare(low, a)).toBeLessThanOrEqual(0);
        expect(compare(a, high)).toBeLessThanOrEqual(0);
        expect(high.num - low.num <= 1n).toBe(true);
      }),
    );
    expect(floor(rational(-7, 2))).toBe(-4n);
    expect(ceiling(rational(-7, 2))).toBe(-3n);
  });
});

describe('parsing of rationals', () => {
  it.each([
    ['0.3', '3/10'],
    ['1e-6', '1/1000000'],
    ['2/3', '2/3'],
    ['-4/6', '-2/3'],
    ['.5', '1/2'],
    ['+2.50', '5/2'],
    [' 12E2 ', '1200'],
    ['7.', '7'],
  ])('the parser reads %s as exactly %s', (text, want) => expect(toText(parseRational(text))).toBe(want));

  it.each(['', 'NaN', 'Infinity', '1e400', '1e-400', '0x10', '1/0', '1/-2', '--1', '1.2.3', '.', 'e5', '1e99999', '1_000'])(
    'the parser refuses "%s" with a message that names its purpose',
    (text) => {
      expect(() => parseRational(text, 'epsilon')).toThrow(Fault);
      expect(() => parseRational(text, 'epsilon')).toThrow(/epsilon/);
    },
  );

  it('a rational survives being written and parsed', () => {
    fc.assert(
      fc.property(anyRational, (a) => {
        expect(parseRational(toText(a))).toEqual(a);
      }),
    );
  });

  it('the parser reads a decimal exactly that a double would round', () => {
    const tenth = parseRational('0.1');
    expect(compare(tenth, fromNumber(0.1))).toBe(-1);
  });
});

describe('conversion between doubles and rationals', () => {
  it('every finite double converts to a rational and back without change', () => {
    fc.assert(fc.property(anyDouble, (x) => toNumber(fromNumber(x)) === x));
    expect(fromNumber(Number.MIN_VALUE)).toEqual({ num: 1n, den: 1n << 1074n });
    expect(() => fromNumber(Number.NaN)).toThrow(RangeError);
  });

  it('rounding up returns the least double that is not below the rational', () => {
    const wide = fc.tuple(anyRational, fc.integer({ min: -330, max: 265 })).map(([a, e]) => multiply(a, tenTo(e)));
    fc.assert(
      fc.property(wide, (a) => {
        const up = toNumberUp(a);
        const down = toNumberDown(a);
        if (Number.isFinite(up)) expect(compare(fromNumber(up), a)).toBeGreaterThanOrEqual(0);
        if (Number.isFinite(nextDown(up))) expect(compare(fromNumber(nextDown(up)), a)).toBe(-1);
        expect(equal(negate(fromNumber(down)), fromNumber(toNumberUp(negate(a))))).toBe(true);
        expect(compare(fromNumber(down), a)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('rounding inwards stays finite when the rational exceeds all doubles', () => {
    const huge = rational(10n ** 400n);
    expect(toNumberUp(huge)).toBe(Number.POSITIVE_INFINITY);
    expect(toNumberDown(huge)).toBe(Number.MAX_VALUE);
    expect(toNumberUp(negate(huge))).toBe(-Number.MAX_VALUE);
  });

  it('rounding reaches the smallest doubles without stepping through them', () => {
    expect(nextDown(toNumberUp(rational(1n, 10n ** 310n)))).toBe(1e-310);
    expect(toNumberUp(rational(1n, 10n ** 400n))).toBe(Number.MIN_VALUE);
    expect(toNumberDown(rational(1n, 10n ** 400n))).toBe(0);
  });
});

describe('the step to the next double', () => {
  const view = new DataView(new ArrayBuffer(8));
  const byBits = (x: number): number => {
    if (x === 0) return Number.MIN_VALUE;
    view.setFloat64(0, x);
    view.setBigInt64(0, view.getBigInt64(0) + (x > 0 ? 1n : -1n));
    return view.getFloat64(0);
  };

  it('a step leads to the neighbour by bit pattern', () => {
    const edge = fc.tuple(fc.constantFrom(1, -1), fc.integer({ min: -1074, max: 1023 })).map(([s, e]) => s * 2 ** e);
    fc.assert(
      fc.property(fc.oneof(anyDouble, edge, edge.map(byBits), edge.map(nextDown)), (x) => {
        expect(nextUp(x)).toBe(byBits(x));
        expect(nextDown(nextUp(x)) === x || nextUp(x) === Number.POSITIVE_INFINITY).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('the next double follows its definition at infinities, NaN and zero', () => {
    expect(nextUp(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
    expect(nextUp(Number.MAX_VALUE)).toBe(Number.POSITIVE_INFINITY);
    expect(nextUp(Number.NEGATIVE_INFINITY)).toBe(-Number.MAX_VALUE);
    expect(nextUp(Number.NaN)).toBeNaN();
    expect(nextDown(0)).toBe(-Number.MIN_VALUE);
  });
});

function tenTo(e: number): Rational {
  return e < 0 ? rational(1n, 10n ** BigInt(-e)) : rational(10n ** BigInt(e));
}
