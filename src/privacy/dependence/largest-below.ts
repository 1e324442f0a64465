import { fromNumber, nextDown, type Rational, zero } from '../../base/exact/rational.js';

/**
 * Largest x up to `top` with cost(x) <= limit, for an increasing cost; to `digits` relative, as a short fraction, itself
 * evaluated. Zero if there is none. Regula falsi (Illinois) on logarithms.
 */
export function largestBelow(cost: (x: number) => number, limit: number, top: number, digits = 1e-12): Rational {
  if (!(top > 0) || !(limit > 0)) return zero;
  // Positive exactly when the limit is exceeded: a logarithm that rounds to zero must not hide an excess.
  const excess = (x: number): number => {
    const c = cost(x);
    return c <= limit ? Math.min(0, Math.log(c / limit)) : Math.max(Number.MIN_VALUE, Math.log(c / limit));
  };
  let high = top;
  let over = excess(high);
  if (over <= 0) return fromNumber(high);
  let low = high / 2;
  let under = excess(low);
  while (under > 0) {
    [high, over] = [low, under];
    low /= 16;
    if (low < 2 ** -300) return zero;
    under = excess(low);
  }
  let side = 0;
  for (let k = 0; k < 200 && high - low > digits * high; k++) {
    const x = between([low, under], [high, over], k);
    const at = excess(x);
    if (at <= 0) {
      [low, under] = [x, at];
      if (side === -1) over /= 2;
      side = -1;
    } else {
      [high, over] = [x, at];
      if (side === 1) under /= 2;
      side = 1;
    }
  }
  const short = shortened(low);
  return fromNumber(cost(short) <= limit ? short : nextDown(low));
}

function between([low, under]: readonly [number, number], [high, over]: readonly [number, number], k: number): number {
  const middle = (low + high) / 2;
  if (k % 4 === 3 || !Number.isFinite(under) || !Number.isFinite(over) || !(over > under)) return middle;
  const x = Math.exp((Math.log(low) * over - Math.log(high) * under) / (over - under));
  return x > low && x < high ? x : middle;
}

/** Rounded down to 40 bits: the same noise for all practical purposes, and a fraction a person can read. */
function shortened(x: number): number {
  const unit = 2 ** (Math.floor(Math.log2(x)) - 40);
  return Math.floor(x / unit) * unit;
}

export interface SearchRange {
  /** Nothing above it is wanted. */
  readonly top: number;
  /** Known to be small enough. */
  readonly sure: number;
  readonly guess: number;
}

/** Limit on evaluations of a costly curve, and the number from which fewer digits suffice. */
const mostQuestions = 40;
const patient = 10;

/**
 * The same for costly curves that are roughly proportional to x: starts at a guess and returns an evaluated point. Three digits,
 * or two at jumps. Costs far above the limit may be imprecise.
 */
export function largestNear(cost: (x: number) => number, limit: number, { top, sure, guess }: SearchRange): Rational {
  if (!(top > 0) || !(limit > 0)) return zero;
  let low = { x: shortened(sure), cost: Number.NaN };
  let high = { x: top * (1 + 2 ** -30), cost: Number.POSITIVE_INFINITY };
  let x = shortened(Math.min(top, Math.max(sure, guess)));
  let power = 1;
  for (let evaluation = 1; evaluation <= mostQuestions; evaluation++) {
    const digits = evaluation > patient ? 1e-2 : 1e-3;
    const now = { x, cost: cost(x) };
    if (now.cost <= limit) {
      if (low.cost > 0 && now.x > low.x) power = slopeOf(low, now);
      low = now;
      if (now.cost >= limit * (1 - digits) || now.x >= shortened(top)) break;
    } else {
      if (now.cost < 2 * limit && low.cost > 0 && now.x > low.x) power = slopeOf(low, now);
      high = now;
    }
    if (high.x - low.x <= digits * low.x) break;
    x = shortened(next({ low, high, limit, power, digits }));
  }
  // Only a point that was evaluated is returned.
  for (let tries = 0; !(low.cost <= limit); tries++) {
    if (tries === 20) return zero;
    low = { x: shortened(low.x * (tries === 0 ? 1 : 0.999 ** tries)), cost: 0 };
    low.cost = cost(low.x);
  }
  return fromNumber(low.x);
}

interface Point {
  readonly x: number;
  readonly cost: number;
}

interface Bracket {
  readonly low: Point;
  readonly high: Point;
  readonly limit: number;
  /** Local exponent of the curve. */
  readonly power: number;
  readonly digits: number;
}

/** d log cost / d log x, within reason: costs are nearly proportional. */
const slopeOf = (a: Point, b: Point): number => Math.min(1.2, Math.max(0.3, Math.log(b.cost / a.cost) / Math.log(b.x / a.x)));

/** Point slightly below the one at which the limit would be met if the curve kept its local exponent. */
function next({ low, high, limit, power, digits }: Bracket): number {
  const aimFrom = (from: Point) => from.x * (limit / from.cost) ** (1 / power) * (1 - digits / 3);
  let aimed = Math.sqrt(low.x * high.x);
  if (low.cost > 0) aimed = aimFrom(low);
  else if (high.cost < 2 * limit) aimed = aimFrom(high);
  const narrow = (1 + digits / 4) * low.x;
  if (aimed > narrow && aimed < high.x * (1 - digits / 4)) return aimed;
  return Math.max(narrow, Math.min(Math.sqrt(low.x * high.x), high.x * (1 - digits / 4)));
}
