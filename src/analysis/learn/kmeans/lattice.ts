import { everyRecord, paired, pairsClass, type RecordClass } from '../../../privacy/mechanism/record-class.js';
import type { RecordSensitivity, Sensitivity } from '../../../privacy/mechanism/sensitivity.js';
import type { Points } from './points.js';
import type { PairDistances } from './variant.js';

/**
 * Lattice of `side` nodes per dimension on which every row spreads a fixed mass by multilinear weights. A small step of a row moves
 * little mass, where in a grid it may move all of it (kmeans.proof.md, "Soft grid").
 */
export interface Lattice {
  readonly dimensions: number;
  readonly side: number;
  /** Steps from one node to the next; the mass of a row is this to the power of the dimensions. */
  readonly steps: number;
}

export const massOf = ({ dimensions, steps }: Lattice): number => steps ** dimensions;

/** Floor of the quotient of whole numbers below 2^53: a quotient of doubles may be rounded up to the next whole number. */
function wholeQuotient(product: number, by: number): number {
  const found = Math.floor(product / by);
  return found * by > product ? found - 1 : found;
}
/** True if all products below are exact whole numbers in doubles. */
export const fitsDoubles = ({ side, steps }: Lattice, last: readonly number[], rows: number): boolean =>
  last.every((most) => most * (side - 1) * steps < 2 ** 53) && rows * steps ** last.length < 2 ** 53;

/** The step of a position 0 .. last between the first node and the last; non-decreasing. */
const stepAt = ({ side, steps }: Lattice, last: number, position: number): number =>
  wholeQuotient(position * (side - 1) * steps, last);

/** Most steps between two positions at this distance. */
function stepDistance({ side, steps }: Lattice, last: number, distance: number): number {
  const product = distance * (side - 1) * steps;
  const whole = wholeQuotient(product, last);
  return whole * last === product ? whole : whole + 1;
}

/** The mass at every node, in the order of the cells of a grid. */
export function softCounts(points: Points, last: readonly number[], lattice: Lattice): number[] {
  const { dimensions: d, side, steps } = lattice;
  const masses = new Array<number>(side ** d).fill(0);
  const node = new Int32Array(d);
  const behind = new Int32Array(d);
  for (let i = 0; i < points.count; i++) {
    for (let c = 0; c < d; c++) {
      const at = stepAt(lattice, last[c]!, (points.coordinates[i * d + c]! + last[c]!) / 2);
      node[c] = Math.floor(at / steps);
      behind[c] = at % steps;
    }
    for (let corner = 0; corner < 1 << d; corner++) {
      let [index, mass] = [0, 1];
      for (let c = 0; c < d; c++) {
        const next = (corner >> c) & 1;
        mass *= next ? behind[c]! : steps - behind[c]!;
        index = index * side + node[c]! + next;
      }
      if (mass > 0) masses[index]! += mass;
    }
  }
  return masses;
}

/** Sensitivity of the masses and of sums of nodes, to replacing a row by any other and along a pair. */
export function softSensitivity(
  lattice: Lattice,
  last: readonly number[],
  { digest, largest, withMissing }: PairDistances,
): RecordSensitivity {
  const mass = massOf(lattice);
  const full = between(2 * mass);
  const parts = largest.map((distance, c) => Math.min(lattice.steps, stepDistance(lattice, last[c]!, distance)));
  const moved = 2 * parts.reduce((sum, far) => sum + far * (mass / lattice.steps), 0);
  const own = between(Math.min(2 * mass, moved));
  const away = BigInt(mass);
  const byPair: Sensitivity = withMissing ? { l1: larger(own.l1, away), l2squared: larger(own.l2squared, away ** 2n) } : own;
  return new Map<RecordClass, Sensitivity>([
    [everyRecord, full],
    [paired(digest), full],
    [pairsClass(digest), byPair],
  ]);
}

/** Mass is conserved: no number changes by more than half of the total change. */
const between = (l1: number): Sensitivity => ({ l1: BigInt(l1), l2squared: BigInt(l1) ** 2n / 2n });
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
