import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rational, toNumber } from '../../base/exact/rational.js';
import { addProfiles, fromStored, type PureProfile, paidTogether, pureProfile, toStored } from './profile.js';
import { columnsIn, everyRecord, sliced, sliceOfAll, slicingOf, slicingTogether } from './record-class.js';
import { costAt, everyValue, type Values } from './slices.js';
import {
  addCosts,
  costAtAll,
  costOnAll,
  costsOf,
  isLevelIn,
  largestBy,
  largestOf,
  largestOnAll,
  noCosts,
  partsOf,
} from './together.js';

const last = 4;
const steps = [...Array.from({ length: last + 1 }, (_, v) => v), Number.NaN];
const values: fc.Arbitrary<Values> = fc.oneof(
  fc.constant(everyValue),
  fc.record({
    ranges: fc.array(
      fc.tuple(fc.nat(last), fc.nat(last)).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
      { maxLength: 2 },
    ),
    missing: fc.boolean(),
  }),
);
const has = ({ ranges, missing }: Values, v: number): boolean =>
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
          bookings.reduce((sum, [on, cost]) => addCosts(sum, costOnAll(on, rational(cost)), columns), noCosts(columns));
        const sum = sumOf(list);
        const places = placesOf(columns);
        for (const place of places) expect(toNumber(costAtAll(sum, place))).toBe(owed(place));
        expect(sumOf(list.toReversed())).toEqual(sum);
        expect(costsOf(partsOf(sum, columns), columns)).toEqual(sum);
        expect(costsOf(partsOf(sum, columns).toReversed(), columns)).toEqual(sum);
        const most = (among: readonly (readonly number[])[]) => among.reduce((m, place) => Math.max(m, owed(place)), 0);
        expect(toNumber(largestOf(sum, columns))).toBe(most(places));
        for (const [on] of list)
          if (on.every((each) => each !== everyValue))
            expect(toNumber(largestOnAll(sum, on))).toBe(most(places.filter((p) => on.every((each, k) => has(each, p[k]!)))));
        for (let k = 0; k < columns; k++)
          for (const v of steps)
            expect(toNumber(costAt(largestBy(sum, k, columns), v))).toBe(most(places.filter((place) => Object.is(place[k], v))));
        if (isLevelIn(sum, columns)) expect(new Set(places.map(owed)).size).toBe(1);
      }),
      { numRuns: runs },
    );
    expect(
      isLevelIn(
        costOnAll(
          Array.from({ length: columns }, () => everyValue),
          rational(1),
        ),
        columns,
      ),
    ).toBe(true);
    expect(isLevelIn(costOnAll([{ ...everyValue, missing: false }, ...Array.from({ length: columns - 1 }, () => everyValue)], rational(1)), columns)).toBe(false); // biome-ignore format: one line
  });

  it('the cost of each combination includes releases about everybody and survives being stored', () => {
    const both = slicingTogether([slicingOf('week', 'd1'), slicingOf('a;b:c*', 'd2')]);
    expect(columnsIn(both)).toHaveLength(2);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), values, values, fc.integer({ min: 1, max: 3 })), { maxLength: 6 }), (list) => {
        let total: PureProfile = pureProfile([]);
        for (const [apart, a, b, cost] of list) {
          const parts = partsOf(costOnAll([a, b], rational(cost)), 2);
          total = addProfiles(
            total,
            pureProfile([
              [everyRecord, rational(2 * cost)],
              ...(apart ? [[sliced(both), rational(2 * cost)] as const] : []),
              ...(apart ? parts.map(({ box, cost }) => [sliceOfAll(both, box), cost] as const) : []),
            ]),
          );
        }
        const stored = toStored(total);
        const again = fromStored(JSON.parse(JSON.stringify(stored))) as PureProfile;
        expect(toStored(again)).toEqual(stored);
        for (const place of placesOf(2)) {
          const owed = list.reduce(
            (sum, [apart, a, b, cost]) => sum + (!apart ? 2 * cost : has(a, place[0]!) && has(b, place[1]!) ? cost : 0),
            0,
          );
          expect(toNumber(costAtAll(paidTogether(again, both), place))).toBe(owed);
        }
      }),
      { numRuns: runs },
    );
  });

  it('the costs of many steps at one place, each booked separately at one price, are one box', () => {
    const both = slicingTogether([slicingOf('day', 'd1'), slicingOf('place', 'd2')]);
    let total: PureProfile = pureProfile([]);
    for (let t = 0; t < 2000; t++)
      total = addProfiles(
        total,
        pureProfile([
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
