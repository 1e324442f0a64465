import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rational, toNumber } from '../../base/exact/rational.js';
import {
  addJointCosts,
  costBoxes,
  isConstantIn,
  jointCostAt,
  jointCostOn,
  jointCostsOf,
  largestByColumn,
  largestCost,
  largestJointCost,
  noJointCosts,
} from './joint-costs.js';
import { composeCosts, costBySlices, fromStored, type PureCost, pureCost, toStored } from './privacy-cost.js';
import { columnsIn, everyRecord, sliced, sliceOfAll, slicingOf, slicingTogether } from './record-class.js';
import { allValues, costAt, type ValueSet } from './slices.js';

const last = 4;
const steps = [...Array.from({ length: last + 1 }, (_, v) => v), Number.NaN];
const values: fc.Arbitrary<ValueSet> = fc.oneof(
  fc.constant(allValues),
  fc.record({
    ranges: fc.array(
      fc.tuple(fc.nat(last), fc.nat(last)).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
      { maxLength: 2 },
    ),
    missing: fc.boolean(),
  }),
);
const has = ({ ranges, missing }: ValueSet, v: number): boolean =>
  Number.isNaN(v) ? missing : ranges.some(({ from, to }) => from <= v && v <= to);
const placesOf = (columns: number): readonly (readonly number[])[] =>
  Array.from({ length: columns }).reduce<readonly (readonly number[])[]>(
    (places) => places.flatMap((place) => steps.map((v) => [...place, v])),
    [[]],
  );
const bookings = (columns: number) =>
  fc.array(fc.tuple(fc.tuple(...Array.from({ length: columns }, () => values)), fc.integer({ min: 1, max: 3 })), {
    maxLength: 6,
  });
const runs = Number(process.env.FUGU_SLICES ?? 200);

describe('costs by several public columns', () => {
  it.each([1, 2, 3])('the costs add up as they do for each combination, and have a single form: %i', (columns) => {
    fc.assert(
      fc.property(bookings(columns), (list) => {
        const owed = (place: readonly number[]) =>
          list.reduce((sum, [on, cost]) => sum + (on.every((each, k) => has(each, place[k]!)) ? cost : 0), 0);
        const sumOf = (bookings: typeof list) =>
          bookings.reduce(
            (sum, [on, cost]) => addJointCosts(sum, jointCostOn(on, rational(cost)), columns),
            noJointCosts(columns),
          );
        const sum = sumOf(list);
        const places = placesOf(columns);
        for (const place of places) expect(toNumber(jointCostAt(sum, place))).toBe(owed(place));
        expect(sumOf(list.toReversed())).toEqual(sum);
        expect(jointCostsOf(costBoxes(sum, columns), columns)).toEqual(sum);
        expect(jointCostsOf(costBoxes(sum, columns).toReversed(), columns)).toEqual(sum);
        const most = (among: readonly (readonly number[])[]) => among.reduce((m, place) => Math.max(m, owed(place)), 0);
        expect(toNumber(largestCost(sum, columns))).toBe(most(places));
        for (const [on] of list)
          if (on.every((each) => each !== allValues))
            expect(toNumber(largestJointCost(sum, on))).toBe(most(places.filter((p) => on.every((each, k) => has(each, p[k]!)))));
        for (let k = 0; k < columns; k++)
          for (const v of steps)
            expect(toNumber(costAt(largestByColumn(sum, k, columns), v))).toBe(
              most(places.filter((place) => Object.is(place[k], v))),
            );
        if (isConstantIn(sum, columns)) expect(new Set(places.map(owed)).size).toBe(1);
      }),
      { numRuns: runs },
    );
    expect(
      isConstantIn(
        jointCostOn(
          Array.from({ length: columns }, () => allValues),
          rational(1),
        ),
        columns,
      ),
    ).toBe(true);
    expect(isConstantIn(jointCostOn([{ ...allValues, missing: false }, ...Array.from({ length: columns - 1 }, () => allValues)], rational(1)), columns)).toBe(false); // biome-ignore format: one line
  });

  it('the cost of each combination includes releases about everybody and survives being stored', () => {
    const both = slicingTogether([slicingOf('week', 'd1'), slicingOf('a;b:c*', 'd2')]);
    expect(columnsIn(both)).toHaveLength(2);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), values, values, fc.integer({ min: 1, max: 3 })), { maxLength: 6 }), (list) => {
        let total: PureCost = pureCost([]);
        for (const [bySlices, a, b, cost] of list) {
          const parts = costBoxes(jointCostOn([a, b], rational(cost)), 2);
          total = composeCosts(
            total,
            pureCost([
              [everyRecord, rational(2 * cost)],
              ...(bySlices ? [[sliced(both), rational(2 * cost)] as const] : []),
              ...(bySlices ? parts.map(({ box, cost }) => [sliceOfAll(both, box), cost] as const) : []),
            ]),
          );
        }
        const stored = toStored(total);
        const again = fromStored(JSON.parse(JSON.stringify(stored))) as PureCost;
        expect(toStored(again)).toEqual(stored);
        for (const place of placesOf(2)) {
          const owed = list.reduce(
            (sum, [bySlices, a, b, cost]) => sum + (!bySlices ? 2 * cost : has(a, place[0]!) && has(b, place[1]!) ? cost : 0),
            0,
          );
          expect(toNumber(jointCostAt(costBySlices(again, both), place))).toBe(owed);
        }
      }),
      { numRuns: runs },
    );
  });

  it('the costs of many steps at one place, each booked separately at one price, are one box', () => {
    const both = slicingTogether([slicingOf('day', 'd1'), slicingOf('place', 'd2')]);
    let total: PureCost = pureCost([]);
    for (let t = 0; t < 2000; t++)
      total = composeCosts(
        total,
        pureCost([
          [everyRecord, rational(1)],
          [sliced(both), rational(1)],
          [
            sliceOfAll(both, [
              { from: t, to: t },
              { from: 2, to: 2 },
            ]),
            rational(1),
          ],
        ]),
      );
    expect(Object.keys(toStored(total).perRecord)).toEqual(['*', 'slice:day#d1:place#d2:0..1999;2', 'sliced:day#d1:place#d2']);
  });
});
