import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cliqueLeaks } from '../graph/clique.js';
import { combine, type FactorGraph, fromFactors, fromPairs, untied, withOdds } from '../graph/factor-graph.js';
import { forestPass } from '../graph/forest.js';
import { fromGroups } from '../graph/group-graph.js';
import { contraction, push } from '../graph/push.js';
import { componentOf, recursion } from '../graph/recursion.js';
import { walkGraph } from '../graph/walk.js';
import { propagate } from './belief-propagation.js';
import { informedBound } from './informed.js';

const inf = Number.POSITIVE_INFINITY;
const fill = (n: number, e: number) => new Float64Array(n).fill(e);
const leaks = (g: FactorGraph, e: ArrayLike<number>) => [...informedBound(g, Float64Array.from(e)).leaks];

/** A random graph of up to eight records with pair and triple factors. */
const graphs = fc
  .record({
    records: fc.integer({ min: 2, max: 8 }),
    factors: fc.array(
      fc.record({
        seats: fc.array(fc.nat(1000), { minLength: 2, maxLength: 3 }),
        odds: fc.oneof(
          { weight: 8, arbitrary: fc.double({ min: 0.01, max: 6, noNaN: true }) },
          { weight: 1, arbitrary: fc.constant(inf) },
        ),
      }),
      { maxLength: 9 },
    ),
    effects: fc.array(fc.double({ min: 0.01, max: 2, noNaN: true }), { minLength: 8, maxLength: 8 }),
  })
  .map(({ records, factors, effects: costs }) => ({
    records,
    effects: costs.slice(0, records),
    specs: factors
      .map((f) => ({ members: [...new Set(f.seats.map((s) => s % records))], logOdds: f.odds }))
      .filter((f) => f.members.length > 1),
  }));

describe('leakage to an informed attacker', () => {
  it('a record without ties leaks its own cost', () => {
    expect(leaks(untied(3), [0.1, 0.2, 0.3])).toEqual([0.1, 0.2, 0.3]);
  });

  it('copies leak the cost of their group, and no record leaks more than its group', () => {
    expect(leaks(fromPairs(3, Uint32Array.of(0, 1), Uint32Array.of(1, 2), inf), [1, 2, 4])).toEqual([7, 7, 7]);
    fc.assert(
      fc.property(graphs, ({ records, specs, effects: costs }) => {
        const bound = informedBound(fromFactors(records, specs), Float64Array.from(costs));
        for (let i = 0; i < records; i++) {
          expect(bound.leaks[i]!).toBeLessThanOrEqual(bound.group[i]!);
          expect(bound.leaks[i]!).toBeGreaterThanOrEqual(costs[i]!);
        }
      }),
    );
  });

  it('a household of four at odds ratio 4 leaks 2.89 times its base, and one of five with a hidden type at 9 twice its base', () => {
    const e = 1e-6;
    expect(leaks(fromGroups(Uint32Array.of(7, 7, 7, 7), Math.log(4), 'pairs'), fill(4, e))[0]! / e).toBeCloseTo(2.889, 3);
    expect(leaks(fromGroups(Uint32Array.of(7, 7, 7, 7, 7), Math.log(9), 'hidden'), fill(5, e))[0]! / e).toBeCloseTo(2, 4);
  });

  it('the leakage with a hidden type follows the closed form', () => {
    const d = Math.log(9);
    const e = [0.1, 0.5, 0.9];
    const got = leaks(fromGroups(Uint32Array.of(0, 0, 0), d, 'hidden'), e);
    expect(got[0]).toBeCloseTo(0.1 + push(push(0.5, d) + push(0.9, d), d), 12);
  });

  it('the leakage is monotone in the costs, in every odds ratio and in added factors', () => {
    fc.assert(
      fc.property(
        graphs,
        fc.nat(7),
        fc.double({ min: 0, max: 2, noNaN: true }),
        ({ records, specs, effects: costs }, pick, more) => {
          const here = leaks(fromFactors(records, specs), costs);
          const j = pick % records;
          const louder = leaks(
            fromFactors(records, specs),
            costs.map((e, k) => (k === j ? e + more : e)),
          );
          const stronger = leaks(
            fromFactors(
              records,
              specs.map((f, k) => (k === pick % specs.length ? { ...f, logOdds: f.logOdds + more } : f)),
            ),
            costs,
          );
          const tied = leaks(fromFactors(records, [...specs, { members: [j, (j + 1) % records], logOdds: more }]), costs);
          for (let i = 0; i < records; i++)
            for (const there of [louder, stronger, tied]) expect(there[i]!).toBeGreaterThanOrEqual(here[i]! * (1 - 1e-12));
        },
      ),
    );
  });

  it('k times the costs leak at most k times as much', () => {
    fc.assert(
      fc.property(graphs, fc.double({ min: 1, max: 20, noNaN: true }), ({ records, specs, effects: costs }, k) => {
        const g = fromFactors(records, specs);
        const once = leaks(g, costs);
        const many = leaks(
          g,
          costs.map((e) => k * e),
        );
        for (let i = 0; i < records; i++) expect(many[i]!).toBeLessThanOrEqual(k * once[i]! * (1 + 1e-9));
      }),
    );
  });

  it('the leakage on a forest is the same by one pass each way, by the recursion and by messages', () => {
    const tree = fc.array(fc.nat(1000), { minLength: 2, maxLength: 9 }).chain((parents) =>
      fc.record({
        parents: fc.constant(parents),
        odds: fc.array(fc.double({ min: 0.05, max: 5, noNaN: true }), { minLength: parents.length, maxLength: parents.length }),
        effects: fc.array(fc.double({ min: 0.01, max: 2, noNaN: true }), {
          minLength: parents.length + 1,
          maxLength: parents.length + 1,
        }),
      }),
    );
    fc.assert(
      fc.property(tree, ({ parents, odds, effects: costs }) => {
        const n = costs.length;
        const g = fromFactors(
          n,
          parents.map((p, k) => ({ members: [k + 1, p % (k + 1)], logOdds: odds[k]! })),
        );
        const w = walkGraph(g);
        const pass = forestPass(w, Float64Array.from(costs));
        const total = costs.reduce((s, e) => s + e, 0);
        const sent = propagate(g, Float64Array.from(costs), fill(n, total)).leaks;
        const nodes = Uint32Array.from({ length: n }, (_, k) => k);
        const exact = recursion(componentOf(g, nodes, Float64Array.from(costs), new Uint32Array(n)))!;
        for (let x = 0; x < n; x++) {
          const u = w.order[x]!;
          expect(pass[x]!).toBeCloseTo(exact[u]!, 9);
          expect(sent[u]!).toBeCloseTo(exact[u]!, 7);
        }
      }),
    );
  });

  it('the messages on loops are never below the recursion', () => {
    fc.assert(
      fc.property(graphs, ({ records, specs, effects: costs }) => {
        const g = fromFactors(records, specs);
        const w = walkGraph(g);
        const caps = new Float64Array(records);
        for (let c = 0; c < w.components; c++) {
          const nodes = w.order.subarray(w.componentStart[c], w.componentStart[c + 1]);
          const sum = nodes.reduce((s, u) => s + costs[u]!, 0) * (1 + 1e-12);
          for (const u of nodes) caps[u] = sum;
        }
        const sent = propagate(g, Float64Array.from(costs), caps).leaks;
        for (let c = 0; c < w.components; c++) {
          const nodes = w.order.subarray(w.componentStart[c], w.componentStart[c + 1]);
          const exact = recursion(componentOf(g, nodes, Float64Array.from(costs), new Uint32Array(records)))!;
          for (const [k, u] of nodes.entries()) expect(sent[u]!).toBeGreaterThanOrEqual(exact[k]! * (1 - 1e-9));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('the clique bound agrees with the recursion for equal costs and is above it for unequal ones', () => {
    const d = 0.8;
    const pairs = (n: number) =>
      Array.from({ length: n }, (_, a) => Array.from({ length: a }, (_, b) => ({ members: [a, b], logOdds: d }))).flat();
    const exact = leaks(fromFactors(7, pairs(7)), fill(7, 0.1));
    expect(cliqueLeaks([...fill(7, 0.1)], d)[0]).toBeCloseTo(exact[0]!, 10);
    const costs = [0.3, 0.1, 0.05, 0.7, 0.02];
    const mixed = leaks(fromFactors(5, pairs(5)), costs);
    for (const [i, leak] of cliqueLeaks(costs, d).entries()) expect(leak).toBeGreaterThanOrEqual(mixed[i]! - 1e-12);
  });

  it('the leakage is capped by the group on a large loop of copies, and with too many or too strong ties', () => {
    const n = 40;
    const ring = Uint32Array.from({ length: n }, (_, k) => (k + 1) % n);
    const self = Uint32Array.from({ length: n }, (_, k) => k);
    for (const leak of leaks(fromPairs(n, self, ring, inf), fill(n, 0.5))) expect(leak).toBeCloseTo(20, 9);
    const weak = leaks(fromPairs(n, self, ring, 1), fill(n, 1e-3));
    const t = contraction(1);
    expect(weak[0]! / 1e-3).toBeLessThanOrEqual((1 + t) / (1 - t) + 1e-6);
    expect(weak[0]! / 1e-3).toBeGreaterThan((1 + t) / (1 - t) - 1e-3);
  });

  it('a pair listed twice counts once, and two kinds of ties on one pair count together', () => {
    const once = fromPairs(2, Uint32Array.of(0, 1, 0), Uint32Array.of(1, 0, 0), Float64Array.of(1, 2, 9));
    expect([...once.logOdds]).toEqual([2, 2]);
    const both = combine([once, fromGroups(Uint32Array.of(5, 5), 1, 'pairs')]);
    expect([...both.logOdds]).toEqual([3, 3]);
    const withType = combine([
      once,
      fromGroups(Uint32Array.of(5, 5), 1, 'hidden'),
      fromGroups(Uint32Array.of(4, 4), 1, 'hidden'),
    ]);
    expect(withType.nodes).toBe(4);
    expect(leaks(withType, [0.1, 0.1])[0]!).toBeGreaterThan(leaks(once, [0.1, 0.1])[0]!);
    expect(
      leaks(
        withOdds(once, () => 0),
        [0.1, 0.1],
      ),
    ).toEqual([0.1, 0.1]);
  });

  it('the bounds handle records that no release depends on', () => {
    const n = 20;
    const left = Uint32Array.from({ length: n }, (_, k) => k);
    const right = Uint32Array.from({ length: n }, (_, k) => (k + 1) % n);
    const one = new Float64Array(n);
    one[0] = 1;
    const got = leaks(fromPairs(n, left, right, 1), one);
    expect(got[0]).toBeGreaterThanOrEqual(1);
    expect(got[1]).toBeGreaterThanOrEqual(push(1, 1));
    expect(got[10]).toBeLessThan(got[1]!);
  });
});
