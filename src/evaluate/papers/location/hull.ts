import { type Rational, rational } from '../../../base/exact/rational.js';

/** A cell of a grid by its whole-number coordinates. */
export type Point = readonly [x: number, y: number];

/** Positions of the fewest cells that hold at least 1 - delta of the belief: the likeliest first, equal ones in order. */
export function locationSet(belief: readonly number[], delta: number): readonly number[] {
  const order = belief.map((_, cell) => cell).sort((a, b) => belief[b]! - belief[a]! || a - b);
  const chosen: number[] = [];
  let mass = 0;
  for (const cell of order) {
    if (mass >= 1 - delta - 1e-12) break;
    chosen.push(cell);
    mass += belief[cell]!;
  }
  return chosen.sort((a, b) => a - b);
}

/**
 * The hull of all differences of two cells, counter-clockwise from the lowest corner on the left: two corners where all cells lie on one line, one (the origin)
 * where there is one cell.
 */
export function sensitivityHull(cells: readonly Point[]): readonly Point[] {
  const seen = new Map<string, Point>();
  for (const a of cells) for (const b of cells) seen.set(`${a[0] - b[0]},${a[1] - b[1]}`, [a[0] - b[0], a[1] - b[1]]);
  const points = [...seen.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (points.length <= 2) return points;
  const half = (list: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const p of list) {
      while (chain.length >= 2 && cross(chain.at(-2)!, chain.at(-1)!, p) <= 0) chain.pop();
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(points), ...half(points.toReversed())];
}

const cross = (o: Point, a: Point, b: Point): number => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
const origin: Point = [0, 0];

/** The least r with z in r K, exactly. Undefined off the line of a hull that is one, and off the origin of a hull that is a point. */
export function normIn(hull: readonly Point[], [x, y]: Point): Rational | undefined {
  if (x === 0 && y === 0) return rational(0);
  if (hull.length < 2) return undefined;
  if (hull.length === 2) {
    const [, [vx, vy]] = hull as readonly [Point, Point];
    if (x * vy !== y * vx) return undefined;
    return vx === 0 ? rational(Math.abs(y), Math.abs(vy)) : rational(Math.abs(x), Math.abs(vx));
  }
  // The origin lies inside: z leaves K through the edge of which it is farthest outside, measured by the edge's distance from the origin.
  let most = rational(0);
  hull.forEach((a, k) => {
    const b = hull[(k + 1) % hull.length]!;
    const [nx, ny] = [b[1] - a[1], a[0] - b[0]];
    const [top, bottom] = [nx * x + ny * y, nx * a[0] + ny * a[1]];
    if (BigInt(top) * most.den > most.num * BigInt(bottom)) most = rational(top, bottom);
  });
  return most;
}

/** Area, and covariance of a uniform point in it: from the triangles between the origin and each edge. */
export function hullShape(hull: readonly Point[]): {
  readonly area: number;
  readonly covariance: readonly (readonly number[])[];
} {
  let [area, xx, xy, yy] = [0, 0, 0, 0];
  hull.forEach((a, k) => {
    const b = hull[(k + 1) % hull.length]!;
    const part = cross(origin, a, b) / 2;
    area += part;
    xx += (part * (a[0] ** 2 + a[0] * b[0] + b[0] ** 2)) / 6;
    yy += (part * (a[1] ** 2 + a[1] * b[1] + b[1] ** 2)) / 6;
    xy += (part * (2 * a[0] * a[1] + 2 * b[0] * b[1] + a[0] * b[1] + b[0] * a[1])) / 12;
  });
  const each = (sum: number) => (area > 0 ? sum / area : 0);
  return {
    area,
    covariance: [
      [each(xx), each(xy)],
      [each(xy), each(yy)],
    ],
  };
}
