import { describe, expect, it } from 'vitest';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import { multiply, type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { slicingsOf } from '../../data/ties/slicings.js';
import { chainAmplifier } from '../../privacy/dependence/chain/chain-amplifier.js';
import { oddsRatioTransitions } from '../../privacy/dependence/chain/chain-transitions.js';
import { untied } from '../../privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import { nothingSpent, pureCost, type SpentCosts, spend, zcdpCost } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord, slice, sliced, sliceOfAll, slicingTogether } from '../../privacy/mechanism/record-class.js';
import { pureOfZcdp } from '../../privacy/mechanism/zcdp-of-pure.js';
import type { LeakageRoute } from './account.js';
import { admission } from './admission.js';
import { routeAdmits } from './admits.js';
import { combinedParts, partLimit, sliceUsages } from './by-slice.js';
import { openAccount } from './open-account.js';

const strangers = graphAmplifier({
  name: 'rows',
  graph: untied(1),
  scope: (c) => c === everyRecord,
  adversary: 'informed',
  reach: 'any',
  assumptions: [],
  method: '',
});

describe('Gaussian and pure noise by the values of a public column', () => {
  const policy = {
    ...samplePolicy([number('week', '0', '51', '1', { public: true }), category('ill', ['yes', 'no'])]),
    budget: { epsilon: rational(1), delta: rational(1, 1_000_000) },
  };
  const [{ slicing }] = slicingsOf(policy) as [ReturnType<typeof slicingsOf>[number]];
  const [route] = openAccount(policy, [strangers]).routes as [LeakageRoute];
  const booked = (cost: Rational, week: number) =>
    [[everyRecord, cost], [sliced(slicing), cost], [slice(slicing, week, week), cost]] as const; // biome-ignore format: one line
  const { capacity } = route.gaussian!;
  const most = multiply(capacity, rational(6, 10));
  // The same cost again, in pure noise.
  const epsilon = pureOfZcdp(most);
  const spentOn = (gaussian: number, pure: number): SpentCosts =>
    spend(spend(nothingSpent, zcdpCost(booked(most, gaussian))), pureCost(booked(epsilon, pure)));

  it('Gaussian and pure costs add up on the same value, and only there', () => {
    expect(routeAdmits(route, spentOn(3, 4))).toBe(true);
    expect(routeAdmits(route, spentOn(3, 3))).toBe(false);
    const used = (week: number, spent: SpentCosts) =>
      sliceUsages(route, spent, slicing, new Map([[slicing, { ranges: [{ from: week, to: week }], missing: false }]])).map(
        ({ share }) => toNumber(share),
      );
    expect(used(3, spentOn(3, 4))).toEqual([expect.closeTo(0.6, 9)]);
    expect(used(4, spentOn(3, 4))).toEqual([expect.closeTo(0.6, 9)]);
    expect(used(5, spentOn(3, 4))).toEqual([0]);
    expect(used(5, spentOn(3, 3))).toEqual([1]);
  });
});

describe('parts by combinations of public columns', () => {
  const policy = samplePolicy([
    number('week', '0', '9999', '1', { public: true }),
    category('region', ['north', 'south'], { public: true }),
    category('ill', ['yes', 'no']),
  ]);
  const account = openAccount(policy, [strangers]);
  const both = slicingTogether(slicingsOf(policy).map(({ slicing }) => slicing));
  /** This many weeks of one region, with different costs in neighbouring weeks. */
  const spentOn = (weeks: number): SpentCosts => {
    const parts = Array.from(
      { length: weeks },
      (_, week) =>
        [
          sliceOfAll(both, [
            { from: 0, to: 0 },
            { from: week, to: week },
          ]), // region before week, in the order of their names
          rational(1 + (week % 2), 1_000_000),
        ] as const,
    );
    return spend(nothingSpent, pureCost([[everyRecord, rational(1)], [sliced(both), rational(1)], ...parts]));
  };

  it('the account refuses more parts with different costs than it can hold, and admits requests that add none', () => {
    const [most, more] = [spentOn(partLimit), spentOn(partLimit + 1)];
    expect([combinedParts(most), combinedParts(more)]).toEqual([partLimit, partLimit + 1]);
    const admit = admission(account, pureCost([]));
    expect(() => admit(most, nothingSpent, nothingSpent)).not.toThrow();
    expect(() => admit(more, most, nothingSpent)).toThrow(/more than 4096 parts/);
    // A request that adds no parts is limited by the budget alone.
    expect(() => admit(more, more, nothingSpent)).not.toThrow();
  });

  it('costs leak along a chain by the column that orders it, not by a column named before it', () => {
    const logOdds = Math.log(9);
    const along = openAccount(policy, [
      chainAmplifier({
        name: 'chain',
        first: 0,
        last: 9999,
        transitions: [oddsRatioTransitions(logOdds)],
        gaps: false,
        window: 1,
        order: slicingsOf(policy).find(({ column }) => column.name === 'week')!.slicing,
        logOdds,
        alone: true,
        assumptions: [],
        method: '',
      }),
    ]);
    const northern = (weeks: number): SpentCosts =>
      spend(
        nothingSpent,
        pureCost([
          [everyRecord, rational(weeks)],
          [sliced(both), rational(weeks)],
          [
            sliceOfAll(both, [
              { from: 0, to: 0 },
              { from: 0, to: weeks - 1 },
            ]),
            rational(9, 10),
          ],
        ]),
      );
    const admit = admission(along, pureCost([]));
    expect(() => admit(northern(1), nothingSpent, nothingSpent)).not.toThrow();
    // Ten consecutive weeks of one region are tied to each other, although that region is one value.
    expect(() => admit(northern(10), nothingSpent, nothingSpent)).toThrow(expect.objectContaining({ code: 'BUDGET_EXCEEDED' }));
  });
});
