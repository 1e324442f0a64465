import { addUp, divUp, expDown, expm1Down, log1pUp, mulUp, subDown, subUp } from '../../exact/outward.js';

/**
 * What a tie with known conditionals lets through of an effect B: the largest, over values a, b of the near record and sets V of values of the far one,
 * of log[ (1 + P(V|a)(e^B - 1)) / (1 + P(V|b)(e^B - 1)) ]. For given a and b the best set is a prefix of the values sorted by P(v|a)/P(v|b).
 * Rounded up.
 */
export interface Conditionals {
  /** P(far value | near value), one row per possible near value. */
  readonly rows: readonly Float64Array[];
  /** Every entry is right to this relative error. */
  readonly relative: number;
  /** Every true row lies within this total-variation distance of the given one. */
  readonly radius: number;
}

export const pushTable = (effect: number, conditionals: Conditionals): number => frontOf(conditionals)(effect);

/** The same, prepared once for many effects: a set that another beats in both probabilities is never the best. */
export function frontOf({ rows, relative, radius }: Conditionals): (effect: number) => number {
  const reached: { low: number; high: number }[] = [];
  for (const a of rows)
    for (const b of rows) {
      if (a === b) continue;
      for (const [below, above] of corners(a, b, radius)) {
        const high = Math.min(1, addUp(mulUp(above, 1 + relative), radius));
        const low = Math.max(0, subDown(below * (1 - relative) * (1 - 2 ** -52), radius));
        if (high > low) reached.push({ low, high });
      }
    }
  reached.sort((x, y) => x.low - y.low || y.high - x.high);
  const front: typeof reached = [];
  for (const point of reached) if (point.high > (front.at(-1)?.high ?? 0)) front.push(point);
  return (effect) => {
    if (!(effect > 0)) return 0;
    const quiet = expDown(-effect);
    const loud = -expm1Down(-effect);
    let worst = 0;
    for (const { low, high } of front) worst = Math.max(worst, odds(high, low, quiet, loud));
    return Math.min(worst === Number.POSITIVE_INFINITY ? worst : log1pUp(worst), effect);
  };
}

/** e^g - 1 for g = log[ (y + p (1-y)) / (y + q (1-y)) ], p > q, with y = e^(-B): no overflow for any B and no cancellation for small ones. */
function odds(p: number, q: number, quiet: number, loud: number): number {
  const spread = mulUp(subUp(p, q), loud);
  const base = (quiet + q * (1 - quiet)) * (1 - 2 ** -50);
  return base > 0 ? divUp(spread, base) : Number.POSITIVE_INFINITY;
}

/**
 * The corners (P(V|b), P(V|a)) of the boundary of what sets can reach. With a radius the objective is a ratio of linear functions between corners and
 * changes its form where P(V|b) = radius and where P(V|a) = 1 - radius, so the boundary's own points there belong to the list.
 */
function* corners(a: Float64Array, b: Float64Array, radius: number): Iterable<readonly [number, number]> {
  const order = [...a.keys()].filter((v) => a[v]! > 0 || b[v]! > 0).sort((v, w) => a[w]! * b[v]! - a[v]! * b[w]!);
  let below = 0;
  let above = 0;
  yield [0, 0];
  for (const v of order) {
    const nextBelow = below + b[v]!;
    const nextAbove = above + a[v]!;
    if (radius > 0) {
      for (const share of [(radius - below) / b[v]!, (1 - radius - above) / a[v]!])
        if (share > 0 && share < 1) yield [below + share * b[v]! * (1 - 2 ** -50), above + share * a[v]! * (1 + 2 ** -50)];
    }
    yield [nextBelow, nextAbove];
    below = nextBelow;
    above = nextAbove;
  }
}
