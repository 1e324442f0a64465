import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { climb, gaussianDelta, type TieList, unitRandom } from '../../../../test/worst-distribution.js';
import { compare, multiply, parseRational, type Rational, rational, subtract, toNumber } from '../../../base/exact/rational.js';
import { type FactorGraph, fromPairs, untied } from '../graph/factor-graph.js';
import { fromGroups } from '../graph/group-graph.js';
import { leakageBounds } from '../leakage.js';
import { enumerate, type JointDistribution } from '../model/joint.js';
import type { Model } from '../model/model.js';
import { graphsOf } from '../model/model-graph.js';
import { percolation } from '../uninformed/percolation.js';
import { type ComponentReach, gaussianSums, sumsOver } from './sums.js';

const one = rational(1);
const million = rational(1, 1_000_000);
const deviation = (rho: Rational) => 1 / Math.sqrt(2 * toNumber(rho));
/** The least sigma with which one Gaussian count is (1, 1e-6)-indistinguishable (the formula of Balle and Wang 2018, solved once by bisection). */
const analytic = (() => {
  let [low, high] = [1, 10];
  const distributions: [Float64Array, Float64Array] = [Float64Array.of(1, 0), Float64Array.of(0, 1)];
  for (let k = 0; k < 40; k++) {
    const middle = (low + high) / 2;
    if (gaussianDelta(distributions, middle, 1) > 1e-6) low = middle;
    else high = middle;
  }
  return high;
})();
const clique = (people: number, ratio: number) => fromGroups(new Uint32Array(people), Math.log(ratio), 'pairs');

describe('Gaussian noise on sums', () => {
  it('the amplification of Gaussian noise is the slope of the pure bound', () => {
    for (const graph of [clique(4, 2), clique(5, 9), fromGroups(Uint32Array.of(0, 0, 0, 1, 1), 1.1, 'hidden'), untied(3)]) {
      const tiny = 1e-7;
      const slope = leakageBounds(graph, tiny, 'informed').worst.leakage / tiny;
      const most = Math.max(...gaussianSums(graph, 'any').reaches.map((r) => r.amplification));
      expect(most).toBeGreaterThanOrEqual(slope);
      expect(most).toBeLessThan(slope * (1 + 1e-6));
    }
  });

  it.each([2, 3, 4, 5].flatMap((people) => [2, 4, 9].map((ratio) => [people, ratio] as const)))(
    'the noise for households of %s at odds ratio %s is at most 1.3 times what C alone requires, and never above group noise',
    (people, ratio) => {
      const graph = clique(people, ratio);
      const sums = gaussianSums(graph, 'any');
      const half = multiply(million, rational(1, 2));
      const sigma = Math.min(deviation(sums.largestRho(one, half)), deviation(percolation(graph).largestRho(one, million)));
      expect(sigma / (analytic * sums.reaches[0]!.amplification)).toBeLessThan(1.3);
      expect(sigma).toBeLessThanOrEqual(people * deviation(percolation(untied(1)).largestRho(one, million)) * (1 + 1e-9));
    },
  );

  it('the noise suffices for the worst distribution found by climbing, and four fifths of C does not', () => {
    const random = unitRandom(3);
    for (const [people, ratio] of [
      [2, 4],
      [3, 2],
      [4, 2],
    ] as const) {
      const ties: TieList = {
        records: people,
        pairs: [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].filter((b) => a < b && b < people).map((b): [number, number] => [a, b])),
        logOdds: Math.log(ratio),
      };
      const sums = gaussianSums(clique(people, ratio), 'any');
      const sigma = deviation(sums.largestRho(one, million));
      expect(climb(ties, (distributions) => gaussianDelta(distributions, sigma, 1), 400, random)).toBeLessThanOrEqual(1e-6);
      const less = sumsOver(sums.reaches.map((r) => ({ ...r, amplification: 0.8 * r.amplification })));
      const low = deviation(less.largestRho(one, million));
      expect(climb(ties, (distributions) => gaussianDelta(distributions, low, 1), 400, random)).toBeGreaterThan(1e-6);
    }
  });

  it("delta is that of the proof's formula, at the best lambda, for the worst of several components", () => {
    const formula = ({ amplification: c, records: m, nodes }: ComponentReach, rho: number, epsilon: number): number => {
      let least = 0;
      for (let lambda = Math.max(1, m / c); lambda < 4000; lambda *= 1.0005) {
        const x = lambda * c;
        const moment = rho * (x * x + x * (2 * m - 1));
        const log = moment + Math.log1p((nodes - 1) * Math.exp(-moment)) - lambda * epsilon;
        least = Math.min(least, log + lambda * Math.log(lambda / (lambda + 1)) - Math.log(lambda + 1));
      }
      return Math.exp(least);
    };
    const list: ComponentReach[] = [
      { amplification: 1.5, records: 4, nodes: 4 },
      { amplification: 1.5, records: 4, nodes: 400 },
      { amplification: 1.1, records: 40, nodes: 41 },
      { amplification: 3, records: 3, nodes: 4 },
      { amplification: 1, records: 1, nodes: 1 },
    ];
    for (const reach of list)
      for (const [rho, epsilon] of [
        [0.005, 1],
        [0.0005, 0.3],
        [0.05, 3],
        [0.3, 6],
      ] as const)
        expect(sumsOver([reach]).delta(rho, epsilon) / formula(reach, rho, epsilon)).toBeCloseTo(1, 3);
    const all = sumsOver(list);
    const worst = Math.max(...list.map((r) => formula(r, 0.001, 1)));
    expect(all.delta(0.001, 1) / worst).toBeCloseTo(1, 3);
    // Neither of these covers the other.
    expect(sumsOver([list[2]!, list[3]!]).reaches.length).toBe(2);
  });

  it('the remaining epsilon is kept when pure noise was spent as well', () => {
    const sums = gaussianSums(clique(3, 3), 'any');
    const capacity = sums.largestRho(one, million);
    const amplification = Math.max(...sums.reaches.map((r) => r.amplification));
    for (const part of ['0.01', '0.1', '0.2']) {
      const pure = parseRational(part);
      // Largest rho that `counted` admits, and the bound proven for it.
      let [low, high] = [0, toNumber(capacity)];
      for (let k = 0; k < 60; k++) {
        const middle = (low + high) / 2;
        const rho = parseRational(`${middle}`);
        if (compare(sums.counted({ rho, pure }, capacity, one), capacity) <= 0) low = middle;
        else high = middle;
      }
      const left = subtract(one, multiply(pure, parseRational(amplification.toFixed(12))));
      expect(sums.delta(low, toNumber(left))).toBeLessThanOrEqual(1e-6);
      expect(low).toBeGreaterThan(0);
      expect(sums.epsilon({ rho: parseRational(`${low}`), pure }, million)).toBeLessThanOrEqual(1 + 1e-6);
    }
  });
});

describe('Gaussian and pure noise on sums in adaptive proportions', () => {
  const list: ComponentReach[] = [
    { amplification: 1.5, records: 4, nodes: 4 },
    { amplification: 3, records: 3, nodes: 40 },
    { amplification: 1, records: 1, nodes: 1 },
  ];
  /** The logarithm of the moment at one order, for a record that spends this among others that spend at most the capacity (the proof's W). */
  const moment = ({ records: m }: ComponentReach, x: number, rho: number, pure: number, others: number) =>
    x * pure + rho * x * x + x * (rho + 2 * (m - 1) * Math.sqrt(rho * others));
  /** The order at which delta of the capacity is least, looked for by itself. */
  const orderOf = (r: ComponentReach, rho: number): number => {
    let [best, at] = [Number.POSITIVE_INFINITY, 0];
    for (let lambda = Math.max(1, r.records / r.amplification); lambda < 4000; lambda *= 1.0002) {
      const grown = moment(r, lambda * r.amplification, rho, 0, rho);
      const log =
        grown +
        Math.log1p((r.nodes - 1) * Math.exp(-grown)) -
        lambda +
        lambda * Math.log(lambda / (lambda + 1)) -
        Math.log(lambda + 1);
      if (log < best) [best, at] = [log, lambda * r.amplification];
    }
    return at;
  };
  /** Largest excess of the moment of a mixture that counts for all of the capacity over that of Gaussian noise alone. */
  const excess = (r: ComponentReach, rhoWithPure: (pure: number, capacity: number) => number): number => {
    const capacity = toNumber(sumsOver([r]).largestRho(one, million));
    const x = orderOf(r, capacity);
    return Math.max(
      ...[0.01, 0.1, 0.3, 0.5, 0.9].map((part) => {
        const pure = part / r.amplification;
        const rho = rhoWithPure(pure, capacity);
        return rho < 0 ? 0 : moment(r, x, rho, pure, capacity) / moment(r, x, capacity, 0, capacity) - 1;
      }),
    );
  };

  it('both kinds of noise are converted at the order that keeps the capacity, even if records spend different mixtures', () => {
    for (const r of list) {
      const sums = sumsOver([r]);
      const rhoWithPure = (pure: number, capacity: number): number => {
        const cap = parseRational(`${capacity}`);
        return capacity - toNumber(sums.counted({ rho: rational(0), pure: parseRational(`${pure}`) }, cap, one));
      };
      expect(excess(r, rhoWithPure)).toBeLessThan(1e-3);
    }
  });

  it('the attack breaks a conversion to the remaining epsilon at a different order for each mixture', () => {
    for (const r of list) {
      const left = (pure: number, capacity: number) => (1 - r.amplification * pure) ** 2 * capacity;
      expect(excess(r, left)).toBeGreaterThan(0.1);
    }
  });
});

const size = 4;
const bit = (state: number, j: number) => (state >> (size - 1 - j)) & 1;
function sumDistributions(joint: JointDistribution, used: Uint8Array, i: number, known: number): [Float64Array, Float64Array] {
  const [a, b] = [0, 1].map((value) => {
    const distribution = new Float64Array(used.reduce((t, u) => t + u, 0) + 1);
    joint.probabilities.forEach((p, s) => {
      if (bit(s, i) === value && (s & known) === 0) distribution[[...used].reduce((t, u, j) => t + u * bit(s, j), 0)]! += p;
    });
    const total = distribution.reduce((t, p) => t + p, 0);
    return distribution.map((p) => p / total);
  });
  return [a!, b!];
}
const models = fc
  .record({
    edges: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { minLength: 1, maxLength: 5 }),
    weights: fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 20, maxLength: 20 }),
    used: fc.array(fc.nat(3), { minLength: size, maxLength: size }),
  })
  .map(({ edges, weights, used }) => {
    const factors = edges
      .filter(([a, b]) => a !== b)
      .map((records, k) => ({ records, table: Float64Array.from(weights.slice(4 * k, 4 * k + 4)) }));
    const model: Model = { ids: ['a', 'b', 'c', 'd'], values: Array.from({ length: size }, () => [0, 1]), factors };
    return { model, used: Uint8Array.from(used, (u) => (u > 0 ? 1 : 0)) };
  });

describe('Gaussian noise on sums over used records only', () => {
  const holds = (
    graph: FactorGraph,
    reach: 'any' | 'direct',
    used: Uint8Array,
    distributions: readonly [Float64Array, Float64Array][],
  ) => {
    const bound = gaussianSums(graph, reach, used);
    const rho = bound.largestRho(one, parseRational('1e-4'));
    if (rho.num === 0n) return;
    for (const distribution of distributions) expect(gaussianDelta(distribution, deviation(rho), 1)).toBeLessThanOrEqual(1e-4);
  };

  it('delta is kept for every record and every known set when only some records are used', () => {
    fc.assert(
      fc.property(models, ({ model, used }) => {
        const joint = enumerate(model);
        const distributions: [Float64Array, Float64Array][] = [];
        for (let known = 0; known < 1 << size; known++)
          for (let i = 0; i < size; i++)
            if (!(known & (1 << (size - 1 - i)))) distributions.push(sumDistributions(joint, used, i, known));
        holds(graphsOf(model)[0]!, 'any', used, distributions);
      }),
      { numRuns: 60 },
    );
  });

  it('delta is kept for the centre of a star, where the assumption of direct reach is true', () => {
    fc.assert(
      fc.property(models, ({ model, used }) => {
        const around: Model = { ...model, factors: model.factors.slice(0, 3).map((f, k) => ({ ...f, records: [0, k + 1] })) };
        holds(graphsOf(around)[0]!, 'direct', used, [sumDistributions(enumerate(around), used, 0, 0)]);
      }),
      { numRuns: 60 },
    );
  });

  it('the bound with direct reach counts the star around a record, not its component', () => {
    const path = fromPairs(
      50,
      Uint32Array.from({ length: 49 }, (_, k) => k),
      Uint32Array.from({ length: 49 }, (_, k) => k + 1),
      1,
    );
    expect(gaussianSums(path, 'direct').reaches.map((r) => [r.records, r.nodes])).toEqual([[3, 2]]);
    expect(gaussianSums(path, 'any').reaches.map((r) => r.records)).toEqual([50]);
  });
});

describe('Gaussian noise on sums with unequal costs of records', () => {
  /** Two-valued records that change the sum by 0 to 3; the largest cost share is 1. */
  const weighted = models.chain(({ model }) =>
    fc
      .array(fc.nat(3), { minLength: size, maxLength: size })
      .filter((list) => list.some((u) => u > 0))
      .map((list) => ({ model, weights: Uint8Array.from(list) })),
  );
  const worstOf = (model: Model, weights: Uint8Array, parts: ArrayLike<number>, delta: string): number => {
    const joint = enumerate(model);
    const rho = gaussianSums(graphsOf(model)[0]!, 'any', parts).largestRho(one, parseRational(delta));
    if (rho.num === 0n) return 0;
    let worst = 0;
    for (let known = 0; known < 1 << size; known++)
      for (let i = 0; i < size; i++)
        if (!(known & (1 << (size - 1 - i))))
          worst = Math.max(
            worst,
            gaussianDelta(sumDistributions(joint, weights, i, known), Math.max(...weights) * deviation(rho), 1),
          );
    return worst;
  };
  const partsOf = (weights: Uint8Array) => Float64Array.from(weights, (w) => w / Math.max(...weights));

  it('delta is kept for every record and every known set when records spend different costs', () => {
    fc.assert(
      fc.property(weighted, ({ model, weights }) => {
        expect(worstOf(model, weights, partsOf(weights), '1e-4')).toBeLessThanOrEqual(1e-4);
      }),
      { numRuns: 60 },
    );
  });

  it('the attack breaks a bound that uses the mean of the costs', () => {
    const model: Model = {
      ids: ['a', 'b', 'c', 'd'],
      values: Array.from({ length: size }, () => [0, 1]),
      factors: [1, 2, 3].map((k) => ({ records: [0, k], table: Float64Array.of(11, 10, 10, 11) })),
    };
    const weights = Uint8Array.of(3, 1, 1, 1);
    expect(worstOf(model, weights, partsOf(weights), '1e-4')).toBeLessThanOrEqual(1e-4);
    expect(worstOf(model, weights, new Float64Array(size).fill(0.5), '1e-4')).toBeGreaterThan(1e-4);
  });

  it('the bound for one step of a chain is that of independent records, and grows with the number of released steps', () => {
    const path = fromPairs(
      50,
      Uint32Array.from({ length: 49 }, (_, k) => k),
      Uint32Array.from({ length: 49 }, (_, k) => k + 1),
      2,
    );
    const capacityOf = (...steps: number[]) =>
      toNumber(
        gaussianSums(
          path,
          'any',
          Float64Array.from({ length: 50 }, (_, t) => (steps.includes(t) ? 1 : 0)),
        ).largestRho(one, million),
      );
    const strangers = toNumber(gaussianSums(untied(1), 'any').largestRho(one, million));
    expect(capacityOf(20)).toBeGreaterThan(0.9 * strangers);
    expect(capacityOf(20, 30)).toBeLessThan(capacityOf(20));
    expect(capacityOf(20, 30)).toBeGreaterThan(capacityOf(20, 21));
    expect(capacityOf(20, 21)).toBeGreaterThan(toNumber(gaussianSums(path, 'any').largestRho(one, million)));
  });
});
