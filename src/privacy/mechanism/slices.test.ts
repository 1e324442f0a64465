import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { addJointCosts, isConstantIn, jointCostOn, noJointCosts } from './joint-costs.js';
import { composeCosts, costBySlice, fromStored, hasCostBySlice, type PureCost, pureCost, toStored } from './privacy-cost.js';
import {
  boxIn,
  everyRecord,
  isReserved,
  recordClassKind,
  slice,
  sliced,
  slicingIn,
  slicingOf,
  storedClass,
} from './record-class.js';
import {
  allValues,
  commonValues,
  costAt,
  coversAllValues,
  largestOn,
  type Slices,
  unionOfValues,
  type ValueSet,
} from './slices.js';

const costOn = (values: ValueSet, cost: Rational) => jointCostOn([values], cost) as Slices;
const addSlices = (a: Slices, b: Slices) => addJointCosts(a, b, 1) as Slices;
const noSlices = noJointCosts(1) as Slices;

const last = 14;
const steps = [...Array.from({ length: last + 1 }, (_, v) => v), Number.NaN];
const ends = fc.tuple(fc.integer({ min: 0, max: last }), fc.integer({ min: 0, max: last }), fc.boolean(), fc.boolean());
const values: fc.Arbitrary<ValueSet> = fc.record({
  ranges: fc.array(
    ends.map(([a, b, open, below]) => ({
      from: below ? Number.NEGATIVE_INFINITY : Math.min(a, b),
      to: open ? Number.POSITIVE_INFINITY : Math.max(a, b),
    })),
    { maxLength: 3 },
  ),
  missing: fc.boolean(),
});
const has = ({ ranges, missing }: ValueSet, v: number): boolean =>
  Number.isNaN(v) ? missing : ranges.some(({ from, to }) => from <= v && v <= to);
const booking = fc.tuple(values, fc.integer({ min: 1, max: 3 }));
const runs = Number(process.env.FUGU_SLICES ?? 1000);

/** Canonical form. */
function expectTidy({ runs }: Slices): void {
  runs.forEach((run, k) => {
    expect(run.from).toBeLessThanOrEqual(run.to);
    expect(run.cost.num > 0n).toBe(true);
    const next = runs[k + 1];
    if (next) expect(next.from > run.to + 1 || (next.from === run.to + 1 && compare(next.cost, run.cost) !== 0)).toBe(true);
  });
}

describe('costs by the values of a column', () => {
  it('the costs add up as they do value by value, and have a single form', () => {
    fc.assert(
      fc.property(fc.array(booking, { maxLength: 8 }), (list) => {
        const plain = new Map(steps.map((v) => [v, 0]));
        let sum = noSlices;
        for (const [on, cost] of list) {
          for (const v of steps) if (has(on, v)) plain.set(v, plain.get(v)! + cost);
          sum = addSlices(sum, costOn(on, rational(cost)));
          expectTidy(sum);
        }
        for (const v of steps) expect(toNumber(costAt(sum, v))).toBe(plain.get(v));
        const other = list.toReversed().reduce((t, [on, cost]) => addSlices(costOn(on, rational(cost)), t), noSlices);
        expect(other).toEqual(sum);
        for (const [on] of list) {
          const most = steps.filter((v) => has(on, v)).reduce((m, v) => Math.max(m, plain.get(v)!), 0);
          // Beyond the last step there may be more.
          const beyond = on.ranges.some(({ from, to }) => from < 0 || to > last);
          if (!beyond) expect(toNumber(largestOn(sum, on))).toBe(most);
        }
      }),
      { numRuns: runs },
    );
  });

  it('the union and the intersection of two sets of values hold the right values', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        for (const v of steps) {
          expect(has(unionOfValues(a, b), v)).toBe(has(a, v) || has(b, v));
          expect(has(commonValues(a, b), v)).toBe(has(a, v) && has(b, v));
        }
      }),
      { numRuns: runs },
    );
    expect(coversAllValues(allValues)).toBe(true);
    expect(coversAllValues({ ...allValues, missing: false })).toBe(false);
    expect(isConstantIn(costOn(allValues, rational(1)), 1)).toBe(true);
    expect(isConstantIn(costOn({ ...allValues, missing: false }, rational(1)), 1)).toBe(false);
  });

  it('the costs of a million steps, each booked separately at one price, are one run', () => {
    const steps = process.env.FUGU_SLICES ? 1_000_000 : 20_000;
    const week = slicingOf('week', 'd');
    let total: PureCost = pureCost([]);
    for (let t = 0; t < steps; t++)
      total = composeCosts(total, release(week, { ranges: [{ from: t, to: t }], missing: false }, 1));
    expect(Object.keys(toStored(total).perRecord)).toEqual(['*', `slice:week#d:0..${steps - 1}`, 'sliced:week#d']);
  });
});

/** Cost of a release about these values. */
const release = (of: ReturnType<typeof slicingOf>, { ranges, missing }: ValueSet, cost: number): PureCost =>
  pureCost([
    [everyRecord, rational(cost)],
    [sliced(of), rational(cost)],
    ...ranges.map(({ from, to }) => [slice(of, from, to), rational(cost)] as const),
    ...(missing ? [[slice(of, Number.NaN, Number.NaN), rational(cost)] as const] : []),
  ]);

describe('a privacy cost by slices', () => {
  const [week, place] = [slicingOf('week', 'd1'), slicingOf('a:b..c', 'd2')];
  it('the cost of each value includes releases about everybody and survives being stored', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            by: fc.constantFrom('week', 'place', 'all'),
            on: values.filter(({ ranges }) => ranges.length <= 1),
            cost: fc.integer({ min: 1, max: 3 }),
          }),
          { maxLength: 6 },
        ),
        (list) => {
          let total: PureCost = pureCost([]);
          for (const { by, on, cost } of list)
            total = composeCosts(
              total,
              by === 'all' ? pureCost([[everyRecord, rational(cost)]]) : release(by === 'week' ? week : place, on, cost),
            );
          const stored = toStored(total);
          const again = fromStored(JSON.parse(JSON.stringify(stored))) as PureCost;
          expect(toStored(again)).toEqual(stored);
          for (const privacyCost of [total, again])
            for (const [name, of] of [['week', week] as const, ['place', place] as const]) {
              const spent = costBySlice(privacyCost, of);
              for (const v of steps) {
                const owed = list.reduce((t, { by, on, cost }) => t + (by !== name || has(on, v) ? cost : 0), 0);
                expect(toNumber(costAt(spent, v))).toBe(owed);
              }
            }
        },
      ),
      { numRuns: runs / 4 },
    );
  });

  it('an old cost without slices counts for all values of a column', () => {
    const old = fromStored({ noise: 'pure', perRecord: { '*': '1/10' } });
    expect(hasCostBySlice(old, week)).toBe(false);
    expect(costBySlice(old, week)).toEqual(costOn(allValues, rational(1, 10)));
    expect(hasCostBySlice(release(week, allValues, 1), week)).toBe(true);
  });
});

describe('the text of a slice', () => {
  it('the text of a slice encodes its column, reading and values for any column name, and is unique', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.oneof(
          ends.map(([a, b, open, below]) => [
            below ? Number.NEGATIVE_INFINITY : Math.min(a, b),
            open ? Number.POSITIVE_INFINITY : Math.max(a, b),
          ]),
          fc.constant([Number.NaN, Number.NaN]),
          fc.constant([-7, -3]),
        ),
        (column, [from, to]) => {
          const of = slicingOf(column, 'ab12');
          const text = slice(of, from!, to!);
          expect(boxIn(text)).toEqual({ of, box: [{ from, to }] });
          expect(slicingIn(sliced(of))).toBe(of);
          expect([recordClassKind(storedClass(text)), recordClassKind(storedClass(sliced(of)))]).toEqual(['slice', 'sliced']);
          expect([isReserved(text), isReserved(sliced(of))]).toEqual([true, true]);
        },
      ),
    );
    expect(slice(slicingOf('week', 'ab'), 3, 5)).toBe('slice:week#ab:3..5');
  });
});
