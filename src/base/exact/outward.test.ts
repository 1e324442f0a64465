import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAbove, isBelow, slowArtanh, slowExpm1, slowLog, slowLog1p, slowTanh } from '../../../test/enclosures.js';
import * as outward from './outward.js';
import { add, compare, divide, fromNumber, multiply, nextDown, nextUp, type Rational, subtract, toNumber } from './rational.js';
import { type Enclosure, slowExp } from './slow.js';

type Unary = (x: number) => number;

/** Doubles of every magnitude in the range: uniform, log-uniform and next to the ends of reduction intervals. */
const spread = (low: number, high: number): fc.Arbitrary<number> =>
  fc
    .oneof(
      fc.double({ min: low, max: high, noNaN: true }),
      fc
        .tuple(fc.constantFrom(-1, 1), fc.double({ min: 1, max: 2, noNaN: true }), fc.integer({ min: -1074, max: 1023 }))
        .map(([sign, m, e]) => sign * m * 2 ** e),
      fc
        .tuple(fc.constantFrom(-1, 1), fc.double({ min: 1, max: 2, noNaN: true }), fc.integer({ min: -30, max: 6 }))
        .map(([sign, m, e]) => sign * m * 2 ** e),
      fc
        .tuple(fc.integer({ min: -2100, max: 2100 }), fc.integer({ min: -3, max: 3 }))
        .map(([k, ulps]) => stepBy((k / 2) * Math.LN2, ulps)),
      fc
        .tuple(
          fc.constantFrom(1, -1, 0.17, Math.SQRT1_2, Math.SQRT2, 0.41, -0.29, 0.71, 1.41, 19, 40),
          fc.integer({ min: -9, max: 9 }),
        )
        .map(([x, ulps]) => stepBy(x, ulps)),
    )
    .filter((x) => x >= low && x <= high && x !== 0);
const stepBy = (x: number, ulps: number): number => {
  let y = x;
  for (let i = 0; i < Math.abs(ulps); i++) y = ulps > 0 ? nextUp(y) : nextDown(y);
  return y;
};

/** Units in the last place between two doubles. */
function distance(a: number, b: number): number {
  const view = new DataView(new ArrayBuffer(8));
  const key = (x: number): bigint => {
    view.setFloat64(0, x);
    const bits = view.getBigInt64(0);
    return bits < 0n ? -(bits & 0x7fffffffffffffffn) : bits;
  };
  return Number(key(b) - key(a));
}

const functions: {
  name: string;
  up: Unary;
  down: Unary;
  slow: (x: Rational) => Enclosure;
  range: [number, number];
  ulps: number;
}[] = [
  { name: 'exp', up: outward.expUp, down: outward.expDown, slow: slowExp, range: [-745, 709.7], ulps: 8 },
  { name: 'expm1', up: outward.expm1Up, down: outward.expm1Down, slow: slowExpm1, range: [-745, 709.7], ulps: 10 },
  { name: 'log', up: outward.logUp, down: outward.logDown, slow: slowLog, range: [Number.MIN_VALUE, Number.MAX_VALUE], ulps: 10 },
  {
    name: 'log1p',
    up: outward.log1pUp,
    down: outward.log1pDown,
    slow: slowLog1p,
    range: [-1 + 2 ** -53, Number.MAX_VALUE],
    ulps: 10,
  },
  { name: 'tanh', up: outward.tanhUp, down: outward.tanhDown, slow: slowTanh, range: [-350, 350], ulps: 14 },
  {
    name: 'artanh',
    up: outward.artanhUp,
    down: outward.artanhDown,
    slow: slowArtanh,
    range: [-1 + 2 ** -53, 1 - 2 ** -53],
    ulps: 14,
  },
];

const encloses = (up: Unary, down: Unary, slow: (x: Rational) => Enclosure, x: number): boolean => {
  const truth = slow(fromNumber(x));
  return isAbove(up(x), truth) && isBelow(down(x), truth);
};

describe.each(functions)('the bounds of $name', ({ up, down, slow, range, ulps }) => {
  it('the bounds enclose the value found by integer arithmetic, and closely', () => {
    fc.assert(
      fc.property(spread(...range), (x) => {
        expect(encloses(up, down, slow, x)).toBe(true);
        // Next to the underflow the pads are a few times the least double, whatever x is.
        expect(distance(down(x), up(x))).toBeLessThanOrEqual(Math.abs(x) < 2 ** -1000 ? ulps + 12 : ulps);
      }),
      { numRuns: 1500 },
    );
  });

  it('the test detects bounds that are rounded to the nearest double', () => {
    const nearest = (x: number): number => toNumber(slow(fromNumber(x)).low);
    const caught = fc.check(
      fc.property(spread(Math.max(range[0], -3), Math.min(range[1], 3)), (x) => encloses(nearest, nearest, slow, x)),
    );
    expect(caught.failed).toBe(true);
  });

  it('the bounds of neighbouring arguments are in order', () => {
    fc.assert(
      fc.property(spread(...range), (x) => {
        const y = nextUp(x);
        if (y <= range[1]) expect(up(y)).toBeGreaterThanOrEqual(down(x));
      }),
      { numRuns: 500 },
    );
  });
});

describe('special values of the bounds', () => {
  const o = outward;
  const edges: [string, number, number][] = [
    ['exp 0 up', o.expUp(0), 1],
    ['exp 0 down', o.expDown(0), 1],
    ['exp of huge up', o.expUp(1e300), Number.POSITIVE_INFINITY],
    ['exp of huge down', o.expDown(1e300), Number.MAX_VALUE],
    ['exp of infinity down', o.expDown(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY],
    ['exp of very negative up', o.expUp(-1e300), Number.MIN_VALUE],
    ['exp of very negative down', o.expDown(-1e300), 0],
    ['exp of -infinity up', o.expUp(Number.NEGATIVE_INFINITY), 0],
    ['expm1 0', o.expm1Up(0), 0],
    ['expm1 of -infinity', o.expm1Up(Number.NEGATIVE_INFINITY), -1],
    ['expm1 of very negative up', o.expm1Up(-1000), -1 + 2 ** -53],
    ['expm1 of very negative down', o.expm1Down(-1000), -1],
    ['log 1 up', o.logUp(1), 0],
    ['log 1 down', o.logDown(1), 0],
    ['log 0', o.logUp(0), Number.NEGATIVE_INFINITY],
    ['log infinity', o.logDown(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY],
    ['log of a negative', o.logUp(-1), Number.NaN],
    ['log1p -1', o.log1pUp(-1), Number.NEGATIVE_INFINITY],
    ['log1p infinity', o.log1pDown(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY],
    ['tanh infinity down', o.tanhDown(Number.POSITIVE_INFINITY), 1],
    ['tanh -infinity up', o.tanhUp(Number.NEGATIVE_INFINITY), -1],
    ['tanh of huge up', o.tanhUp(1e300), 1],
    ['tanh of huge down', o.tanhDown(1e300), 1 - 2 ** -53],
    ['artanh 1', o.artanhDown(1), Number.POSITIVE_INFINITY],
    ['artanh -1', o.artanhUp(-1), Number.NEGATIVE_INFINITY],
    ['artanh beyond 1', o.artanhUp(1.5), Number.NaN],
    ['overflowing sum down', o.addDown(Number.MAX_VALUE, Number.MAX_VALUE), Number.MAX_VALUE],
    ['overflowing negative sum up', o.addUp(-Number.MAX_VALUE, -Number.MAX_VALUE), -Number.MAX_VALUE],
    ['-infinity plus one', o.addUp(Number.NEGATIVE_INFINITY, 1), Number.NEGATIVE_INFINITY],
    ['infinity plus one', o.addDown(Number.POSITIVE_INFINITY, 1), Number.POSITIVE_INFINITY],
    ['vanishing product up', o.mulUp(1e-300, 1e-300), Number.MIN_VALUE],
    ['vanishing negative product up', o.mulUp(-1e-300, 1e-300), 0],
    ['exact product', o.mulUp(3, 0.25), 0.75],
    ['exact quotient', o.divUp(3, 4), 0.75],
    ['one over infinity', o.divUp(1, Number.POSITIVE_INFINITY), 0],
    ['one over zero', o.divDown(1, 0), Number.POSITIVE_INFINITY],
    ['root of a square', o.sqrtUp(49), 7],
    ['root of zero', o.sqrtDown(0), 0],
    ['not a number', o.addUp(Number.NaN, 1), Number.NaN],
  ];
  // `===` and not Object.is: the sign of a zero bound carries no meaning.
  it.each(edges)('the bound of %s has its exact expected value', (_, got, want) =>
    expect(got === want || (Number.isNaN(got) && Number.isNaN(want)) || got).toBe(true),
  );
});

describe('directed rounding', () => {
  const any = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ min: -8, max: 8, noNaN: true }),
    fc.integer({ min: -1000, max: 1000 }),
    fc.integer({ min: -60, max: 60 }).map((e) => 2 ** e),
  );
  const operations = [
    { name: 'add', up: outward.addUp, down: outward.addDown, exact: add },
    { name: 'sub', up: outward.subUp, down: outward.subDown, exact: subtract },
    { name: 'mul', up: outward.mulUp, down: outward.mulDown, exact: multiply },
    { name: 'div', up: outward.divUp, down: outward.divDown, exact: divide },
  ];
  it.each(operations)('$name encloses the fraction and is exact if the fraction is a double', ({ name, up, down, exact }) => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        fc.pre(name !== 'div' || b !== 0);
        const truth = exact(fromNumber(a), fromNumber(b));
        const point = { low: truth, high: truth };
        expect(isAbove(up(a, b), point)).toBe(true);
        expect(isBelow(down(a, b), point)).toBe(true);
        const middle = toNumber(truth);
        const safe = Math.abs(middle) > 2 ** -900 && Math.abs(middle) < 2 ** 900;
        const whole = [a, b].every((x) => Math.abs(x) > 2 ** -900 && Math.abs(x) < 2 ** 990);
        if (safe && whole) expect(distance(down(a, b), up(a, b))).toBe(compare(fromNumber(middle), truth) === 0 ? 0 : 1);
      }),
      { numRuns: 3000 },
    );
  });

  it('the bounds of a square root enclose it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (x) => {
        const up = fromNumber(outward.sqrtUp(x));
        const down = fromNumber(outward.sqrtDown(x));
        expect(compare(multiply(up, up), fromNumber(x))).not.toBe(-1);
        expect(compare(multiply(down, down), fromNumber(x))).not.toBe(1);
      }),
      { numRuns: 2000 },
    );
  });
});
