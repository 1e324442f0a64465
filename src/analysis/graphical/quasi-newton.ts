/** A smooth convex function at a point: returns the value, writes the gradient and the approximate curvature along each coordinate. */
export type SmoothObjective = (point: Float64Array, gradient: Float64Array, curvature: Float64Array) => number;

/** Number of curvature pairs kept. */
const historyLength = 8;
/** Most change of a coordinate in one step. */
const maxStep = 4;

export interface DescentLimits {
  /** True if the gradient is small enough. */
  readonly enough: (gradient: Float64Array) => boolean;
  /** Most evaluations. */
  readonly most: number;
  /** Curvature pairs of earlier descents; updated. */
  readonly past: CurvaturePair[];
}

/**
 * L-BFGS with every coordinate scaled by its curvature; starts at `point` and overwrites it. Returns the number of
 * evaluations.
 */
export function minimiseLbfgs(point: Float64Array, look: SmoothObjective, { enough, most, past }: DescentLimits): number {
  const empty = () => new Float64Array(point.length);
  let [gradient, before] = [empty(), empty()];
  const [trial, direction, curvature] = [empty(), empty(), empty()];
  let now = look(point, gradient, curvature);
  let looks = 1;
  while (looks < most && !enough(gradient)) {
    descentDirection(direction, gradient, curvature, past);
    const fall = -dot(direction, gradient);
    if (!(fall > 0)) {
      if (past.length === 0) break;
      past.length = 0;
      continue;
    }
    let step = Math.min(1, maxStep / largest(direction));
    let then = Number.POSITIVE_INFINITY;
    [gradient, before] = [before, gradient];
    for (;;) {
      for (let i = 0; i < trial.length; i++) trial[i] = point[i]! + step * direction[i]!;
      then = look(trial, gradient, curvature);
      looks++;
      if (then <= now - 1e-4 * step * fall || looks >= most || step < 1e-12) break;
      // Minimum of the parabola through the known values.
      step *= Math.min(0.5, Math.max(0.1, (fall * step) / (2 * (then - now + fall * step))));
    }
    if (!(then < now)) {
      look(point, gradient, curvature);
      if (past.length === 0 || looks >= most) break;
      past.length = 0;
      continue;
    }
    const pair = past.length === historyLength ? past.shift()! : { moved: empty(), turned: empty(), product: 0 };
    for (let i = 0; i < point.length; i++) {
      pair.moved[i] = trial[i]! - point[i]!;
      pair.turned[i] = gradient[i]! - before[i]!;
    }
    pair.product = dot(pair.moved, pair.turned);
    if (pair.product > 0) past.push(pair);
    point.set(trial);
    now = then;
  }
  return looks;
}

/** Change of the point and of the gradient in one step. */
export interface CurvaturePair {
  readonly moved: Float64Array;
  readonly turned: Float64Array;
  product: number;
}

function descentDirection(
  direction: Float64Array,
  gradient: Float64Array,
  curvature: Float64Array,
  past: readonly CurvaturePair[],
): void {
  for (let i = 0; i < direction.length; i++) direction[i] = -gradient[i]!;
  const shares: number[] = [];
  for (let k = past.length - 1; k >= 0; k--) {
    const { moved, turned, product } = past[k]!;
    shares[k] = dot(moved, direction) / product;
    addScaled(direction, -shares[k]!, turned);
  }
  let scale = 1;
  const last = past.at(-1);
  if (last) {
    let square = 0;
    for (let i = 0; i < direction.length; i++) square += last.turned[i]! ** 2 / curvature[i]!;
    scale = last.product / square;
  }
  for (let i = 0; i < direction.length; i++) direction[i]! *= scale / curvature[i]!;
  for (const [k, { moved, turned, product }] of past.entries())
    addScaled(direction, shares[k]! - dot(turned, direction) / product, moved);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
function largest(a: Float64Array): number {
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i]!));
  return most;
}
function addScaled(a: Float64Array, times: number, b: Float64Array): void {
  for (let i = 0; i < a.length; i++) a[i]! += times * b[i]!;
}
