import { nearestCounts } from '../../../query/nearest-counts.js';
import type { Points } from './points.js';
import type { WeightedPoints } from './weighted-lloyd.js';

/**
 * Clusters from a tree of noisy counts: nested grids, reconciled across levels, then weighted k-means on the finest cells. The finest
 * cells alone are too noisy, coarse ones too blurred.
 */
export interface CountTree {
  readonly dimensions: number;
  /** Cells per dimension, coarsest level first; each number divides the next. */
  readonly sides: readonly number[];
}

const maxTreeCells = 2 ** 16;
/**
 * Grid sides: the finest level has about one cell per person that noise lets through; n and the noise are public. Every second
 * halving is left out, since levels that differ little share the budget for little gain.
 */
export function treeSides(rows: number, epsilon: number, dimensions: number): number[] {
  const halvings = Math.max(
    1,
    Math.min(
      Math.floor(Math.log2(maxTreeCells) / dimensions),
      Math.round(Math.log2(Math.max(2, rows * epsilon)) / Math.max(2, dimensions)),
    ),
  );
  const sides = [2 ** halvings];
  for (let h = halvings - 2; h >= 2; h -= 2) sides.unshift(2 ** h);
  return sides;
}

/** Exact counts of every level, coarsest first; cells are mixed-radix in the order of the dimensions. */
export function countTree(points: Points, last: readonly number[], tree: CountTree): number[][] {
  const { dimensions: d, sides } = tree;
  const side = sides.at(-1)!;
  const finest = new Array<number>(side ** d).fill(0);
  for (let i = 0; i < points.count; i++) {
    let index = 0;
    for (let c = 0; c < d; c++) {
      // Position p = (v + last) / 2 in 0..last lies in cell floor(p side / (last + 1)): whole numbers throughout.
      const p = (points.coordinates[i * d + c]! + last[c]!) / 2;
      index = index * side + Math.floor((p * side) / (last[c]! + 1));
    }
    finest[index]!++;
  }
  return sumUpwards(finest, tree);
}

/** The sums of every level, coarsest first, from the finest cells. */
export function sumUpwards(finest: number[], { dimensions: d, sides }: CountTree): number[][] {
  const counts = [finest];
  for (let l = sides.length - 1; l > 0; l--) {
    const finer = counts[0]!;
    const coarse = new Array<number>(sides[l - 1]! ** d).fill(0);
    for (let i = 0; i < finer.length; i++) coarse[parentOf(i, sides[l]!, sides[l - 1]!, d)]! += finer[i]!;
    counts.unshift(coarse);
  }
  return counts;
}

/** The cell of the coarser grid that holds a cell of the finer one. */
function parentOf(index: number, side: number, coarser: number, d: number): number {
  const ratio = side / coarser;
  let rest = index;
  let parent = 0;
  let place = 1;
  for (let c = 0; c < d; c++) {
    parent += place * Math.floor((rest % side) / ratio);
    place *= coarser;
    rest = Math.floor(rest / side);
  }
  return parent;
}

/**
 * The finest cells after reconciling: best averages of a cell and its children upwards, non-negative parts of the parent downwards;
 * the total is `rows` if public.
 */
export function reconcileCounts(
  noisy: readonly (readonly number[])[],
  variances: readonly number[],
  { dimensions: d, sides }: CountTree,
  rows?: number,
): number[] {
  const best = noisy.map((level) => [...level]);
  const spread = [...variances];
  for (let l = sides.length - 1; l >= 1; l--) {
    const below = new Array<number>(best[l - 1]!.length).fill(0);
    best[l]!.forEach((x, i) => {
      below[parentOf(i, sides[l]!, sides[l - 1]!, d)]! += x;
    });
    const own = spread[l - 1]!;
    const children = (sides[l]! / sides[l - 1]!) ** d * spread[l]!;
    best[l - 1] = best[l - 1]!.map((x, i) => (x * children + below[i]! * own) / (own + children));
    spread[l - 1] = (own * children) / (own + children);
  }
  let parents = [
    rows ??
      Math.max(
        1,
        best[0]!.reduce((a, b) => a + b, 0),
      ),
  ];
  best.forEach((estimates, l) => {
    const members = parents.map(() => [] as number[]);
    estimates.forEach((_, i) => {
      members[parentOf(i, sides[l]!, sides[l - 1] ?? 1, d)]!.push(i);
    });
    const level = new Array<number>(estimates.length).fill(0);
    members.forEach((cells, p) => {
      const parts = nearestCounts(
        cells.map((i) => estimates[i]!),
        parents[p]!,
      );
      cells.forEach((i, k) => {
        level[i] = parts[k]!;
      });
    });
    parents = level;
  });
  return parents;
}

/** The finest cells as weighted points, each at its middle by default. */
export function cellCloud(cells: readonly number[], { dimensions: d, sides }: CountTree, place = middleOf): WeightedPoints {
  const side = sides.at(-1)!;
  const kept = cells.flatMap((n, i) => (n > 0 ? [i] : []));
  // If noise left no positive count, all cells are used.
  const used = kept.length > 0 ? kept : cells.map((_, i) => i);
  const points = new Float64Array(used.length * d);
  used.forEach((index, k) => {
    let rest = index;
    for (let c = d - 1; c >= 0; c--) {
      points[k * d + c] = place(rest % side, side);
      rest = Math.floor(rest / side);
    }
  });
  return { dimensions: d, points, weights: Float64Array.from(used, (i) => (kept.length > 0 ? cells[i]! : 1)) };
}

const middleOf = (cell: number, side: number): number => (2 * cell + 1) / side - 1;
