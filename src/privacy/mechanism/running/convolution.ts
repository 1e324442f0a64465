import type { ContinualStrategy } from './continual-strategy.js';

/** Binary digits: of decays and weights, of one unit of what is noised, and of what is remembered beyond that. */
const finer = 48n;
const unit = 20n;
const kept = unit + 40n;

/** A memory that fades by `decay` a step, and how much of it is added: both in units of 2^-48. */
interface Fading {
  readonly decay: bigint;
  readonly weight: bigint;
}

/**
 * Convolution strategy: each step's number is the step plus fading memories of earlier ones, near the square root of summing
 * (Henzinger et al. 2023), with a few exponentials (Dvijotham et al. 2024) and constant memory.
 */
export function convolutionStrategy(horizon: number): ContinualStrategy {
  const memories = fadings(horizon);
  const shift = finer + kept - unit;
  return {
    name: 'convolution',
    description: `each step with ${memories.length} fading memories of those before it`,
    horizon,
    slack: slackOf(memories),
    numbers: (from, to) => to - from + 1,
    encoder: () => {
      const state = memories.map(() => 0n);
      return (count) => {
        let sum = 0n;
        for (const [i, { decay, weight }] of memories.entries()) {
          const faded = (decay * state[i]!) >> finer;
          sum += weight * faded;
          state[i] = faded + (count << kept);
        }
        return [(count << unit) + (sum >> shift)];
      };
    },
    decoder: () => decoderOf(memories),
    variances: () => variancesOf(memories, horizon),
    meanVariance: () => {
      let sum = 0;
      for (const variance of variancesOf(memories, horizon)) sum += variance;
      return sum / horizon;
    },
  };
}

/** A noise enters every later total as the answer to one unit in its place does. */
function* variancesOf(memories: readonly Fading[], horizon: number): Iterable<number> {
  const decode = decoderOf(memories);
  let variance = 0;
  for (let step = 1; step <= horizon; step++) {
    variance += decode([step === 1 ? 1n : 0n]) ** 2;
    yield variance;
  }
}

/** Solves for each step what the memories leave of its number, and adds up. */
function decoderOf(memories: readonly Fading[]): (noisy: readonly bigint[]) => number {
  const decays = memories.map(({ decay }) => Number(decay) / 2 ** Number(finer));
  const weights = memories.map(({ weight }) => Number(weight) / 2 ** Number(finer));
  const state = new Float64Array(memories.length);
  let total = 0;
  return ([number]) => {
    let step = Number(number) / 2 ** Number(unit);
    for (let i = 0; i < state.length; i++) {
      state[i]! *= decays[i]!;
      step -= weights[i]! * state[i]!;
    }
    for (let i = 0; i < state.length; i++) state[i]! += step;
    total += step;
    return total;
  };
}

/**
 * Coefficients of the square root of 1/(1 - z) as integrals over exponentials, by the trapezoid rule in v with x = exp(-exp(v)),
 * which converges fast. The part beyond the slowest memory is added to it.
 */
function fadings(horizon: number): readonly Fading[] {
  const [fast, stride] = [1.2, 1.6];
  const slow = -Math.log(4 * horizon);
  const count = Math.max(1, Math.ceil((fast - slow) / stride));
  const scale = 2 ** Number(finer);
  return Array.from({ length: count }, (_, i) => {
    const rate = Math.exp(fast - i * stride);
    const density = (Math.exp(-rate / 2) * rate) / Math.sqrt(-Math.expm1(-rate)) / Math.PI;
    // Below the slowest the density falls like the square root of the rate: a geometric series.
    const rest = i === count - 1 ? 1 / (1 - Math.exp(-stride / 2)) : 1;
    return { decay: BigInt(Math.round(Math.exp(-rate) * scale)), weight: BigInt(Math.round(density * stride * rest * scale)) };
  });
}

/**
 * Slack from rounding: each memory is off by less than 1/(1 - decay) roundings of 2^-kept, the number by less than 1. The sum
 * must stay below 2 units.
 */
function slackOf(memories: readonly Fading[]): bigint {
  const one = 1n << finer;
  const off = memories.reduce((sum, { decay, weight }) => sum + (weight * one) / (one - decay) + 1n, 0n);
  if (off >> finer >= 1n << (kept - unit)) throw new RangeError('a horizon too long for the digits that are kept');
  return 2n;
}
