import { length } from './gradient.js';

/** Descent on noisy gradients. Everything here is post-processing of published numbers. */
export interface Walk {
  readonly steps: number;
  /** Noisy mean row in feature units; weights are moved around it, which takes the intercept out of the way. */
  readonly mean: Float64Array;
  /** Most the loss can bend. */
  readonly smoothness: number;
  readonly regularisation: number;
  /** Standard deviation of the noise of one gradient entry. */
  readonly spread: number;
  /** Noisy gradient of the loss at weights w. */
  readonly gradient: (w: Float64Array) => Float64Array;
}

const momentum = 0.5;
/** Around the mean, rows rarely bend the loss by more than a fifth of what they could. If they do, the walk notices and shortens its stride. */
const longestStride = 14;
/** Noise may move the weights by about this much per step; useful weights have a length around ten. */
const longestStray = 2.5;

export function descend({ steps, mean, smoothness, regularisation, spread, gradient }: Walk): Float64Array {
  const width = mean.length;
  // z = b + w.x = (b + w.mean) + w.(x - mean): walk in the second form, answer in the first.
  const natural = (u: Float64Array): Float64Array => {
    const w = Float64Array.from(u);
    for (let j = 1; j < width; j++) w[0]! -= mean[j]! * u[j]!;
    return w;
  };
  let u: Float64Array = new Float64Array(width);
  let velocity: Float64Array = new Float64Array(width);
  let before: Float64Array | undefined;
  let stride = Math.min(longestStride, (longestStray * smoothness) / (spread * Math.sqrt(width)));
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

/** Two gradients point against each other by more than noise explains. */
function turnsBack(before: Float64Array, now: Float64Array, spread: number): boolean {
  const dot = now.reduce((s, x, j) => s + x * before[j]!, 0);
  return dot < -3 * spread * (spread * Math.sqrt(now.length) + length(now) + length(before));
}
