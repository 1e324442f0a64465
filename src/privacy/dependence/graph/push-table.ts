import { divUp, expDown, expm1Down, log1pUp, mulUp, subUp } from '../../../base/exact/outward.js';

/**
 * Tie with known conditionals; its push_P(B) is the largest log[ (1 + P(V|a)(e^B - 1)) / (1 + P(V|b)(e^B - 1)) ] over values a, b
 * and sets V (uninformed.proof.md). Rounded up.
 */
export interface Conditionals {
  /** P(far value | near value), one row per possible near value. */
  readonly rows: readonly Float64Array[];
  /** Every entry is right to this relative error. */
  readonly relative: number;
  /** Every true row lies within this total-variation distance of the given one. */
  readonly radius: number;
}

export const pushTable = (loss: number, conditionals: Conditionals): number => preparedPush(conditionals)(loss);

/** push_P prepared once for many values of B: a set dominated in both probabilities is never the best. */
export function preparedPush({ rows, relative, radius }: Conditionals): (loss: number) => number {
  const reached: Point[] = [];
  // A point that is dominated by one with a smaller probability (in steps of a thousandth) is dropped.
  const best = new Float64Array(parts + 1);
  const reach = (below: number, above: number) => {
    // Three roundings up, four down, each of one part in 2^53 at most.
    const high = Math.min(1, (above * (1 + relative) + radius) * (1 + 2 ** -50));
    const low = Math.max(0, below * (1 - relative) * (1 - 2 ** -50) - radius);
    const at = Math.floor(low * parts);
    if (!(high > low) || (at > 0 && best[at - 1]! >= high)) return;
    for (let k = at; k <= parts && best[k]! < high; k++) best[k] = high;
    reached.push({ low, high });
  };
  for (let i = 0; i < rows.length; i++)
    for (let j = 0; j < i; j++) {
      const [a, b] = [rows[i]!, rows[j]!];
      const order = byOdds(a, b);
      eachCorner([a, b], order, radius, reach);
      order.reverse();
      eachCorner([b, a], order, radius, reach);
    }
  const front = frontier(reached);
  return (loss) => {
    if (!(loss > 0)) return 0;
    const quiet = expDown(-loss);
    const loud = -expm1Down(-loss);
    let worst = 0;
    for (const { low, high } of front) worst = Math.max(worst, odds(high, low, quiet, loud));
    return Math.min(worst === Number.POSITIVE_INFINITY ? worst : log1pUp(worst), loss);
  };
}

/** Parts of the unit in which points are compared before they are sorted. */
const parts = 1024;

/** The possible values by P(v|a)/P(v|b), largest first. */
const byOdds = (a: Float64Array, b: Float64Array): number[] =>
  [...a.keys()].filter((v) => a[v]! > 0 || b[v]! > 0).sort((v, w) => a[w]! * b[v]! - a[v]! * b[w]!);

interface Point {
  readonly low: number;
  readonly high: number;
}

/**
 * Points that are the best for some B: not dominated in both probabilities, and not below the line between two others, since the
 * odds are a ratio of linear functions.
 */
function frontier(reached: readonly Point[]): readonly Point[] {
  const few = [...reached].sort((x, y) => x.low - y.low || y.high - x.high);
  const front: Point[] = [];
  for (const point of few) {
    if (!(point.high > (front.at(-1)?.high ?? 0))) continue;
    while (front.length > 1 && isUnder(front.at(-2)!, front.at(-1)!, point)) front.pop();
    front.push(point);
  }
  return front;
}

/** True if b lies below the line from a to c by more than the rounding errors. */
function isUnder(a: Point, b: Point, c: Point): boolean {
  const [rise, line] = [(b.high - a.high) * (c.low - a.low), (c.high - a.high) * (b.low - a.low)];
  return rise < line - 2 ** -48 * (Math.abs(rise) + Math.abs(line)) - 2 ** -60 * (c.low - a.low + b.low - a.low);
}

/** e^g - 1 for g = log[ (y + p (1-y)) / (y + q (1-y)) ], p > q, with y = e^(-B): no overflow for any B and no cancellation for small ones. */
function odds(p: number, q: number, quiet: number, loud: number): number {
  const spread = mulUp(subUp(p, q), loud);
  const base = (quiet + q * (1 - quiet)) * (1 - 2 ** -50);
  return base > 0 ? divUp(spread, base) : Number.POSITIVE_INFINITY;
}

/**
 * Corners (P(V|b), P(V|a)) of the boundary of reachable sets. With a radius, the boundary's points at P(V|b) = radius and P(V|a)
 * = 1 - radius are added, where the objective changes its form (uninformed.proof.md).
 */
function eachCorner(
  [a, b]: readonly [Float64Array, Float64Array],
  order: readonly number[],
  radius: number,
  reach: (below: number, above: number) => void,
): void {
  let below = 0;
  let above = 0;
  reach(0, 0);
  for (const v of order) {
    const nextBelow = below + b[v]!;
    const nextAbove = above + a[v]!;
    if (radius > 0) {
      for (const share of [(radius - below) / b[v]!, (1 - radius - above) / a[v]!])
        if (share > 0 && share < 1) reach(below + share * b[v]! * (1 - 2 ** -50), above + share * a[v]! * (1 + 2 ** -50));
    }
    reach(nextBelow, nextAbove);
    below = nextBelow;
    above = nextAbove;
  }
}
