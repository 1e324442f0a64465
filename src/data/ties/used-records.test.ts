import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRational, toNumber } from '../../base/exact/rational.js';
import { audit, prepareAudit } from '../../evaluate/audit/audit.js';
import { type FactorGraph, fromPairs } from '../../privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { graphsOf } from '../../privacy/dependence/model/model-graph.js';
import { markOf, spareTies, usedRecords } from './used-records.js';

const pairs = fc.integer({ min: 2, max: 14 }).chain((records) =>
  fc.record({
    records: fc.constant(records),
    list: fc.array(fc.tuple(fc.nat(records - 1), fc.nat(records - 1)), { maxLength: 40 }),
    most: fc.nat(4),
    spare: fc.nat(3),
  }),
);
const graphOf = (records: number, list: readonly (readonly [number, number])[]): FactorGraph =>
  fromPairs(
    records,
    Uint32Array.from(list, ([a]) => a),
    Uint32Array.from(list, ([, b]) => b),
    1,
  );
const usedNeighbours = (graph: FactorGraph, used: Uint8Array): number[] =>
  Array.from({ length: graph.records }, (_, u) =>
    graph.neighbour.subarray(graph.nodeStart[u]!, graph.nodeStart[u + 1]!).reduce((sum, w) => sum + used[w]!, 0),
  );

describe('used records', () => {
  it('no record has more used neighbours than allowed, in any relation, but unused records may', () => {
    fc.assert(
      fc.property(pairs, pairs, ({ records, list, most, spare }, other) => {
        const first = { graph: graphOf(records, list), most, spare };
        const second = {
          graph: graphOf(
            records,
            other.list.map(([a, b]) => [a % records, b % records] as const),
          ),
          most: other.most,
          spare: other.spare,
        };
        const used = usedRecords({ records, limits: [first, second], nameOf: (r) => `p${r}` }, 'town');
        for (const { graph, most: limit, spare: slack } of [first, second])
          usedNeighbours(graph, used).forEach((count, u) => {
            expect(count).toBeLessThanOrEqual(used[u] ? limit : limit + slack);
          });
      }),
    );
  });

  it('the choice does not depend on the order of records and ties', () => {
    fc.assert(
      fc.property(pairs, fc.nat(), ({ records, list, most, spare }, seed) => {
        const place = Array.from({ length: records }, (_, r) => r).sort(
          (a, b) => ((a * 7919 + seed) % 31) - ((b * 7919 + seed) % 31),
        );
        const moved = list.map(([a, b]) => [place[b]!, place[a]!] as const).reverse();
        const straight = usedRecords(
          { records, limits: [{ graph: graphOf(records, list), most, spare }], nameOf: (r) => `p${r}` },
          'town',
        );
        const mixed = usedRecords(
          { records, limits: [{ graph: graphOf(records, moved), most, spare }], nameOf: (r) => `p${place.indexOf(r)}` },
          'town',
        );
        expect(Array.from(mixed, (_, r) => mixed[place[r]!])).toEqual([...straight]);
      }),
    );
  });

  it('all records are used if nobody has too many ties, and records without ties always are', () => {
    const chain = graphOf(6, [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ]);
    expect([...usedRecords({ records: 6, limits: [{ graph: chain, most: 2, spare: 0 }], nameOf: String }, 'town')]).toEqual([
      1, 1, 1, 1, 1, 1,
    ]);
    expect(usedRecords({ records: 6, limits: [{ graph: chain, most: 1, spare: 0 }], nameOf: String }, 'town')[5]).toBe(1);
  });

  it('most people are used when a few know everybody', () => {
    const star = graphOf(
      1001,
      Array.from({ length: 1000 }, (_, k) => [0, k + 1] as const),
    );
    const used = usedRecords({ records: star.records, limits: [{ graph: star, most: 25, spare: 0 }], nameOf: String }, 'town');
    expect(used.reduce((a, b) => a + b, 0)).toBe(26);
    const cave = graphOf(
      2000,
      Array.from({ length: 1000 }, (_, k) => [2 * k, 2 * k + 1] as const).concat([
        [0, 2],
        [0, 4],
        [0, 6],
      ]),
    );
    expect(
      usedRecords({ records: cave.records, limits: [{ graph: cave, most: 2, spare: 0 }], nameOf: String }, 'town').reduce(
        (a, b) => a + b,
        0,
      ),
    ).toBeGreaterThan(1990);
  });

  it('each choice has one identifier', () => {
    expect(markOf(['a', 'b'])).toBe(markOf(['b', 'a']));
    expect(markOf(['a', 'b'])).not.toBe(markOf(['ab']));
    expect(markOf(['a'])).not.toBe(markOf([]));
  });
});

/** Binary records with random positive pair tables on a random graph. */
const models = fc
  .record({
    records: fc.integer({ min: 3, max: 6 }),
    list: fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { minLength: 2, maxLength: 9 }),
    weights: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 48, maxLength: 48 }),
    most: fc.integer({ min: 1, max: 2 }),
    epsilon: fc.constantFrom('0.3', '1', '2.5'),
  })
  .map(({ records, list, weights, most, epsilon }) => {
    const seen = new Set<string>();
    const factors = list.flatMap(([x, y], k) => {
      const [a, b] = [Math.min(x % records, y % records), Math.max(x % records, y % records)];
      if (a === b || seen.has(`${a},${b}`)) return [];
      seen.add(`${a},${b}`);
      return [{ records: [a, b], table: Float64Array.from(weights.slice(4 * k, 4 * k + 4)) }];
    });
    const own = Array.from({ length: records }, (_, r) => ({
      records: [r],
      table: Float64Array.from(weights.slice(36 + 2 * r, 38 + 2 * r)),
    }));
    const model: Model = {
      ids: own.map((_, r) => `r${r}`),
      values: own.map(() => [0, 1]),
      factors: [...factors, ...own],
    };
    return { model, most, epsilon };
  })
  .filter(({ model }) => model.factors.some((f) => f.records.length === 2));

describe('releases over used records only', () => {
  it('an attacker who may know any others gains at most epsilon about anybody, including unused records', () => {
    let leftOut = 0;
    let tightest = 0;
    fc.assert(
      fc.property(models, ({ model, most, epsilon }) => {
        const graph = graphsOf(model)[0]!;
        const used = usedRecords(
          { records: graph.records, limits: [{ graph, most, spare: spareTies(graph, 1) }], nameOf: String },
          'town',
        );
        leftOut += used.filter((u) => u === 0).length;
        const amplifier = graphAmplifier({
          name: 'test',
          graph,
          used,
          scope: () => true,
          adversary: 'informed',
          reach: 'any',
          assumptions: [],
          method: '',
        });
        const base = toNumber(amplifier.largestBase(parseRational(epsilon)));
        const { loss } = audit(prepareAudit(model, `sum:${[...used].join(',')}`), 1 / base, 'informed');
        expect(loss).toBeLessThanOrEqual(Number(epsilon) + 1e-9);
        tightest = Math.max(tightest, loss / Number(epsilon));
      }),
      { numRuns: 300 },
    );
    expect(leftOut).toBeGreaterThan(50);
    expect(tightest).toBeGreaterThan(0.9);
  });

  it('epsilon would be exceeded if the ties of unused records were ignored', () => {
    // Two used copies of an unused record: every release about them is one about it.
    const copies = { records: [0, 1], table: Float64Array.of(99, 1, 1, 99) };
    const model: Model = {
      ids: ['used1', 'left', 'used2'],
      values: [
        [0, 1],
        [0, 1],
        [0, 1],
      ],
      factors: [copies, { ...copies, records: [1, 2] }],
    };
    expect(audit(prepareAudit(model, 'sum:1,0,1'), 1, 'informed').loss).toBeGreaterThan(1.5);
  });
});
