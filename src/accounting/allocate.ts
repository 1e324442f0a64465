import type { Measure } from '../count/measure.js';
import { floor, fromNumber, minimum, multiply, one, type Rational, rational } from '../exact/rational.js';
import type { Scope } from '../mechanism/effect.js';
import type { RecordClass } from '../mechanism/record-class.js';

const grain = 1_000_000_000_000n;

/**
 * Splits one unit of budget among measures in proportion to their weights, so that for every record class in scope the shares of the measures
 * that touch it add up to at most one. Shares are exact; a measure alone on its classes gets the whole unit.
 */
export function allocate(measures: readonly Measure[], scope: Scope, weight: (m: Measure) => number): readonly Rational[] {
  const weights = measures.map(weight);
  const touched = measures.map((m) => [...m.effects.keys()].filter(scope));
  const total = new Map<RecordClass, number>();
  const count = new Map<RecordClass, number>();
  touched.forEach((classes, k) => {
    for (const name of classes) {
      total.set(name, (total.get(name) ?? 0) + weights[k]!);
      count.set(name, (count.get(name) ?? 0) + 1);
    }
  });
  return touched.map((classes, k) =>
    classes
      .map((name) => {
        if (count.get(name) === 1) return one;
        const equal = touched.every((other, j) => !other.includes(name) || weights[j] === weights[k]);
        return equal ? rational(1, count.get(name)!) : floorTo(weights[k]! / total.get(name)!);
      })
      .reduce(minimum, one),
  );
}

/** Floored to the grain, after taking off what double rounding could have added: the shares of a class never add up to more than one. */
const floorTo = (share: number): Rational => {
  const units = floor(multiply(fromNumber(share * (1 - 1e-9)), rational(grain)));
  if (units <= 0n) throw new RangeError('a measure would get no budget');
  return rational(units, grain);
};
