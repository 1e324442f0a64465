import { fromNumber, nextDown, type Rational, zero } from '../exact/rational.js';

/**
 * The largest x up to `top` with cost(x) <= limit, for an increasing cost; to `digits` relative, as a short fraction, and itself tested. Zero when
 * nothing is small enough. Interpolates on logarithms (regula falsi with the Illinois rule), so costly curves take about ten evaluations.
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
    const x = between(low, high, under, over, k);
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

function between(low: number, high: number, under: number, over: number, k: number): number {
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
