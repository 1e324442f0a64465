import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromPairs } from '../graph/factor-graph.js';
import { fromGroups } from '../graph/group-graph.js';
import { enumerate, type JointDistribution } from '../model/joint.js';
import type { Model } from '../model/model.js';
import { graphsOf } from '../model/model-graph.js';
import { clusterDistributions } from './clusters.js';
import { directDistributions } from './direct-clusters.js';
import { percolation, percolationOf } from './percolation.js';

const size = 4;
const models = fc
  .record({
    edges: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { minLength: 1, maxLength: 5 }),
    weights: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 20, maxLength: 20 }),
    used: fc.array(fc.nat(1), { minLength: size, maxLength: size }),
    sigma: fc.double({ min: 0.8, max: 4, noNaN: true }),
    epsilon: fc.double({ min: 0.1, max: 2, noNaN: true }),
  })
  .map(({ edges, weights, ...rest }) => {
    const factors = edges
      .filter(([a, b]) => a !== b)
      .map((records, k) => ({ records, table: Float64Array.from(weights.slice(4 * k, 4 * k + 4)) }));
    const model: Model = { ids: ['a', 'b', 'c', 'd'], values: Array.from({ length: size }, () => [0, 1]), factors };
    return { model, ...rest, used: Uint8Array.from(rest.used) };
  });
const bit = (state: number, j: number) => (state >> (size - 1 - j)) & 1;

/** delta of (sum of used bits + Gaussian) between x_i = 0 and 1, the known records (a mask) being 0; the larger direction. */
function exactDelta(
  joint: JointDistribution,
  used: Uint8Array,
  i: number,
  known: number,
  sigma: number,
  epsilon: number,
): number {
  const distributions = [0, 1].map((value) => {
    const distribution = new Float64Array(size + 1);
    joint.probabilities.forEach((p, s) => {
      if (bit(s, i) === value && (s & known) === 0) distribution[[...used].reduce((t, u, j) => t + u * bit(s, j), 0)]! += p;
    });
    const total = distribution.reduce((t, p) => t + p, 0);
    return distribution.map((p) => p / total);
  });
  const density = (distribution: Float64Array, x: number) =>
    distribution.reduce((t, p, k) => t + p * Math.exp(-((x - k) ** 2) / (2 * sigma ** 2)), 0) / (sigma * Math.sqrt(2 * Math.PI));
  const step = sigma / 10;
  let [up, down] = [0, 0];
  for (let x = -9 * sigma; x < size + 9 * sigma; x += step) {
    const [p, q] = [density(distributions[0]!, x), density(distributions[1]!, x)];
    up += step * Math.max(0, p - Math.exp(epsilon) * q);
    down += step * Math.max(0, q - Math.exp(epsilon) * p);
  }
  return Math.max(up, down);
}

describe('clusters of used records', () => {
  it('the clusters bound delta of a Gaussian sum over the used records, for every record and every known set', () => {
    fc.assert(
      fc.property(models, ({ model, used, sigma, epsilon }) => {
        const bound = percolation(graphsOf(model)[0]!, used).delta(1 / (2 * sigma * sigma), epsilon);
        const joint = enumerate(model);
        for (let known = 0; known < 1 << size; known++)
          for (let i = 0; i < size; i++)
            if (!(known & (1 << (size - 1 - i))))
              expect(exactDelta(joint, used, i, known, sigma, epsilon)).toBeLessThanOrEqual(bound * 1.001 + 1e-9);
      }),
      { numRuns: 40 },
    );
  });

  it('the clusters are those of the whole graph if all records are used, and smaller otherwise, by any method', () => {
    const ring = (n: number) =>
      fromPairs(
        n,
        Uint32Array.from({ length: n }, (_, k) => k),
        Uint32Array.from({ length: n }, (_, k) => (k + 1) % n),
        0.3,
      );
    const path = (n: number) =>
      fromPairs(
        n,
        Uint32Array.from({ length: n - 1 }, (_, k) => k),
        Uint32Array.from({ length: n - 1 }, (_, k) => k + 1),
        0.7,
      );
    const clique = (n: number) => fromGroups(new Uint32Array(n), 0.02, 'pairs');
    for (const graph of [ring(5), ring(40), path(6), clique(20)]) {
      const every = new Uint8Array(graph.records).fill(1);
      expect(clusterDistributions(graph, every)).toEqual(clusterDistributions(graph));
      const half = every.map((_, u) => u % 2);
      const delta = (used?: Uint8Array) => percolation(graph, used).delta(0.01, 0.5);
      // The closed form for regular graphs ignores which records are used.
      if (graph.records === 40) expect(delta(half)).toBeLessThanOrEqual(delta());
      else expect(delta(half)).toBeLessThan(delta());
    }
  });
});

describe('clusters of direct ties', () => {
  const star = (leaves: number, odds: number | Float64Array) =>
    fromPairs(
      leaves + 1,
      new Uint32Array(leaves),
      Uint32Array.from({ length: leaves }, (_, k) => k + 1),
      odds,
    );

  it('the clusters of direct ties are stars, with common and with separate strengths', () => {
    const own = Float64Array.of(0.3, 1, 2, 2.5);
    for (const odds of [0.9, own]) {
      const [widest] = directDistributions(star(4, odds)).sort((a, b) => b.tail[4]! - a.tail[4]!);
      const [whole] = clusterDistributions(star(4, odds)).sort((a, b) => b.tail[4]! - a.tail[4]!);
      expect([...widest!.tail].map((p) => p.toFixed(12))).toEqual([...whole!.tail].map((p) => p.toFixed(12)));
    }
  });

  it('the clusters of direct ties bound delta for the centre of a star, where the assumption of direct reach is true', () => {
    fc.assert(
      fc.property(models, ({ model, used, sigma, epsilon }) => {
        const around: Model = {
          ...model,
          factors: model.factors.slice(0, 3).map((f, k) => ({ ...f, records: [0, k + 1] })),
        };
        const bound = percolationOf(directDistributions(graphsOf(around)[0]!, used)).delta(1 / (2 * sigma * sigma), epsilon);
        expect(exactDelta(enumerate(around), used, 0, 0, sigma, epsilon)).toBeLessThanOrEqual(bound * 1.001 + 1e-9);
      }),
      { numRuns: 100 },
    );
  });
});
