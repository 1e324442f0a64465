import { compare, isPositive, multiply, type Rational, rational, toNumber } from '../exact/rational.js';
import { grouped } from '../input/grouped.js';
import type { Foreseen } from '../query/bound.js';

const tenth = rational(1, 10);
const short = (x: number): string => (Math.abs(x) >= 1000 ? grouped(x) : Number(x.toPrecision(4)).toString());

const counting = new Set<string>(['count', 'histogram', 'crosstab']);
/** The largest error of a plain count that is foreseen. */
export const worstCount = (errors: readonly Foreseen[]): Foreseen | undefined =>
  errors
    .filter(({ query, perRow }) => counting.has(query.kind) && !perRow)
    .reduce<Foreseen | undefined>((worst, e) => (worst && worst.halfWidth >= e.halfWidth ? worst : e), undefined);

/** Said where an error is larger than a tenth of all records: such a table tells next to nothing. */
export function mostlyNoise(errors: readonly Foreseen[], records: number): string | undefined {
  const worst = worstCount(errors);
  if (!worst || worst.halfWidth <= records / 10) return undefined;
  return `Mostly noise: the 95 % error of "${worst.name}" is ±${short(worst.halfWidth)}, more than a tenth of the records there are, about ${grouped(Number(records.toPrecision(2)))}.`;
}

/** Said where all that is left is taken, above all where that is less than was meant. */
export function lastOfIt(share: Rational, left: Rational, epsilon: Rational): string | undefined {
  if (!isPositive(left) || compare(share, left) !== 0) return undefined;
  const taken = short(toNumber(multiply(left, epsilon)));
  const few = compare(left, tenth) < 0 ? ' It is less than the tenth of the budget that a release usually takes.' : '';
  return `This takes all that is left to spend, epsilon ${taken}: nothing new can be released afterwards.${few}`;
}

/** A delta this large lets whole records be told: one in the number of records is what publishing one of them at random would cost. */
export const looseDelta = (delta: Rational, records: number): string | undefined =>
  records > 0 && compare(multiply(delta, rational(records)), rational(1)) >= 0
    ? `Delta ${toNumber(delta)} is at least one in the number of records: publishing a record at random would be within it.`
    : undefined;
