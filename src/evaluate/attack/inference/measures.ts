import { seededRandom } from './attacker.js';
import type { Inference } from './infer.js';

export interface MeanEstimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Success of an attack over all people, with 95 % bootstrap intervals over people. */
export interface AttackSummary {
  readonly errorKm: MeanEstimate;
  /** H(prior without ties) - H(attacker's prior): information from the ties alone, without a release. */
  readonly priorGain: MeanEstimate;
  /** H(attacker's prior) - H(posterior): what the release adds. This is what privacy can limit. */
  readonly releaseGain: MeanEstimate;
  /** Both together: the "leaked information" of Liu et al. 2016 (Eq. 11). */
  readonly totalGain: MeanEstimate;
  readonly independentBits: number;
  /** The person whose belief moved most: largest |log posterior - log prior|, in nats. */
  readonly largestShift: number;
}

const resamples = 400;

/** Percentile bootstrap of the mean. */
export function bootstrapMean(values: Float64Array, seed = 1, rounds = resamples): MeanEstimate {
  const n = values.length;
  const mean = values.reduce((s, v) => s + v, 0) / n;
  const draw = seededRandom(seed);
  const means = Float64Array.from({ length: rounds }, () => {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += values[Math.floor(draw() * n)]!;
    return sum / n;
  }).sort();
  return { mean, low: means[Math.floor(0.025 * rounds)]!, high: means[Math.ceil(0.975 * rounds) - 1]! };
}

export function summarise(found: Inference, seed = 1): AttackSummary {
  const difference = (a: Float64Array, b: Float64Array) => a.map((v, i) => v - b[i]!);
  return {
    errorKm: bootstrapMean(found.errorKm, seed),
    priorGain: bootstrapMean(difference(found.independentBits, found.priorBits), seed),
    releaseGain: bootstrapMean(difference(found.priorBits, found.posteriorBits), seed),
    totalGain: bootstrapMean(difference(found.independentBits, found.posteriorBits), seed),
    independentBits: found.independentBits.reduce((s, v) => s + v, 0) / found.people,
    largestShift: found.shift.reduce((m, v) => Math.max(m, v), 0),
  };
}
