import { canTransport, lesser } from './transport.js';

/** A distribution on points with exact weights (up to a common multiplier). */
export interface PointDistribution {
  readonly points: readonly (readonly number[])[];
  readonly weights: readonly bigint[];
}

export function pointDistribution(entries: Iterable<readonly [point: readonly number[], weight: bigint]>): PointDistribution {
  const merged = new Map<string, { point: readonly number[]; weight: bigint }>();
  for (const [point, weight] of entries) {
    if (weight === 0n) continue;
    const key = point.join();
    merged.set(key, { point, weight: weight + (merged.get(key)?.weight ?? 0n) });
  }
  const all = [...merged.values()].sort((a, b) => (a.point[0] ?? 0) - (b.point[0] ?? 0));
  return { points: all.map((e) => e.point), weights: all.map((e) => e.weight) };
}

const sum = (weights: readonly bigint[]) => weights.reduce((total, w) => total + w, 0n);
const distanceL1 = (x: readonly number[], y: readonly number[]) => x.reduce((d, v, k) => d + Math.abs(v - y[k]!), 0);

/**
 * The least r such that mass can be moved from one distribution to the other over distances (L1) of at most
 * r. Weights are exact: rounding a cumulative sum near one would add or hide mass, and change the distance.
 */
export function infinityDistance(from: PointDistribution, to: PointDistribution): number {
  const [left, right] = [sum(from.weights), sum(to.weights)];
  const supply = from.weights.map((w) => w * right);
  const demand = to.weights.map((w) => w * left);
  return (from.points[0]?.length ?? 1) === 1 ? onTheLine(from, to, supply, demand) : inSpace(from, to, supply, demand);
}

/** One dimension: the monotone coupling, which matches sorted points from the left, is optimal. */
function onTheLine(from: PointDistribution, to: PointDistribution, supply: bigint[], demand: bigint[]): number {
  let furthest = 0;
  for (let s = 0, d = 0; s < supply.length && d < demand.length; ) {
    const moved = lesser(supply[s]!, demand[d]!);
    furthest = Math.max(furthest, Math.abs(from.points[s]![0]! - to.points[d]![0]!));
    supply[s]! -= moved;
    demand[d]! -= moved;
    if (supply[s] === 0n) s++;
    if (demand[d] === 0n) d++;
  }
  return furthest;
}

/** More dimensions: the answer is one of the pairwise distances; search them with a transport test. */
function inSpace(from: PointDistribution, to: PointDistribution, supply: bigint[], demand: bigint[]): number {
  const between = from.points.map((x) => to.points.map((y) => distanceL1(x, y)));
  const radii = [...new Set(between.flat())].sort((a, b) => a - b);
  let low = 0;
  let high = radii.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (canTransport(supply, demand, (s, d) => between[s]![d]! <= radii[middle]!)) high = middle;
    else low = middle + 1;
  }
  return radii[high] ?? 0;
}
