import { type Rational, toNumber } from '../../../base/exact/rational.js';
import type { Bits } from '../../../privacy/noise/bits.js';
import { distanceNoise, type GridNoise, hullNoise } from './grid-noise.js';
import { hullShape, locationSet, type Point, sensitivityHull } from './hull.js';

/** One moment: the belief about the location, the cells that are protected from one another, and the noise that protects them. */
export interface LocationMoment {
  readonly cells: readonly Point[];
  readonly belief: readonly number[];
  /** Positions of the protected cells: the fewest that hold 1 - delta of the belief. */
  readonly protected: readonly number[];
  readonly hull: readonly Point[];
  readonly area: number;
  /** Of a uniform point in the hull. */
  readonly covariance: readonly (readonly number[])[];
  readonly noise: GridNoise;
  /** Geo-indistinguishability with the same largest epsilon between two protected cells, for comparison. */
  readonly comparator: GridNoise;
}

export function locationMoment(
  cells: readonly Point[],
  belief: readonly number[],
  delta: number,
  epsilon: Rational,
): LocationMoment {
  const chosen = locationSet(belief, delta);
  const points = chosen.map((cell) => cells[cell]!);
  const hull = sensitivityHull(points);
  const diameter = Math.max(1, ...hull.map(([x, y]) => Math.ceil(Math.hypot(x, y) * 1000) / 1000));
  const each: Rational = { num: epsilon.num * 1000n, den: epsilon.den * BigInt(Math.round(diameter * 1000)) };
  return {
    cells,
    belief,
    protected: chosen,
    hull,
    ...hullShape(hull),
    noise: hullNoise(hull, epsilon),
    comparator: distanceNoise(each),
  };
}

/** Surrogate of a cell: itself if protected, otherwise the nearest protected cell; of equally near ones the first. */
export function surrogateOf({ cells, protected: chosen }: LocationMoment, cell: number): number {
  const square = (a: number) => (cells[a]![0] - cells[cell]![0]) ** 2 + (cells[a]![1] - cells[cell]![1]) ** 2;
  return chosen.reduce((best, next) => (square(next) < square(best) ? next : best));
}

export function releaseAt(moment: LocationMoment, cell: number, bits?: Bits): Point {
  const [x, y] = moment.cells[surrogateOf(moment, cell)]!;
  const [dx, dy] = moment.noise.draw(bits);
  return [x + dx, y + dy];
}

/** Bayes' rule; a cell outside the set is released as its surrogate. */
export function updatedBelief(moment: LocationMoment, [zx, zy]: Point): readonly number[] {
  const { cells, belief, noise } = moment;
  const epsilon = toNumber(noise.epsilon);
  const logs = cells.map((_, cell) => {
    const [x, y] = cells[surrogateOf(moment, cell)]!;
    const size = noise.sizeOf([zx - x, zy - y]);
    return size === undefined ? Number.NEGATIVE_INFINITY : -epsilon * toNumber(size);
  });
  const most = Math.max(...logs);
  const weights = belief.map((p, cell) => p * Math.exp(logs[cell]! - most));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / sum);
}

/** Two cells, and the largest log odds a release gives between them; Infinity if noise of the hull never leads from one to the other. */
export interface ProtectedPair {
  readonly cells: readonly [a: number, b: number];
  readonly epsilon: number;
}

/**
 * Policy graph of one release: edges between protected cells, with epsilon times their distance in the hull's norm
 * (at most epsilon). A cell outside the set is released as its surrogate, so it cannot be distinguished from it.
 */
export function policyGraph({ cells, protected: chosen, noise }: LocationMoment): readonly ProtectedPair[] {
  const epsilon = toNumber(noise.epsilon);
  return chosen.flatMap((a, k) =>
    chosen.slice(k + 1).map((b) => {
      const size = noise.sizeOf([cells[a]![0] - cells[b]![0], cells[a]![1] - cells[b]![1]]);
      return { cells: [a, b] as const, epsilon: size === undefined ? Number.POSITIVE_INFINITY : epsilon * toNumber(size) };
    }),
  );
}
