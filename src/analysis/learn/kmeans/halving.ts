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
  readonly grain: number;
  readonly spread: number;
  readonly noise: (cells: number) => (exact: readonly bigint[]) => bigint[];
}

/**
 * Adaptive boxes: every level splits the boxes that earlier noisy counts found heavy, and counts their parts with noise. Decisions
 * depend on noisy numbers only; a row is in one part at most.
 */
export function growBoxes(points: Points, order: HalvingOrder, levels: readonly HalvingLevel[], rows: number): CountedBox[] {
  const d = order.last.length;
  const whole: CountedBox = { halvings: 0, part: new Array(d).fill(0), depth: new Array(d).fill(0), mass: rows };
  let open: readonly CountedBox[] = [whole];
  let at = new Int32Array(points.count);
  const settled: CountedBox[] = [];
  levels.forEach((level, l) => {
    const cuts = open.map(({ mass, halvings }) => cutsFor(mass, level.grain, order.coordinate.length - halvings));
    const first = new Int32Array(open.length);
    let cells = 0;
    cuts.forEach((cut, b) => {
      first[b] = cells;
      if (cut > 0) cells += 2 ** cut;
      else settled.push(open[b]!);
    });
    if (cells > level.cells) throw new RangeError('more boxes than were foreseen');
    const { counts, part } = countParts(points, order, open, at, cuts, first, cells);
    const noisy = level.noise(cells)(counts).map(Number);
    const kept: CountedBox[] = [];
    const place = new Int32Array(cells).fill(-1);
    open.forEach((box, b) => {
      if (cuts[b] === 0) return;
      const estimates = noisy.slice(first[b], first[b]! + 2 ** cuts[b]!);
      const total = l === 0 ? totalRows(estimates, rows, level.spread) : box.mass;
      nearestCounts(estimates, total).forEach((mass, index) => {
        if (mass <= 0) return;
        place[first[b]! + index] = kept.length;
        kept.push(partOf(box, order, cuts[b]!, index, mass));
      });
    });
    at = part.map((cell) => (cell < 0 ? -1 : place[cell]!));
    open = kept;
  });
  return [...settled, ...open];
}

const cutsFor = (mass: number, grain: number, left: number): number =>
  Math.max(0, Math.min(left, 20, Math.floor(Math.log2(mass / grain))));

/** The public number of rows, unless the counts prove that some are left out. */
function totalRows(estimates: readonly number[], rows: number, spread: number): number {
  const found = estimates.reduce((a, b) => a + b, 0);
  return found < rows - 4 * spread * Math.sqrt(estimates.length) ? Math.max(1, found) : rows;
}

/** Exact counts of the parts of every open box, and the part of each row (-1: none). */
function countParts(
  points: Points,
  { last, coordinate, depth }: HalvingOrder,
  open: readonly CountedBox[],
  at: Int32Array,
  cuts: readonly number[],
  first: Int32Array,
  cells: number,
): { counts: bigint[]; part: Int32Array } {
  const d = points.dimensions;
  const counts = new Float64Array(cells);
  const part = new Int32Array(points.count).fill(-1);
  const start = Int32Array.from(open, ({ halvings }) => halvings);
  for (let i = 0; i < points.count; i++) {
    const b = at[i]!;
    if (b < 0 || cuts[b] === 0) continue;
    let index = 0;
    for (let n = start[b]!, end = n + cuts[b]!; n < end; n++) {
      const c = coordinate[n]!;
      // Position p = (v + last) / 2 in 0..last lies in part floor(p 2^depth / (last + 1)): whole numbers throughout.
      const p = (points.coordinates[i * d + c]! + last[c]!) / 2;
      index = 2 * index + (Math.floor((p * 2 ** (depth[n]! + 1)) / (last[c]! + 1)) & 1);
    }
    part[i] = first[b]! + index;
    counts[part[i]!]!++;
  }
  return { counts: Array.from(counts, BigInt), part };
}

function partOf(box: CountedBox, { coordinate }: HalvingOrder, cuts: number, index: number, mass: number): CountedBox {
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
  boxes.forEach(({ part, depth }, b) => {
    for (let c = 0; c < d; c++) {
      const width = (last[c]! + 1) / 2 ** depth[c]!;
      points[b * d + c] = ((2 * part[c]! + 1) * width - 1 - last[c]!) / last[c]!;
      halves[b * d + c] = Math.max(0, width - 1) / last[c]!;
    }
  });
  return { dimensions: d, points, halves, weights: Float64Array.from(boxes, ({ mass }) => mass) };
}
