import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, fromNumber, rational, toNumber } from '../../../base/exact/rational.js';
import { zcdpDelta } from '../gaussian/zcdp-delta.js';
import { type FactorGraph, fromFactors, fromPairs, untied } from '../graph/factor-graph.js';
import { fromGroups } from '../graph/group-graph.js';
import { contraction } from '../graph/push.js';
import { enumerate } from '../model/joint.js';
import type { Model } from '../model/model.js';
import { graphsOf } from '../model/model-graph.js';
import { branchingTail } from './branching.js';
import { clusterDistributions } from './clusters.js';
import { percolation, percolationOf } from './percolation.js';

const million = rational(1, 1_000_000);
const path = (n: number, d: number): FactorGraph =>
  fromPairs(
    n,
    Uint32Array.from({ length: n - 1 }, (_, k) => k),
    Uint32Array.from({ length: n - 1 }, (_, k) => k + 1),
    d,
  );

describe('clusters of thousands', () => {
  it('a cluster is charged at least the cost of each of its sizes, and hardly more', () => {
    const tail = Float64Array.from({ length: 6001 }, (_, s) => Math.exp(-Math.max(0, s - 1) / 900));
    const distribution = clusterDistributions(untied(1))[0]!;
    const { delta } = percolationOf([{ ...distribution, tail }]);
    for (const rho of [1e-9, 1e-8, 3e-7]) {
      let [sum, before] = [0, 0];
      for (let s = 1; s < tail.length; s++) {
        const charge = zcdpDelta(rho * s * s, 1);
        sum += (charge - before) * tail[s]!;
        before = charge;
      }
      expect(delta(rho, 1)).toBeGreaterThanOrEqual(sum * (1 - 1e-9));
      expect(delta(rho, 1)).toBeLessThanOrEqual(sum * 1.1);
    }
  });
});

describe('the cluster around a record', () => {
  it('the cluster is the record alone without ties, and everybody among copies', () => {
    expect(clusterDistributions(untied(4)).map((l) => [...l.tail])).toEqual([[1, 1]]);
    expect(clusterDistributions(path(4, Number.POSITIVE_INFINITY)).map((l) => [...l.tail])).toEqual([[1, 1, 1, 1, 1]]);
  });

  it('the cluster on a path has two geometric arms, cut at the ends', () => {
    const t = contraction(1);
    const [distribution] = clusterDistributions(path(3, 1)).sort((a, b) => b.tail[2]! - a.tail[2]!);
    expect(distribution!.tail[2]).toBeCloseTo(1 - (1 - t) ** 2, 12);
    expect(distribution!.tail[3]).toBeCloseTo(t * t, 12);
  });

  it('the cluster on a clique matches simulated site percolation', () => {
    const p = contraction(3 * 0.5);
    const [distribution] = clusterDistributions(fromGroups(Uint32Array.of(1, 1, 1, 1), 0.5, 'pairs'));
    expect(distribution!.tail[2]).toBeCloseTo(1 - (1 - p) ** 3, 10);
    expect(distribution!.tail[4]).toBeCloseTo(p ** 3, 10);
  });

  it('the cluster of a clique beyond enumeration is one plus a binomial over the others', () => {
    const p = contraction(19 * 0.05);
    const [distribution] = clusterDistributions(fromGroups(new Uint32Array(20), 0.05, 'pairs'));
    expect(distribution!.tail.length).toBe(21);
    expect(distribution!.tail[20]! / p ** 19).toBeCloseTo(1, 9);
    expect(distribution!.tail[2]).toBeCloseTo(1 - (1 - p) ** 19, 10);
  });

  it('the cluster of a long path is that of the infinite path, by any method', () => {
    const at = (n: number) => clusterDistributions(path(n, 0.8)).reduce((m, l) => Math.max(m, l.tail[5]!), 0);
    expect(at(3000)).toBeGreaterThanOrEqual(at(100) - 1e-12);
    expect(at(3000)).toBeLessThan(at(100) * 1.001);
  });

  it('the cluster never grows when a tie is weakened, on forests and on loops', () => {
    const factors = fc.array(fc.tuple(fc.nat(6), fc.nat(6), fc.double({ min: 0.1, max: 3, noNaN: true })), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(factors, fc.nat(7), (list, pick) => {
        const specs = list.filter(([a, b]) => a !== b).map(([a, b, d]) => ({ members: [a, b], logOdds: d }));
        const weaker = specs.map((s, k) => (k === pick % specs.length ? { ...s, logOdds: s.logOdds / 2 } : s));
        const strong = percolation(fromFactors(7, specs)).delta(0.05, 1);
        expect(percolation(fromFactors(7, weaker)).delta(0.05, 1)).toBeLessThanOrEqual(strong * (1 + 1e-9));
      }),
      { numRuns: 60 },
    );
  });

  it('the sizes of a branching population are those of Otter and Dwass', () => {
    const tail = branchingTail(2, 0.3, 50);
    // Two arms, each geometric: P(size >= 3) = 1 - P(1) - P(2).
    expect(tail[2]).toBeCloseTo(1 - 0.49, 9);
    expect(tail[3]).toBeCloseTo(1 - 0.49 - 2 * 0.3 * 0.7 * 0.7, 9);
    expect(tail[50]).toBeLessThan(1e-20);
  });
});

describe('Gaussian noise under ties', () => {
  it('a 3-clique at odds ratio 2 costs about 3.25 alpha rho instead of 9', () => {
    const clique = percolation(fromGroups(Uint32Array.of(0, 0, 0), Math.log(2), 'pairs'));
    for (const alpha of [2, 5]) {
      const times = clique.renyi(1e-4, alpha) / (alpha * 1e-4);
      expect(times).toBeGreaterThan(3.2);
      expect(times).toBeLessThan(3.25);
    }
  });

  it('the conversion is that of plain zCDP without ties, and that of the group among copies', () => {
    const alone = percolation(untied(1)).epsilon(rational(1, 10), million);
    expect(alone).toBeCloseTo(2.141939, 5);
    const copies = percolation(path(3, Number.POSITIVE_INFINITY)).epsilon(rational(1, 90), million);
    expect(copies).toBeCloseTo(alone, 6);
    expect(zcdpDelta(0.1, alone)).toBeLessThanOrEqual(1e-6);
  });

  it('the largest rho keeps the promise', () => {
    const clique = percolation(fromGroups(Uint32Array.of(0, 0, 0, 0), Math.log(4), 'pairs'));
    const rho = clique.largestRho(rational(1), million);
    expect(clique.delta(toNumber(rho), 1)).toBeLessThanOrEqual(1e-6);
    expect(clique.delta(toNumber(rho) * 1.001, 1)).toBeGreaterThan(1e-6);
    expect(compare(rho, percolation(untied(1)).largestRho(rational(1), million))).toBe(-1);
    expect(compare(fromNumber(clique.epsilon(rho, million)), rational(1000001, 1000000))).toBe(-1);
  });

  it('the bound holds for delta of a real Gaussian sum over tied bits, for every known set', () => {
    const models = fc.record({
      edges: fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 5 }),
      weights: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 20, maxLength: 20 }),
      sigma: fc.double({ min: 0.8, max: 4, noNaN: true }),
      epsilon: fc.double({ min: 0.1, max: 2, noNaN: true }),
    });
    let tightest = 0;
    fc.assert(
      fc.property(models, ({ edges, weights, sigma, epsilon }) => {
        const factors = edges
          .filter(([a, b]) => a !== b)
          .map((records, k) => ({ records, table: Float64Array.from(weights.slice(4 * k, 4 * k + 4)) }));
        const model: Model = {
          ids: ['a', 'b', 'c', 'd'],
          values: [
            [0, 1],
            [0, 1],
            [0, 1],
            [0, 1],
          ],
          factors,
        };
        const joint = enumerate(model);
        const bound = percolation(graphsOf(model)[0]!).delta(1 / (2 * sigma * sigma), epsilon);
        const bit = (s: number, j: number) => (s >> (3 - j)) & 1;
        for (let known = 0; known < 16; known++)
          for (let i = 0; i < 4; i++) {
            if (known & (8 >> i)) continue;
            // Known records fixed at 0; distributions of the sum given x_i = 1 and x_i = 0.
            const sums = [0, 1].map((value) => {
              const distribution = new Float64Array(5);
              joint.probabilities.forEach((p, s) => {
                if (bit(s, i) === value && (s & known) === 0) distribution[[0, 1, 2, 3].reduce((t, j) => t + bit(s, j), 0)]! += p;
              });
              const total = distribution.reduce((t, p) => t + p, 0);
              return distribution.map((p) => p / total);
            });
            const density = (distribution: Float64Array, x: number) =>
              distribution.reduce((t, p, k) => t + p * Math.exp(-((x - k) ** 2) / (2 * sigma ** 2)), 0) /
              (sigma * Math.sqrt(2 * Math.PI));
            for (const [p, q] of [
              [sums[0]!, sums[1]!],
              [sums[1]!, sums[0]!],
            ] as const) {
              let delta = 0;
              const step = sigma / 10;
              for (let x = -9 * sigma; x < 4 + 9 * sigma; x += step)
                delta += step * Math.max(0, density(p, x) - Math.exp(epsilon) * density(q, x));
              expect(delta).toBeLessThanOrEqual(bound * 1.001 + 1e-9);
              tightest = Math.max(tightest, delta / bound);
            }
          }
      }),
      { numRuns: 40 },
    );
    expect(tightest).toBeGreaterThan(0.1);
  });
});
