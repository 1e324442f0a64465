import type { AdditiveDistribution } from '../../privacy/mechanism/distribution.js';
import { noiseScale } from '../../privacy/mechanism/half-width.js';

/** Log density of noise that the attacker knows was added, up to a constant. */
export function logNoise(noise: AdditiveDistribution<number>): (off: number) => number {
  const scale = noiseScale(noise);
  return noise.kind === 'laplace' ? (off) => -Math.abs(off) / scale : (off) => -(off * off) / (2 * scale * scale);
}

/** Largest change of the log odds between two values; roundings are none. */
export function gainOf(prior: readonly number[], posterior: readonly number[]): number {
  const moved = prior.flatMap((p, k) => (p > 0 ? [Math.log(posterior[k]!) - Math.log(p)] : []));
  const gain = Math.max(...moved) - Math.min(...moved);
  return gain > 1e-12 ? gain : 0;
}

export interface GainSummary {
  readonly median: number;
  readonly most: number;
  /** How many are larger than promised. */
  readonly beyond: number;
}
export function gainSummary(gains: Iterable<number>, epsilon: number): GainSummary {
  const sorted = Float64Array.from(gains).sort();
  return {
    median: sorted[sorted.length >> 1] ?? 0,
    most: sorted.at(-1) ?? 0,
    beyond: sorted.filter((gain) => gain > epsilon + 1e-9).length,
  };
}
