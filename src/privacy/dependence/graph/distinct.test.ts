import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gaussianSums } from '../gaussian/sums.js';
import { leakageCalculator } from '../leakage.js';
import { clusterDistributions } from '../uninformed/clusters.js';
import { distinctComponents } from './distinct.js';
import { combine, type FactorGraph, fromPairs } from './factor-graph.js';
import { fromGroups } from './group-graph.js';

/** Random households and friendships among few people each, so that many components have one shape. */
const towns = fc
  .record({
    homes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 4, maxLength: 30 }),
    friends: fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: 12 }),
    tie: fc.constantFrom('pairs' as const, 'together' as const, 'hidden' as const),
    unused: fc.array(fc.nat(60), { maxLength: 6 }),
  })
  .map(({ homes, friends, tie, unused }) => {
    const group = Uint32Array.from(homes.flatMap((size, home) => Array.from({ length: size }, () => home)));
    const n = group.length;
    const ends = (k: 0 | 1) => Uint32Array.from(friends, (pair) => pair[k] % n);
    const graph = combine([fromPairs(n, ends(0), ends(1), 0.7), fromGroups(group, 1.1, tie)]);
    const used = new Uint8Array(n).fill(1);
    for (const u of unused) used[u % n] = 0;
    return { graph, used };
  });

/** Sums of the same terms in another order. */
const expectNear = (found: number, wanted: number): void => {
  if (found !== wanted) expect(Math.abs(found - wanted)).toBeLessThanOrEqual(1e-13 * Math.abs(wanted));
};

describe('one component of each shape', () => {
  it('the worst leakage over shapes equals that of the whole graph but for roundings, for any used records', () => {
    fc.assert(
      fc.property(towns, fc.boolean(), fc.double({ min: 1e-3, max: 1, noNaN: true }), ({ graph, used: mask }, some, base) => {
        const used = some ? mask : undefined;
        const few = distinctComponents(graph, used);
        const worst = (on: FactorGraph, who?: Uint8Array) =>
          leakageCalculator(on, 'informed', who ? { used: who } : {}).worst(base);
        expectNear(worst(few.graph, few.used), worst(graph, used));
        expectNear(gaussianSums(few.graph, 'any', few.used).delta(0.01, 1), gaussianSums(graph, 'any', used).delta(0.01, 1));
        const distributions = (on: FactorGraph, who?: Uint8Array) =>
          clusterDistributions(on, who)
            .map((l) => [...l.tail].join())
            .sort();
        expect(distributions(few.graph, few.used)).toEqual(distributions(graph, used));
      }),
      { numRuns: 150 },
    );
  });

  it('the worst leakage over shapes equals that of the whole graph if costs depend on values', () => {
    fc.assert(
      fc.property(towns, fc.array(fc.integer({ min: -1, max: 2 }), { minLength: 60, maxLength: 60 }), ({ graph, used }, list) => {
        const values = Float64Array.from({ length: graph.records }, (_, u) => (list[u % 60]! < 0 ? Number.NaN : list[u % 60]!));
        const few = distinctComponents(graph, used, values);
        const worst = (on: FactorGraph, who: Uint8Array, own: Float64Array) =>
          leakageCalculator(on, 'informed').leakage(own.map((v, u) => (who[u] ? (Number.isNaN(v) ? 0.7 : 0.1 + v / 4) : 0))).worst
            .leakage;
        expectNear(worst(few.graph, few.used!, few.values!), worst(graph, used, values));
      }),
      { numRuns: 100 },
    );
  });

  it('a million households have only a few shapes', () => {
    const homes = Uint32Array.from({ length: 30_000 }, (_, k) => Math.floor(k / 3) + (k % 30 === 0 ? 1e6 : 0));
    const few = distinctComponents(fromGroups(homes, 1, 'pairs'));
    expect(few.graph.nodes).toBeLessThan(10);
  });

  it('components with different strengths or used records have different shapes', () => {
    const pairs = (d: Float64Array) => fromPairs(8, Uint32Array.of(0, 2, 4, 6), Uint32Array.of(1, 3, 5, 7), d);
    expect(distinctComponents(pairs(Float64Array.of(1, 1, 1, 1))).graph.records).toBe(2);
    expect(distinctComponents(pairs(Float64Array.of(1, 2, 1, 2))).graph.records).toBe(4);
    const { graph, used } = distinctComponents(pairs(Float64Array.of(1, 1, 1, 1)), Uint8Array.of(1, 1, 0, 1, 1, 1, 0, 1));
    expect([graph.records, [...used!]]).toEqual([4, [1, 1, 0, 1]]);
  });
});
