import { floor, fromNumber, minimum, multiply, one, type Rational, rational } from '../../base/exact/rational.js';
import { columnsIn, everyRecord, type Slicing } from '../../privacy/mechanism/record-class.js';
import type { ClassScope } from '../../privacy/mechanism/sensitivity.js';
import type { Measure } from '../../query/count/measure.js';
import { includesValue, representativeValues, valuesIn } from './by-slice.js';

const grain = 1_000_000_000_000n;

/**
 * Splits one unit of budget among measures in proportion to their weights. For every record class in scope, the shares of
 * the measures that depend on it add up to at most one, exactly; with a slicing, for every (combination of) values.
 */
export function allocate(
  measures: readonly Measure[],
  scope: ClassScope,
  weight: (m: Measure) => number,
  slicing?: Slicing,
): readonly Rational[] {
  const weights = measures.map(weight);
  const touched: readonly (readonly unknown[])[] = slicing
    ? valuesTouched(measures, slicing)
    : measures.map((m) => [...m.sensitivity.keys()].filter(scope));
  const sharing = new Map<unknown, { total: number; count: number; equal: boolean; readonly first: number }>();
  touched.forEach((classes, k) => {
    const weight = weights[k]!;
    for (const name of classes) {
      const known = sharing.get(name) ?? { total: 0, count: 0, equal: true, first: weight };
      known.total += weight;
      known.count += 1;
      known.equal &&= weight === known.first;
      sharing.set(name, known);
    }
  });
  return touched.map((classes, k) =>
    classes
      .map((name) => {
        const { total, count, equal } = sharing.get(name)!;
        if (count === 1) return one;
        return equal ? rational(1, count) : floorTo(weights[k]! / total);
      })
      .reduce(minimum, one),
  );
}

/** Values of the column that all measures treat the same are one class; with several columns, combinations of them. */
function valuesTouched(measures: readonly Measure[], slicing: Slicing): readonly (readonly unknown[])[] {
  const columns = columnsIn(slicing).map((column) => {
    const own = measures.map(({ sensitivity }) => valuesIn(sensitivity, column));
    const values = representativeValues(own.map(({ ranges }) => ranges));
    return own.map((among) => values.filter((v) => includesValue(among, v)));
  });
  if (columns.length === 1) return measures.map(({ sensitivity }, k) => (sensitivity.has(everyRecord) ? columns[0]![k]! : []));
  const combined = (k: number): readonly string[] =>
    columns.reduce<readonly string[]>(
      (places, touched) => places.flatMap((place) => touched[k]!.map((v) => `${place};${v}`)),
      [''],
    );
  return measures.map(({ sensitivity }, k) => (sensitivity.has(everyRecord) ? combined(k) : []));
}

export const combinationCount = (measures: readonly Measure[], slicing: Slicing): number =>
  columnsIn(slicing).reduce(
    (n, column) => n * representativeValues(measures.map(({ sensitivity }) => valuesIn(sensitivity, column).ranges)).length,
    1,
  );

/** Rounded down to the grain, less a margin for floating-point errors: the shares of a class never exceed one. */
const floorTo = (share: number): Rational => {
  const units = floor(multiply(fromNumber(share * (1 - 1e-9)), rational(grain)));
  if (units <= 0n) throw new RangeError('a measure would get no budget');
  return rational(units, grain);
};
