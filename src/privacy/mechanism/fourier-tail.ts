/** Several continuous, independent Laplace noises of one scale. */
export interface RepeatedLaplace {
  readonly scale: number;
  readonly times: number;
}

/**
 * Upper bound on P(|S| > h) for a sum of continuous Laplace noises and a Gaussian one, within `slack` and rounding: the Fourier
 * series of the wrapped distribution (noise-sum.proof.md, 8).
 */
export function fourierTail(laplaces: readonly RepeatedLaplace[], sigma: number, h: number, slack: number): number {
  if (!(slack >= leastSlack)) throw new RangeError('a tail is not added up closer than doubles are');
  if (!(h > 0)) return 1;
  const beyond = tailCutoff(laplaces, sigma, slack / 4);
  const around = Math.max(beyond + h, 2 * h);
  const turn = (2 * Math.PI) / around;
  const [cosine, sine] = [Math.cos(turn * h), Math.sin(turn * h)];
  /** The rest of the series is no more than its next factor over this (Dirichlet). */
  const damping = Math.abs(Math.sin((turn * h) / 2));
  let [c, s] = [1, 0];
  let inside = (2 * h) / around;
  for (let k = 1; k <= mostTerms; k++) {
    [c, s] = [c * cosine - s * sine, s * cosine + c * sine];
    const factor = (2 / (Math.PI * k)) * characteristicFunction(laplaces, sigma, turn * k);
    inside += factor * s;
    if (factor < (slack / 4) * damping) return Math.min(1, Math.max(0, 1 - inside) + slack);
  }
  return 1;
}
const mostTerms = 1e6;
const leastSlack = 4e-15;

function characteristicFunction(laplaces: readonly RepeatedLaplace[], sigma: number, t: number): number {
  let wave = sigma > 0 ? Math.exp(-((sigma * t) ** 2) / 2) : 1;
  for (const { scale, times } of laplaces) {
    const one = 1 / (1 + (scale * t) ** 2);
    wave *= times === 1 ? one : one ** times;
  }
  return wave;
}

/** Distance that is exceeded with probability at most `rare`, by Chernoff's bound at one point. */
function tailCutoff(laplaces: readonly RepeatedLaplace[], sigma: number, rare: number): number {
  let [widest, variance] = [0, sigma ** 2];
  for (const { scale, times } of laplaces) {
    widest = Math.max(widest, scale);
    variance += 2 * times * scale ** 2;
  }
  const at = Math.min(widest > 0 ? 0.8 / widest : Number.POSITIVE_INFINITY, 6 / Math.sqrt(variance));
  let growth = (sigma * at) ** 2 / 2;
  for (const { scale, times } of laplaces) growth -= times * Math.log1p(-((scale * at) ** 2));
  return (Math.log(2 / rare) + growth) / at;
}
