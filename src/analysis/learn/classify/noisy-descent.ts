import { length } from './gradient.js';

/** Descent on noisy gradients. Everything here is post-processing of published numbers. */
export interface DescentTask {
  readonly steps: number;
  /** Noisy mean row in feature units; descent is centred on it, which decouples the intercept. */
  readonly mean: Float64Array;
  /** Upper bound on the curvature of the loss. */
  readonly smoothness: number;
  readonly regularisation: number;
  /** Standard deviation of the noise of one gradient entry. */
  readonly spread: number;
  /** Noisy gradient of the loss at weights w. */
  readonly gradient: (w: Float64Array) => Float64Array;
}

const momentum = 0.5;
/** Centred rows rarely have more than a fifth of the maximal curvature. If they do, descent detects it and shortens its step. */
const maxStride = 14;
/** Most by which noise moves the weights per step, roughly; useful weights have a length around ten. */
const maxNoiseStep = 2.5;

export function noisyDescent({ steps, mean, smoothness, regularisation, spread, gradient }: DescentTask): Float64Array {
  const width = mean.length;
  // z = b + w.x = (b + w.mean) + w.(x - mean): descent in the centred form, result in the original one.
  const natural = (u: Float64Array): Float64Array => {
    const w = Float64Array.from(u);
    for (let j = 1; j < width; j++) w[0]! -= mean[j]! * u[j]!;
    return w;
  };
  let u: Float64Array = new Float64Array(width);
  let velocity: Float64Array = new Float64Array(width);
  let before: Float64Array | undefined;
  let stride = Math.min(maxStride, (maxNoiseStep * smoothness) / (spread * Math.sqrt(width)));
  const late = Math.max(1, Math.round(0.35 * steps));
  const average = new Float64Array(width);
  for (let t = 0; t < steps; t++) {
    const raw = gradient(natural(u));
    const g = raw.map((x, j) => (j === 0 ? x : x - mean[j]! * raw[0]!) + regularisation * u[j]!);
    if (before && turnsBack(before, g, spread)) {
      stride /= 2;
      velocity.fill(0);
    }
    velocity = velocity.map((v, j) => momentum * v - (stride * g[j]!) / smoothness);
    u = u.map((x, j) => x + velocity[j]!);
    before = g;
    if (t >= steps - late) for (let j = 0; j < width; j++) average[j]! += u[j]! / late;
  }
  return natural(average);
}

/** True if two gradients point against each other by more than noise explains. */
function turnsBack(before: Float64Array, now: Float64Array, spread: number): boolean {
  const dot = now.reduce((s, x, j) => s + x * before[j]!, 0);
  return dot < -3 * spread * (spread * Math.sqrt(now.length) + length(now) + length(before));
}
