import { Fault } from '../base/errors.js';
import {
  add,
  compare,
  divide,
  floor as floorOf,
  gcd,
  multiply,
  negate,
  type Rational,
  rational,
  subtract,
  zero,
} from '../base/exact/rational.js';
import type { IntegerExpression } from './count/derived.js';

/** offset + scale x n for a whole number n of a row that is at least `low` and at most `high`, whatever the row holds (count/derived.proof.md). */
export interface Quantity {
  readonly of: IntegerExpression;
  readonly offset: Rational;
  readonly scale: Rational;
  readonly low: bigint;
  readonly high: bigint;
}

/** Bounds within which databases and doubles hold integers exactly. */
const maxExact = 2n ** 52n;
const maxPlaces = 2n ** 40n;
const tooFine = () =>
  new Fault(
    'QUERY_UNSUPPORTED',
    'The expression has more possible values than can be distinguished exactly.',
    'Use ROUND or FLOOR inside it, or declare narrower bounds or coarser steps for its columns.',
  );
const isExact = (n: bigint): number => {
  if (n > maxExact || n < -maxExact) throw tooFine();
  return Number(n);
};
function checked(quantity: Quantity): Quantity {
  isExact(quantity.low);
  isExact(quantity.high);
  return quantity;
}

/** The largest number that goes into both. */
const commonUnit = (a: Rational, b: Rational): Rational => rational(gcd(a.num * b.den, b.num * a.den), a.den * b.den);
const whole = (a: Rational, by: Rational): bigint => (by.num === 0n ? 0n : divide(a, by).num);
const ordered = (...ends: bigint[]): { low: bigint; high: bigint } => {
  let [low, high] = [ends[0]!, ends[0]!];
  for (const x of ends) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return { low, high };
};

/** Ends of a multiple of a whole number, an intermediate value that fits by itself, whatever it is added to. */
const scaled = ({ low, high }: Pick<Quantity, 'low' | 'high'>, by: bigint): readonly bigint[] =>
  [low, high].map((n) => BigInt(isExact(n * by)));

const fixed = (value: bigint): IntegerExpression => ({ kind: 'constant', value: isExact(value) });
/** a + b n. */
function affine(a: bigint, b: bigint, of: IntegerExpression): IntegerExpression {
  if (of.kind === 'constant') return fixed(a + b * BigInt(of.value));
  const scaled: IntegerExpression = b === 1n ? of : { kind: 'product', of: [fixed(b), of] };
  return a === 0n ? scaled : { kind: 'sum', of: [fixed(a), scaled] };
}

export const constantQuantity = (value: Rational): Quantity => ({ of: fixed(0n), offset: value, scale: zero, low: 0n, high: 0n });
export const constantValue = ({ of, offset, scale }: Quantity): Rational | undefined =>
  of.kind === 'constant' ? add(offset, multiply(scale, rational(BigInt(of.value)))) : undefined;

/**
 * Product with a constant. Times 0, the result is 0 wherever there is a number, and its integer expression is 0 as well,
 * so places stay within the bounds.
 */
export const scaleQuantity = (a: Quantity, by: Rational): Quantity =>
  by.num === 0n
    ? { of: affine(0n, 0n, a.of), offset: zero, scale: zero, low: 0n, high: 0n }
    : { ...a, offset: multiply(a.offset, by), scale: multiply(a.scale, by) };

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const scale = commonUnit(a.scale, b.scale);
  const [x, y] = [whole(a.scale, scale), whole(b.scale, scale)];
  const [own, other] = [scaled(a, x), scaled(b, y)];
  const ends = own.flatMap((p) => other.map((q) => p + q));
  const parts = [affine(0n, x, a.of), affine(0n, y, b.of)].filter((part) => part.kind !== 'constant' || part.value !== 0);
  const of: IntegerExpression = parts.length > 1 ? { kind: 'sum', of: parts } : (parts[0] ?? fixed(0n));
  return checked({ of, offset: add(a.offset, b.offset), scale, ...ordered(...ends) });
}

/** The same number as scale x (a + b n): no offset. */
function inUnits({ of, offset, scale, low, high }: Quantity): Quantity {
  const unit = commonUnit(offset, scale);
  const [a, b] = [whole(offset, unit), whole(scale, unit)];
  const ends = scaled({ low, high }, b).map((n) => a + n);
  return checked({ of: affine(a, b, of), offset: zero, scale: unit, ...ordered(...ends) });
}

export function multiplyQuantities(a: Quantity, b: Quantity): Quantity {
  const [x, y] = [constantValue(a), constantValue(b)];
  if (x) return scaleQuantity(b, x);
  if (y) return scaleQuantity(a, y);
  const [p, q] = [inUnits(a), inUnits(b)];
  const ends = [p.low * q.low, p.low * q.high, p.high * q.low, p.high * q.high];
  return checked({
    of: { kind: 'product', of: [p.of, q.of] },
    offset: zero,
    scale: multiply(p.scale, q.scale),
    ...ordered(...ends),
  });
}

export function floorQuantity(a: Quantity): Quantity {
  const { of, scale, low, high } = inUnits(a);
  if (scale.den === 1n) return a;
  const [from, to] = scaled({ low, high }, scale.num) as [bigint, bigint];
  const start = floorOf(rational(from, scale.den));
  const above = affine(-start * scale.den, scale.num, of);
  return checked({
    of: of.kind === 'constant' ? fixed(0n) : { kind: 'quotient', of: above, by: isExact(scale.den) },
    offset: rational(start),
    scale: rational(1),
    low: 0n,
    high: floorOf(rational(to, scale.den)) - start,
  });
}

const ends = ({ offset, scale, low, high }: Quantity): readonly [Rational, Rational] => {
  const [a, b] = [add(offset, multiply(scale, rational(low))), add(offset, multiply(scale, rational(high)))];
  return compare(a, b) <= 0 ? [a, b] : [b, a];
};

/** To 1 / by, halves away from zero as in SQL. */
export function roundQuantity(a: Quantity, by: Rational): Quantity {
  const [low, high] = ends(a);
  const half = constantQuantity(rational(1, 2));
  const up = (x: Quantity) => scaleQuantity(floorQuantity(addQuantities(scaleQuantity(x, by), half)), divide(rational(1), by));
  if (compare(low, zero) >= 0) return up(a);
  if (compare(high, zero) <= 0) return scaleQuantity(up(scaleQuantity(a, rational(-1))), rational(-1));
  // Halves below zero would be rounded the other way.
  if (inUnits(scaleQuantity(a, by)).scale.den % 2n === 1n) return up(a);
  throw new Fault(
    'QUERY_UNSUPPORTED',
    'ROUND of a number that may be above or below zero is not supported.',
    'Write FLOOR(x + 0.5): it rounds halves up.',
  );
}

/** Remainder of the division by `by`. */
export function remainderQuantity(a: Quantity, by: Rational): Quantity {
  const [least] = ends(a);
  if (compare(least, zero) < 0 || by.num < 0n)
    throw new Fault('QUERY_UNSUPPORTED', '% of numbers below zero is not supported.', 'Add a multiple of the divisor first.');
  const left = addQuantities(a, scaleQuantity(floorQuantity(scaleQuantity(a, divide(rational(1), by))), negate(by)));
  if (left.scale.num === 0n) return left;
  const at = (x: Rational) => divide(subtract(x, left.offset), left.scale);
  const [first, last] = [-floorOf(negate(at(zero))), -floorOf(negate(at(by))) - 1n];
  return { ...left, low: left.low > first ? left.low : first, high: left.high < last ? left.high : last };
}

/** Several numbers in the same units. */
export function withCommonUnits(list: readonly Quantity[]): {
  readonly common: Omit<Quantity, 'of'>;
  readonly values: readonly IntegerExpression[];
} {
  const { offset } = list[0]!;
  const unit = list.reduce((u, q) => commonUnit(commonUnit(u, q.scale), subtract(q.offset, offset)), zero);
  const scale = unit.num === 0n ? rational(1) : unit;
  const moved = list.map((q) => [whole(subtract(q.offset, offset), scale), whole(q.scale, scale)] as const);
  const all = list.flatMap((q, i) => scaled(q, moved[i]![1]).map((n) => moved[i]![0] + n));
  const span = ordered(...all);
  isExact(span.low);
  isExact(span.high);
  return { common: { offset, scale, ...span }, values: list.map((q, i) => affine(...moved[i]!, q.of)) };
}

/** As places on a grid, from the least possible number on. */
export function quantityOnGrid(
  name: string,
  quantity: Quantity,
): { readonly low: Rational; readonly step: Rational; readonly last: bigint; readonly place: IntegerExpression } {
  const [low] = ends(quantity);
  const last = quantity.high - quantity.low;
  const down = quantity.scale.num < 0n;
  const place = down ? affine(quantity.high, -1n, quantity.of) : affine(-quantity.low, 1n, quantity.of);
  const length = down ? negate(quantity.scale) : quantity.scale;
  const step = quantity.scale.num === 0n ? rational(1) : length;
  if (last >= maxPlaces)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The derived column "${name}" has more possible values than can be distinguished exactly.`,
      'Use ROUND or FLOOR in it, or declare narrower bounds or coarser steps for its columns.',
    );
  return { low, step, last: quantity.scale.num === 0n ? 0n : last, place };
}
