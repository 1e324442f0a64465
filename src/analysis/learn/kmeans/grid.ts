import { rational, toNumber } from '../../../base/exact/rational.js';
import { additiveMechanism } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import type { ClassScope, RecordSensitivity } from '../../../privacy/mechanism/sensitivity.js';
import { nearestCounts } from '../../../query/nearest-counts.js';
import { tableSensitivity } from '../record-sensitivity.js';
import { lastPositions, type Points } from './points.js';
import { type KmeansSetting, type KmeansVariant, leastBy } from './variant.js';
import { clusterWeighted, type WeightedPoints } from './weighted-lloyd.js';

/** Nested grids. The finest cells alone are too noisy, coarse ones too blurred. */
export interface NestedGrids {
  readonly dimensions: number;
  /** Cells per dimension, coarsest level first; each number divides the next. */
  readonly sides: readonly number[];
}

/** What is counted on nested grids, and the noise it takes. */
export interface NestedCounts extends Pick<KmeansVariant, 'name' | 'why'> {
  readonly grids: NestedGrids;
  /** Name of the counts of one level. */
  readonly counted: string;
  readonly sensitivity: RecordSensitivity;
  /** Record classes that the noise is fitted to; all when absent. */
  readonly scope?: ClassScope;
  /** Exact counts in the finest grid; a row adds `mass` in all. */
  readonly count: (points: Points) => number[];
  readonly mass: number;
  /** Position of a cell as a point, its middle by default. */
  readonly place?: (cell: number, side: number) => number;
  /** Public number of rows. */
  readonly rows?: number | undefined;
}

/** Noisy counts on nested grids, reconciled and then clustered; the levels share the budget evenly (kmeans.proof.md). */
export function nestedVariant(clusters: number, within: readonly BudgetShare[], nested: NestedCounts): KmeansVariant {
  const { name, why, grids, counted, sensitivity, scope, count, mass, place, rows } = nested;
  const { dimensions, sides } = grids;
  const levelsFor = (budgetShare: BudgetShare) =>
    sides.map((side, l) =>
      additiveMechanism(
        { name: `${counted}, level ${l + 1}`, cells: side ** dimensions, sensitivity },
        splitShare(budgetShare, rational(1, sides.length)),
        scope,
      ),
    );
  const levels = leastBy(within.map(levelsFor), (own) => own.at(-1)!.variance);
  return {
    name,
    why,
    mechanisms: levels,
    prepare: (payment) => {
      const add = levels.map((level) => level.prepare(payment));
      return (points) => {
        const noisy = sumUpwards(count(points), grids).map((counts, l) =>
          add[l]!(counts.map(BigInt)).map((x) => Number(x) / mass),
        );
        const variances = levels.map(({ variance }) => variance / mass ** 2);
        return { centres: clusterWeighted(cellCloud(reconcileCounts(noisy, variances, grids, rows), grids, place), clusters) };
      };
    },
  };
}

/** Counts in cells: each row is in one cell per level. */
export function gridVariant(setting: KmeansSetting, within: readonly BudgetShare[]): KmeansVariant {
  const { box, clusters, records, rowsPerRecord, leftOut } = setting;
  const last = lastPositions(box);
  const grids = { dimensions: last.length, sides: gridSides(records, epsilonOf(within) / rowsPerRecord, last.length) };
  return nestedVariant(clusters, within, {
    name: 'grid',
    why: `Noisy counts over grids of ${grids.sides.join(', ')} cells a side, reconciled and clustered as often as wanted for free: best in up to three dimensions.`,
    grids,
    counted: 'rows per cell',
    sensitivity: tableSensitivity(rowsPerRecord),
    count: (points) => cellCounts(points, last, grids.sides.at(-1)!),
    mass: 1,
    rows: rowsPerRecord === 1 && !leftOut ? records : undefined,
  });
}

/** Approximate epsilon of the largest budget share, for choosing how fine a grid is. */
export const epsilonOf = (within: readonly BudgetShare[]): number =>
  Math.max(...within.map(({ noise, amount }) => (noise === 'pure' ? toNumber(amount) : Math.sqrt(2 * toNumber(amount)))));

export const maxGridCells = 2 ** 16;
/** The finest level has about one cell per person that noise lets through; n and the noise are public. */
export function gridSides(records: number, epsilon: number, dimensions: number): readonly number[] {
  const halvings = Math.max(
    1,
    Math.min(
      Math.floor(Math.log2(maxGridCells) / dimensions),
      Math.round(Math.log2(Math.max(2, records * epsilon)) / Math.max(2, dimensions)),
    ),
  );
  return nestedSides(halvings);
}

/** Every second halving is left out, since levels that differ little share the budget for little gain. */
export function nestedSides(halvings: number): readonly number[] {
  const sides = [2 ** halvings];
  for (let h = halvings - 2; h >= 2; h -= 2) sides.unshift(2 ** h);
  return sides;
}

/** Exact counts of the cells, mixed-radix in the order of the dimensions. */
export function cellCounts(points: Points, last: readonly number[], side: number): number[] {
  const { dimensions: d, count, coordinates } = points;
  const cells = new Array<number>(side ** d).fill(0);
  for (let i = 0; i < count; i++) {
    let index = 0;
    for (let c = 0; c < d; c++) {
      // Position p = (v + last) / 2 in 0..last lies in cell floor(p side / (last + 1)): whole numbers throughout.
      const p = (coordinates[i * d + c]! + last[c]!) / 2;
      index = index * side + Math.floor((p * side) / (last[c]! + 1));
    }
    cells[index]!++;
  }
  return cells;
}

/** The sums of every level, coarsest first, from the finest cells. */
export function sumUpwards(finest: number[], grids: NestedGrids): number[][] {
  const counts = [finest];
  for (let l = grids.sides.length - 1; l > 0; l--) counts.unshift(parentSums(counts[0]!, l, grids));
  return counts;
}

function parentSums(cells: readonly number[], level: number, { dimensions, sides }: NestedGrids): number[] {
  const [side, coarser] = [sides[level]!, sides[level - 1]!];
  const sums = new Array<number>(coarser ** dimensions).fill(0);
  for (let i = 0; i < cells.length; i++) sums[parentOf(i, side, coarser, dimensions)]! += cells[i]!;
  return sums;
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
  grids: NestedGrids,
  rows?: number,
): number[] {
  const { dimensions: d, sides } = grids;
  const best = noisy.map((level) => [...level]);
  const spread = [...variances];
  for (let l = sides.length - 1; l >= 1; l--) {
    const below = parentSums(best[l]!, l, grids);
    const own = spread[l - 1]!;
    const children = (sides[l]! / sides[l - 1]!) ** d * spread[l]!;
    best[l - 1] = best[l - 1]!.map((x, i) => (x * children + below[i]! * own) / (own + children));
    spread[l - 1] = (own * children) / (own + children);
  }
  const found = best[0]!.reduce((a, b) => a + b, 0);
  let parents = [rows ?? Math.max(1, found)];
  for (const [l, estimates] of best.entries()) {
    const members = parents.map((): number[] => []);
    for (const i of estimates.keys()) members[parentOf(i, sides[l]!, sides[l - 1] ?? 1, d)]!.push(i);
    const level = new Array<number>(estimates.length).fill(0);
    for (const [p, cells] of members.entries()) {
      const own = cells.map((i) => estimates[i]!);
      for (const [k, part] of nearestCounts(own, parents[p]!).entries()) level[cells[k]!] = part;
    }
    parents = level;
  }
  return parents;
}

/** The finest cells as weighted points; if noise left no positive count, all cells are used. */
export function cellCloud(
  cells: readonly number[],
  { dimensions: d, sides }: NestedGrids,
  place = (cell: number, side: number): number => (2 * cell + 1) / side - 1,
): WeightedPoints {
  const side = sides.at(-1)!;
  const kept = cells.flatMap((n, i) => (n > 0 ? [i] : []));
  const used = kept.length > 0 ? kept : [...cells.keys()];
  const points = new Float64Array(used.length * d);
  for (const [k, index] of used.entries()) {
    let rest = index;
    for (let c = d - 1; c >= 0; c--) {
      points[k * d + c] = place(rest % side, side);
      rest = Math.floor(rest / side);
    }
  }
  return { dimensions: d, points, weights: Float64Array.from(used, (i) => (kept.length > 0 ? cells[i]! : 1)) };
}
