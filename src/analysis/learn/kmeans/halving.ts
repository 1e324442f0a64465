import { nearestCounts } from '../../../query/nearest-counts.js';
import type { Points } from './points.js';
import type { WeightedPoints } from './weighted-lloyd.js';

/** Public order of halving boxes: one coordinate after the other, each at its middle, none below one step of its grid. */
export interface HalvingOrder {
  readonly last: readonly number[];
  /** Coordinate that the n-th halving cuts, and the number of earlier cuts of it. */
  readonly coordinate: readonly number[];
  readonly depth: readonly number[];
}

const deepest = 20;
export function halvingOrder(last: readonly number[]): HalvingOrder {
  const cuts = Array.from({ length: deepest }, (_, depth) =>
    last.flatMap((l, c) => (l + 1 > 2 ** depth ? [[c, depth] as const] : [])),
  ).flat();
  return { last, coordinate: cuts.map(([c]) => c), depth: cuts.map(([, depth]) => depth) };
}

/** A box reached by some halvings, with its estimated number of rows. */
export interface CountedBox {
  readonly halvings: number;
  /** For each coordinate: index of one of its 2^depth equal parts, and the depth. */
  readonly part: readonly number[];
  readonly depth: readonly number[];
  readonly mass: number;
}

/** One level: noisy counts of at most `cells` boxes that share no row. */
export interface HalvingLevel {
  readonly cells: number;
  /** A box is cut into as many parts as it has multiples of this many rows: smaller parts are mostly noise. */
  readonly partSize: number;
  readonly spread: number;
  readonly noise: (cells: number) => (exact: readonly bigint[]) => bigint[];
}

/** A box to be cut so often; its parts are numbered from `first` on. */
interface CutBox {
  readonly box: CountedBox;
  readonly cuts: number;
  readonly first: number;
}

/**
 * Adaptive boxes: every level splits the boxes that earlier noisy counts found heavy, and counts their parts with noise. Decisions
 * depend on noisy numbers only; a row is in one part at most.
 */
export function growBoxes(points: Points, order: HalvingOrder, levels: readonly HalvingLevel[], rows: number): CountedBox[] {
  const none = order.last.map(() => 0);
  let open: CountedBox[] = [{ halvings: 0, part: none, depth: none, mass: rows }];
  let at = new Int32Array(points.count);
  const settled: CountedBox[] = [];
  for (const [l, level] of levels.entries()) {
    let cells = 0;
    const cut = open.map((box): CutBox => {
      const cuts = cutsFor(box.mass, level.partSize, order.coordinate.length - box.halvings);
      const first = cells;
      if (cuts > 0) cells += 2 ** cuts;
      else settled.push(box);
      return { box, cuts, first };
    });
    if (cells > level.cells) throw new RangeError('more boxes than were foreseen');
    const { counts, part } = countParts(points, order, cut, { cells, at });
    const noisy = level.noise(cells)(counts).map(Number);
    open = [];
    const place = new Int32Array(cells).fill(-1);
    for (const { box, cuts, first } of cut) {
      if (cuts === 0) continue;
      const estimates = noisy.slice(first, first + 2 ** cuts);
      const total = l === 0 ? totalRows(estimates, rows, level.spread) : box.mass;
      for (const [index, mass] of nearestCounts(estimates, total).entries())
        if (mass > 0) place[first + index] = open.push(partOf(box, order, { cuts, index, mass })) - 1;
    }
    at = part.map((cell) => (cell < 0 ? -1 : place[cell]!));
  }
  return [...settled, ...open];
}

const cutsFor = (mass: number, partSize: number, left: number): number =>
  Math.max(0, Math.min(left, 20, Math.floor(Math.log2(mass / partSize))));

/** The public number of rows, unless the counts prove that some are left out. */
function totalRows(estimates: readonly number[], rows: number, spread: number): number {
  const found = estimates.reduce((a, b) => a + b, 0);
  return found < rows - 4 * spread * Math.sqrt(estimates.length) ? Math.max(1, found) : rows;
}

/** Exact counts of the parts of every box, and the part of each row (-1: none); rows are `at` these boxes. */
function countParts(
  { dimensions: d, count, coordinates }: Points,
  { last, coordinate, depth }: HalvingOrder,
  boxes: readonly CutBox[],
  { cells, at }: { readonly cells: number; readonly at: Int32Array },
): { counts: bigint[]; part: Int32Array } {
  const counts = new Float64Array(cells);
  const part = new Int32Array(count).fill(-1);
  for (let i = 0; i < count; i++) {
    if (at[i]! < 0) continue;
    const { box, cuts, first } = boxes[at[i]!]!;
    if (cuts === 0) continue;
    let index = 0;
    for (let n = box.halvings, end = n + cuts; n < end; n++) {
      const c = coordinate[n]!;
      // Position p = (v + last) / 2 in 0..last lies in part floor(p 2^depth / (last + 1)): whole numbers throughout.
      const p = (coordinates[i * d + c]! + last[c]!) / 2;
      index = 2 * index + (Math.floor((p * 2 ** (depth[n]! + 1)) / (last[c]! + 1)) & 1);
    }
    part[i] = first + index;
    counts[first + index]!++;
  }
  return { counts: Array.from(counts, BigInt), part };
}

function partOf(
  box: CountedBox,
  { coordinate }: HalvingOrder,
  { cuts, index, mass }: { readonly cuts: number; readonly index: number; readonly mass: number },
): CountedBox {
  const [part, depth] = [[...box.part], [...box.depth]];
  for (let j = 0; j < cuts; j++) {
    const c = coordinate[box.halvings + j]!;
    part[c] = 2 * part[c]! + ((index >> (cuts - 1 - j)) & 1);
    depth[c]!++;
  }
  return { halvings: box.halvings + cuts, part, depth, mass };
}

/** Boxes as weighted points in units of the half box, with their half widths. */
export function boxCloud(
  boxes: readonly CountedBox[],
  last: readonly number[],
): WeightedPoints & { readonly halves: Float64Array } {
  const d = last.length;
  const points = new Float64Array(boxes.length * d);
  const halves = new Float64Array(boxes.length * d);
  for (const [b, { part, depth }] of boxes.entries())
    for (let c = 0; c < d; c++) {
      const width = (last[c]! + 1) / 2 ** depth[c]!;
      points[b * d + c] = ((2 * part[c]! + 1) * width - 1 - last[c]!) / last[c]!;
      halves[b * d + c] = Math.max(0, width - 1) / last[c]!;
    }
  return { dimensions: d, points, halves, weights: Float64Array.from(boxes, ({ mass }) => mass) };
}
