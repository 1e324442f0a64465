import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unitRandom } from '../../../../test/worst-distribution.js';
import { distinctComponents } from '../graph/distinct.js';
import { type FactorGraph, fromPairs } from '../graph/factor-graph.js';
import { leakageCalculator } from '../leakage.js';
import { propagate } from './belief-propagation.js';
import { informedBound } from './informed.js';
import { isLinearBound, linearBound } from './linear-bound.js';
import { sparseSolve } from './sparse-solve.js';

/** A ring through everybody, so that all have a loop, with further ties and leaves; strengths of one kind or of several. */
const rings = fc
  .record({
    round: fc.integer({ min: 3, max: 12 }),
    leaves: fc.array(fc.nat(30), { maxLength: 12 }),
    more: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 6 }),
    strengths: fc.array(fc.double({ min: 0.05, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 4 }),
    unused: fc.array(fc.nat(24), { maxLength: 5 }),
  })
  .map(({ round, leaves, more, strengths, unused }) => {
    const pairs = [
      ...Array.from({ length: round }, (_, u) => [u, (u + 1) % round]),
      ...more.map(([a, b]) => [a % round, b % round]),
      ...leaves.map((to, k) => [round + k, to % (round + k)]),
    ];
    const n = round + leaves.length;
    const ends = (k: 0 | 1) => Uint32Array.from(pairs, (pair) => pair[k]!);
    const odds = strengths.length === 1 ? strengths[0]! : Float64Array.from(pairs, (_, k) => strengths[k % strengths.length]!);
    const used = new Uint8Array(n).fill(1);
    for (const u of unused) used[u % n] = 0;
    return { graph: fromPairs(n, ends(0), ends(1), odds), used };
  });
const spent = (used: Uint8Array, base: number) => Float64Array.from(used, (one) => one * base);

describe('the linear bound', () => {
  it('the linear bound is above the leakage for every base and any used records, and equals it for a small base', () => {
    let found = 0;
    fc.assert(
      fc.property(rings, ({ graph, used }) => {
        const line = linearBound(graph, used);
        if (!line) return;
        found++;
        for (const base of [1e-9, 0.3, 20]) {
          const leaks = informedBound(graph, spent(used, base)).leaks;
          for (let u = 0; u < graph.records; u++) expect(line.per[u]! * base).toBeGreaterThanOrEqual(leaks[u]! * (1 - 1e-9));
        }
        const endless = new Float64Array(graph.nodes).fill(1e3);
        const small = propagate(graph, spent(used, 1e-9), endless).leaks;
        for (let u = 0; u < graph.records; u++) expect(line.per[u]! * 1e-9).toBeLessThanOrEqual(small[u]! * 1.001 + 4e-11);
      }),
      { numRuns: 50 },
    );
    expect(found).toBeGreaterThan(25);
  });

  it('the check refuses a linear bound if one number is slightly too low, at any record', () => {
    fc.assert(
      fc.property(rings, ({ graph, used }) => {
        const line = linearBound(graph, used);
        if (!line) return;
        expect(isLinearBound(graph, line.per, used)).toBe(true);
        for (let u = 0; u < graph.records; u++)
          expect(
            isLinearBound(
              graph,
              line.per.map((x, w) => (w === u ? x * 0.98 - 5e-3 : x)),
              used,
            ),
          ).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it('no linear bound exists if privacy losses do not die out, or ties are copies', () => {
    const everybody = (n: number, odds: number) => {
      const pairs = Array.from({ length: n }, (_, a) => Array.from({ length: a }, (_, b) => [a, b])).flat();
      return fromPairs(
        n,
        Uint32Array.from(pairs, (p) => p[0]!),
        Uint32Array.from(pairs, (p) => p[1]!),
        odds,
      );
    };
    expect(linearBound(everybody(20, 0.1), undefined)).toBeDefined();
    expect(linearBound(everybody(20, 1), undefined)).toBeUndefined();
    expect(linearBound(everybody(3, Number.POSITIVE_INFINITY), undefined)).toBeUndefined();
  });
});

/** The worst leak where messages end if they are sent for as long as it takes, in plain doubles. */
function worstAtRest({ member, logOdds, nodes }: FactorGraph, used: Uint8Array | undefined, base: number): number {
  const own = Float64Array.from({ length: nodes }, (_, u) => (used && !used[u] ? 0 : base));
  const share = logOdds.map((d) => Math.tanh(d / 4));
  const through = new Float64Array(member.length);
  let has = own.slice();
  for (let moved = 1; moved > 1e-9 * base; ) {
    const next = own.slice();
    moved = 0;
    const behind = through.map((_, p) => has[member[p ^ 1]!]! - through[p ^ 1]!);
    for (let p = 0; p < member.length; p++) {
      const sent = 4 * Math.atanh(Math.tanh(behind[p]! / 4) * share[p]!);
      moved = Math.max(moved, Math.abs(sent - through[p]!));
      through[p] = sent;
      next[member[p]!]! += sent;
    }
    has = next;
  }
  return has.reduce((m, x) => Math.max(m, x), 0);
}

describe('the worst record of a large graph', () => {
  for (const [what, strengths, some] of [
    ['of one strength', [Math.log(3)], false],
    ['of one strength, some left out', [Math.log(3)], true],
    ['of several strengths', [Math.log(3), Math.log(2), Math.log(1.5)], true],
  ] as const)
    it(`leaks no more than the bound, and little less, by ties ${what}`, () => {
      const next = unitRandom(11);
      const [records, pairs] = [22_000, 23_000];
      const ends = () => Uint32Array.from({ length: pairs }, () => Math.floor(next() * records));
      const odds = Float64Array.from({ length: pairs }, (_, k) => strengths[k % strengths.length]!);
      const whole = fromPairs(records, ends(), ends(), odds);
      const used = some ? Uint8Array.from({ length: records }, () => (next() < 0.8 ? 1 : 0)) : undefined;
      const few = distinctComponents(whole, used);
      const calculator = leakageCalculator(few.graph, 'informed', few.used ? { used: few.used } : {});
      for (const base of [1e-3, 0.05, 0.4]) {
        const truth = worstAtRest(whole, used, base);
        expect(calculator.worst(base)).toBeGreaterThanOrEqual(truth * (1 - 1e-8));
        expect(calculator.worst(base)).toBeLessThanOrEqual(truth * 1.005);
      }
    });
});

describe('the worst record with a large component present', () => {
  it('the worst record is found in a small component as well', () => {
    const next = unitRandom(5);
    const [records, pairs, home] = [22_000, 23_000, 8];
    const clique = Array.from({ length: home }, (_, a) => Array.from({ length: a }, (_, b) => [records + a, records + b])).flat();
    const one = (k: 0 | 1) => [...Array.from({ length: pairs }, () => Math.floor(next() * records)), ...clique.map((p) => p[k]!)];
    const odds = Float64Array.from({ length: pairs + clique.length }, (_, k) => Math.log(k < pairs ? 1.2 : 5));
    const { graph } = distinctComponents(fromPairs(records + home, Uint32Array.from(one(0)), Uint32Array.from(one(1)), odds));
    const small = clique.map((pair) => pair.map((u) => u - records));
    const alone = fromPairs(
      home,
      Uint32Array.from(small, (p) => p[0]!),
      Uint32Array.from(small, (p) => p[1]!),
      Math.log(5),
    );
    const truth = informedBound(alone, new Float64Array(home).fill(0.1)).leaks[0]!;
    expect(leakageCalculator(graph, 'informed').worst(0.1)).toBeGreaterThanOrEqual(truth * (1 - 1e-12));
  });
});

describe('a sparse linear system', () => {
  it('the solver reaches the requested residual', () => {
    fc.assert(
      fc.property(rings, fc.double({ min: 0.01, max: 0.4, noNaN: true }), ({ graph }, weight) => {
        const { nodeStart, neighbour, nodes } = graph;
        const degree = (u: number) => nodeStart[u + 1]! - nodeStart[u]!;
        const own = Float64Array.from({ length: nodes }, (_, u) => 0.1 + weight * degree(u));
        const brought = Float64Array.from({ length: nodes }, (_, u) => 1 + (u % 3));
        const s = sparseSolve(
          { nodeStart, neighbour, weight: () => weight, own: own.slice(), brought: brought.slice() },
          1e-6,
          200,
        )!;
        for (let u = 0; u < nodes; u++) {
          let left = own[u]! * s[u]! - brought[u]!;
          for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) left -= weight * s[neighbour[x]!]!;
          expect(Math.abs(left)).toBeLessThan(2e-6);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('one component of each shape of a large graph', () => {
  /** Many copies of one component, and one that differs from it in its last tie. */
  const copies = (last: readonly [number, number], odds?: (tie: number) => number): FactorGraph => {
    const shape = [
      [0, 1],
      [0, 2],
      [1, 3],
      [1, 4],
    ] as const;
    const many = 6000;
    const pairs = Array.from({ length: many }, (_, k) =>
      shape.map((pair, tie) => (k === 4321 && tie === 3 ? last : pair).map((u) => 5 * k + u)),
    ).flat();
    return fromPairs(
      5 * many,
      Uint32Array.from(pairs, (p) => p[0]!),
      Uint32Array.from(pairs, (p) => p[1]!),
      odds ? Float64Array.from(pairs, (_, k) => odds(k)) : 1,
    );
  };

  it('equal components have one shape, and any different tie, strength or used record makes another', () => {
    const nodes = (graph: FactorGraph, used?: Uint8Array) => distinctComponents(graph, used).graph.nodes;
    expect(nodes(copies([1, 4]))).toBe(5);
    expect(nodes(copies([2, 4]))).toBe(10);
    expect(nodes(copies([1, 4], (tie) => (tie === 4 * 4321 + 3 ? 1.5 : 1)))).toBe(10);
    const used = new Uint8Array(30_000).fill(1);
    used[5 * 4321 + 4] = 0;
    expect(nodes(copies([1, 4]), used)).toBe(10);
  });
});
