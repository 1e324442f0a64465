import type { Way } from './way.js';

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
 * Each step's number is that step plus a fading memory of those before it, near the square root of summing (Henzinger et al. 2023), by a few
 * exponentials (Dvijotham et al. 2024): as many numbers are remembered as there are exponentials, whatever the horizon.
 */
export function convolutionOf(horizon: number): Way {
  const memories = fadings(horizon);
  const shift = finer + kept - unit;
  return {
    name: 'convolution',
    how: `each step with ${memories.length} fading memories of those before it`,
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
 * The j-th coefficient of the square root of 1/(1 - z) is (1/pi) times the integral of x^(j - 1/2) (1 - x)^(-1/2) over 0..1; with x = exp(-exp(v)) the
 * trapezoid rule in v converges at once. What lies beyond the slowest memory is given to it.
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
 * Every step rounds each memory down by less than 2^-kept and the number by less than 1; a rounding fades like the rest, so a memory is off by less than
 * 1/(1 - decay) of them. Together that must stay below 2 units.
 */
function slackOf(memories: readonly Fading[]): bigint {
  const one = 1n << finer;
  const off = memories.reduce((sum, { decay, weight }) => sum + (weight * one) / (one - decay) + 1n, 0n);
  if (off >> finer >= 1n << (kept - unit)) throw new RangeError('a horizon too long for the digits that are kept');
  return 2n;
}
