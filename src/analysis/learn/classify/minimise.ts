import { gradient, gradientAtMost, length, margin, type Objective } from './gradient.js';

/** Columns beyond which the dense second derivative costs more than it saves. */
const widest = 400;

/**
 * A point where the exact gradient is provably no longer than `tolerance`. Newton steps, then accelerated gradient steps, which
 * converge linearly from anywhere; ends for every data set if the tolerance exceeds the rounding error.
 */
export function minimise(objective: Objective, tolerance: number): Float64Array {
  let w: Float64Array = new Float64Array(objective.examples.width);
  if (objective.examples.width <= widest) {
    for (let step = 0; step < 60; step++) {
      const g = gradient(objective, w);
      if (gradientAtMost(objective, w, g) <= tolerance) return w;
      const next = newtonStep(objective, w, g);
      if (!next) break;
      w = next;
    }
  }
  return accelerate(objective, w, tolerance);
}

/** Nesterov's method for a strongly convex objective, restarted whenever the momentum points uphill. */
function accelerate(objective: Objective, start: Float64Array, tolerance: number): Float64Array {
  const { loss, regularisation, examples, records } = objective;
  const most = (loss.curvature * Math.max(examples.count, 1)) / records + regularisation;
  const ratio = Math.sqrt(regularisation / most);
  const momentum = (1 - ratio) / (1 + ratio);
  let w = start;
  let ahead = start;
  for (;;) {
    const g = gradient(objective, ahead);
    if (gradientAtMost(objective, ahead, g) <= tolerance) return ahead;
    const next = ahead.map((x, j) => x - g[j]! / most);
    const uphill = g.reduce((s, x, j) => s + x * (next[j]! - w[j]!), 0) > 0;
    ahead = uphill ? next : next.map((x, j) => x + momentum * (x - w[j]!));
    w = next;
  }
}

function cost({ examples, loss, records, radius, regularisation, linear }: Objective, w: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < examples.count; i++) sum += loss.value(margin(examples, radius, w, i));
  const tilt = linear ? linear.reduce((s, b, j) => s + b * w[j]!, 0) / records : 0;
  return sum / records + (regularisation / 2) * length(w) ** 2 + tilt;
}

/** A damped Newton step that lowers the cost; undefined if rounding prevents any decrease. */
function newtonStep(objective: Objective, w: Float64Array, g: Float64Array): Float64Array | undefined {
  const direction = solve(curvature(objective, w), g);
  const slope = direction.reduce((s, x, j) => s + x * g[j]!, 0);
  const before = cost(objective, w);
  for (let size = 1; size > 1e-4; size /= 2) {
    const next = w.map((x, j) => x - size * direction[j]!);
    if (cost(objective, next) <= before - 1e-4 * size * slope) return next;
    if (size === 1 && length(gradient(objective, next)) < length(g) / 4) return next;
  }
  return undefined;
}

function curvature({ examples, loss, records, radius, regularisation }: Objective, w: Float64Array): Float64Array[] {
  const { count, slots, entry, value, width } = examples;
  const h = Array.from({ length: width }, () => new Float64Array(width));
  const scale = 1 / (records * radius * radius);
  for (let i = 0; i < count; i++) {
    const bend = loss.secondDerivative(margin(examples, radius, w, i)) * scale;
    if (bend === 0) continue;
    for (let a = i * slots, end = a + slots; a < end; a++) {
      const row = h[entry[a]!]!;
      const part = bend * value[a]!;
      // Entries grow along a row's slots, so this fills the upper triangle.
      for (let b = a; b < end; b++) row[entry[b]!]! += part * value[b]!;
    }
  }
  for (let j = 0; j < width; j++) h[j]![j]! += regularisation;
  return h;
}

/** Cholesky on the upper triangle. */
function solve(h: Float64Array[], g: Float64Array): Float64Array {
  const n = g.length;
  for (let k = 0; k < n; k++) {
    const row = h[k]!;
    const root = Math.sqrt(row[k]!);
    for (let j = k; j < n; j++) row[j]! /= root;
    for (let i = k + 1; i < n; i++) {
      const factor = row[i]!;
      if (factor === 0) continue;
      const below = h[i]!;
      for (let j = i; j < n; j++) below[j]! -= factor * row[j]!;
    }
  }
  const x = Float64Array.from(g);
  for (let k = 0; k < n; k++) {
    x[k]! /= h[k]![k]!;
    for (let j = k + 1; j < n; j++) x[j]! -= h[k]![j]! * x[k]!;
  }
  for (let k = n - 1; k >= 0; k--) {
    for (let j = k + 1; j < n; j++) x[k]! -= h[k]![j]! * x[j]!;
    x[k]! /= h[k]![k]!;
  }
  return x;
}
