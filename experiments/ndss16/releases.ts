import { lloydSplit } from '../../src/analysis/learn/kmeans/split.js';
import { logUp } from '../../src/base/exact/outward.js';
import { divide, multiply, parseRational, type Rational, rational, toNumber } from '../../src/base/exact/rational.js';
import type { Population } from '../../src/evaluate/attack/inference/patterns.js';
import type { CentroidsTarget, Round, TotalsTarget } from '../../src/evaluate/attack/inference/target.js';
import { perturb } from '../../src/evaluate/papers/dependent-tuples/perturbed-centroids.js';
import { type FactorGraph, fromPairs } from '../../src/privacy/dependence/graph/factor-graph.js';
import { largestBase } from '../../src/privacy/dependence/largest-base.js';
import { roundUp } from '../../src/privacy/mechanism/distribution.js';
import { laplaceSampler } from '../../src/privacy/noise/discrete-laplace.js';
import { nearestCentre, publicStart, type Vectors } from './cluster.js';

/** Friendships as ties of one odds ratio. */
export function friendGraph({ people, friendStart, friends }: Population, oddsRatio: number): FactorGraph {
  const [left, right]: [number[], number[]] = [[], []];
  for (let i = 0; i < people; i++)
    for (let f = friendStart[i]!; f < friendStart[i + 1]!; f++)
      if (friends[f]! > i) {
        left.push(i);
        right.push(friends[f]!);
      }
  return fromPairs(people, Uint32Array.from(left), Uint32Array.from(right), logUp(oddsRatio));
}

/**
 * Base epsilon that guarantees `epsilon` for the worst person, ties of direct reach included (uninformed attackers;
 * see the calculus).
 */
export const certifiedBase = (graph: FactorGraph, epsilon: string): Rational =>
  largestBase(graph, parseRational(epsilon), 'uninformed', { reach: 'direct' });

/** Nearest centre to the middle of each cell, in the two coordinates of one rank. */
function partOfCells({ space }: Population, centres: Float64Array, width: number, rank: number): Uint16Array {
  const clusters = centres.length / width;
  const flat = Float64Array.from({ length: 2 * clusters }, (_, k) => centres[(k >> 1) * width + 2 * rank + (k & 1)]!);
  const cells: Vectors = {
    count: space.cells,
    width: 2,
    at: Float64Array.from({ length: 2 * space.cells }, (_, k) => (k & 1 ? space.y[k >> 1]! : space.x[k >> 1]!)),
  };
  return Uint16Array.from({ length: space.cells }, (_, c) => nearestCentre(cells, c, flat));
}

/** The paper's release: exact clustering, noisy centres. */
export function centroidsTarget(
  name: string,
  population: Population,
  clustering: { readonly centres: Float64Array; readonly part: Uint16Array },
  scale: number,
): CentroidsTarget {
  const width = 2 * population.ranks;
  const clusters = clustering.centres.length / width;
  const published = perturb(clustering.centres, scale);
  const slice = (rank: number) =>
    Float64Array.from({ length: 2 * clusters }, (_, k) => published[(k >> 1) * width + 2 * rank + (k & 1)]!);
  return {
    kind: 'centroids',
    name,
    ranks: Array.from({ length: population.ranks }, (_, l) => l),
    parts: clusters,
    partOfPerson: clustering.part,
    scale,
    partOfCell: (rank) => partOfCells(population, clustering.centres, width, rank),
    means: slice,
  };
}

/** Coordinates are released in steps of the box over 2 x this. */
const fineness = 2 ** 15;

/**
 * DPLloyd with everything that it publishes: the attacker sees every round's noisy counts and sums,
 * not only the last centres.
 */
export function lloydTarget(
  name: string,
  population: Population,
  points: Vectors,
  clusters: number,
  iterations: number,
  base: Rational,
) {
  const { count, width, at } = points;
  const split = lloydSplit(width, iterations);
  // Replacing a record changes two counts by one and every coordinate sum by at most the whole width (centred values in
  // [-fineness, fineness]).
  const countScale = roundUp(divide(rational(2), multiply(base, split.count)));
  const sumScale = roundUp(divide(rational(2 * fineness), multiply(base, split.dimension)));
  const drawCount = laplaceSampler(countScale);
  const drawSum = laplaceSampler(sumScale);
  const whole = Int32Array.from(at, (u) => Math.round((2 * u - 1) * fineness));
  let centres = publicStart(clusters, width);
  const rounds: { part: Uint16Array; centres: Float64Array; counts: Float64Array; sums: Float64Array }[] = [];
  for (let t = 0; t < iterations; t++) {
    const part = Uint16Array.from({ length: count }, (_, i) => nearestCentre(points, i, centres));
    const counts = new Float64Array(clusters);
    const sums = new Float64Array(clusters * width);
    for (let i = 0; i < count; i++) {
      counts[part[i]!]!++;
      for (let d = 0; d < width; d++) sums[part[i]! * width + d]! += whole[i * width + d]!;
    }
    for (let k = 0; k < clusters; k++) counts[k]! += Number(drawCount());
    for (let d = 0; d < sums.length; d++) sums[d]! += Number(drawSum());
    rounds.push({ part, centres, counts, sums });
    centres = Float64Array.from(sums, (s, d) => {
      const mean = s / fineness / Math.max(1, counts[Math.floor(d / width)]!);
      return (Math.min(1, Math.max(-1, mean)) + 1) / 2;
    });
  }
  const target: TotalsTarget = {
    kind: 'totals',
    name,
    ranks: Array.from({ length: width / 2 }, (_, l) => l),
    rounds: (rank): Round[] =>
      rounds.map((r) => ({
        parts: clusters,
        partOfCell: partOfCells(population, r.centres, width, rank),
        partOfPerson: r.part,
        counts: r.counts,
        countScale: toNumber(countScale),
        sums: Float64Array.from({ length: 2 * clusters }, (_, k) => r.sums[(k >> 1) * width + 2 * rank + (k & 1)]! / fineness),
        sumScale: toNumber(sumScale) / fineness,
      })),
  };
  return { target, centres };
}

/** One noisy histogram of top places over a public grid: what the certified 2-d clustering is made of. */
export function cellsTarget(name: string, population: Population, base: Rational, side: number): TotalsTarget {
  const { space, people, ranks, vector } = population;
  const scale = roundUp(divide(rational(2), base));
  const draw = laplaceSampler(scale);
  const part = (x: number, y: number) =>
    Math.min(side - 1, Math.floor(x * side)) * side + Math.min(side - 1, Math.floor(y * side));
  const partOfPerson = Uint16Array.from({ length: people }, (_, i) => part(vector[2 * i * ranks]!, vector[2 * i * ranks + 1]!));
  const counts = new Float64Array(side * side);
  for (const p of partOfPerson) counts[p]!++;
  for (let p = 0; p < counts.length; p++) counts[p]! += Number(draw());
  const partOfCell = Uint16Array.from({ length: space.cells }, (_, c) => part(space.x[c]!, space.y[c]!));
  const round: Round = { parts: side * side, partOfCell, partOfPerson, counts, countScale: toNumber(scale) };
  return { kind: 'totals', name, ranks: [0], rounds: () => [round] };
}
