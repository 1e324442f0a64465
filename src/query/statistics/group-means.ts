import { toNumber } from '../../base/exact/rational.js';
import { standardDeviation } from '../../privacy/mechanism/half-width.js';
import { spreadDeviation } from '../../privacy/mechanism/noise-sum.js';
import { type AnswerValues, additiveNoise, distributionsOf, type LinearTerm, noAnswer, noisyCounts } from '../answer.js';
import type { NoisyMeasure } from '../bound.js';
import { confidenceInterval, isLaplace, type PerturbedValue } from './confidence-interval.js';
import { extraDeviations, noSkew, type Skew, skewOf, skewShifts, unseenVariation, varianceEstimate } from './skew.js';

/** Group of rows, as the noisy numbers from which its mean is computed. */
export interface GroupTerms {
  /** Sum of the numbers minus their middle. */
  readonly sum: LinearTerm;
  readonly count: LinearTerm;
  /** Sum of their squares, minus `lifted` for every row; absent for shares, whose variance follows. */
  readonly squares?: { readonly term: LinearTerm; readonly lifted: number };
  /** Sum of their cubes about `middle`, relative to the numbers' middle; paid for where a design is declared. */
  readonly cubes?: { readonly term: LinearTerm; readonly middle: number };
  /** Sum of the squared weights, where rows have weights; gives the effective sample size. */
  readonly weights?: LinearTerm;
  readonly middle: number;
  /** Bounds of the mean, relative to the middle. */
  readonly within: readonly [number, number];
}

interface NoiseError {
  readonly deviation: number;
  /** Ratio of the deviation of continuous noise at least as wide as the discrete noise (privacy/mechanism/noise-sum.proof.md, 2). */
  readonly wider: number;
  readonly laplace: boolean;
  readonly sum: number;
  readonly count: number;
}
export interface GroupMean {
  readonly sum: number;
  readonly count: number;
  readonly mean: number;
  /** Effective sample size. */
  readonly people: number;
  readonly errors: readonly NoiseError[];
  /** Sampling variance of the mean; `short`: by how much noise may have made it too small; its third moment. */
  readonly sampling: number;
  readonly short: number;
  readonly skew: Skew;
}

/** Reads noisy numbers, and keeps the error of each that enters a sum or a count. */
function noisyReader(noisy: readonly NoisyMeasure[]) {
  const distributions = distributionsOf(noisy);
  const errors = new Map<string, { -readonly [K in keyof NoiseError]: NoiseError[K] }>();
  const read = (term: LinearTerm, into?: 'sum' | 'count'): number => {
    const { values } = noisyCounts(noisy, term.measure);
    const distribution = additiveNoise(distributions, term.measure);
    let total = 0;
    for (const cell of term.cells(0)) {
      total += toNumber(term.factor) * Number(values[cell]!);
      if (!into) continue;
      const key = `${term.measure} ${cell}`;
      const own = standardDeviation(distribution);
      const wider = own > 0 ? spreadDeviation(distribution) / own : 1;
      const error = errors.get(key) ?? { deviation: own, wider, laplace: isLaplace(distribution), sum: 0, count: 0 };
      error[into] += toNumber(term.factor);
      errors.set(key, error);
    }
    return total;
  };
  /** Standard deviation of the noise of a term. */
  const deviationOf = (term: LinearTerm): number =>
    Math.abs(toNumber(term.factor)) *
    standardDeviation(additiveNoise(distributions, term.measure)) *
    Math.sqrt(term.cells(0).length);
  return { read, deviationOf, errors: (): readonly NoiseError[] => [...errors.values()].filter((e) => e.deviation > 0) };
}

/** `alone`: number of means that share the four added answers of a share's variance; when absent, none are added. */
export function groupMean(
  { sum, count, squares, cubes, weights, within }: GroupTerms,
  noisy: readonly NoisyMeasure[],
  factor: (people: number) => number,
  alone?: number,
): GroupMean | undefined {
  const { read, deviationOf, errors } = noisyReader(noisy);
  const [s, n] = [read(sum, 'sum'), read(count, 'count')];
  if (!(n > 1)) return undefined;
  const mean = s / n;
  const people = weights ? n ** 2 / Math.max(read(weights), Number.MIN_VALUE) : n;
  if (!(people > 1)) return undefined;
  const noiseDeviation = (term: LinearTerm): number => deviationOf(term) / n;
  const square = squares ? read(squares.term) / n : 0;
  const spread = squares
    ? varianceEstimate(square + squares.lifted - mean ** 2, [
        noiseDeviation(squares.term),
        2 * mean * noiseDeviation(sum),
        (square - 2 * mean ** 2) * noiseDeviation(count),
      ])
    : {
        variance: shareVariance(Math.min(1, Math.max(0, mean)), people / Math.max(factor(people), 1e-9), alone),
        short: 0,
      };
  const skew =
    squares && cubes
      ? skewOf(
          { cube: read(cubes.term) / n, deviation: noiseDeviation(cubes.term) },
          { mean: mean - cubes.middle, deviation: noiseDeviation(sum) },
          { variance: square + squares.lifted - mean ** 2, deviation: noiseDeviation(squares.term) },
          within.map((end) => (end - mean) * spread.variance) as [number, number],
        )
      : noSkew;
  const each = factor(people) / people;
  return {
    sum: s,
    count: n,
    mean,
    errors: errors(),
    people,
    sampling: each * spread.variance,
    short: each * spread.short,
    skew: { third: each ** 2 * skew.third, deviation: each ** 2 * skew.deviation },
  };
}

/** Variance of a share after adding four answers, two of them positive (Agresti and Coull): at rare answers the sample's own is too small. */
function shareVariance(share: number, people: number, alone?: number): number {
  const more = alone === undefined ? 0 : 4 / alone;
  const near = (share * people + more / 2) / (people + more);
  return near * (1 - near);
}

/** Linear combination of means, with the error of the noise, and of noise and sampling together (confidence-interval.proof.md). */
export function combineMeans(
  sides: readonly (GroupMean | undefined)[],
  by: readonly number[],
  middle: number,
  within: readonly [number, number],
): AnswerValues {
  const there = sides.flatMap((side, k) => (side ? [{ ...side, k, by: by[k]! }] : []));
  if (there.length < sides.length) return noAnswer;
  const errors = there.flatMap((side) => side.errors.map((error) => ({ ...error, side })));
  const sampling = Math.sqrt(there.reduce((sum, side) => sum + side.by ** 2 * side.sampling, 0));
  const of =
    (sampled: number): PerturbedValue =>
    (z) => {
      const moved = new Map(there.map((side) => [side.k, { ...side }]));
      errors.forEach(({ side, deviation, wider, sum, count }, k) => {
        const own = moved.get(side.k)!;
        own.sum += sum * deviation * wider * z[k]!;
        own.count += count * deviation * wider * z[k]!;
      });
      if ([...moved.values()].some(({ count }) => !(count > 0))) return undefined;
      const slopes = new Float64Array(errors.length + 1);
      errors.forEach(({ side, deviation, wider, sum, count }, k) => {
        const own = moved.get(side.k)!;
        slopes[k] = (side.by * deviation * wider * (sum - (count * own.sum) / own.count)) / own.count;
      });
      slopes[errors.length] = sampled;
      const value = [...moved].reduce((all, [, own]) => all + (own.by * own.sum) / own.count, 0);
      return { value: value + sampled * z[errors.length]!, slopes };
    };
  const laplace = (k: number) => errors[k]?.laplace === true;
  const start = of(0)(new Float64Array(errors.length + 1))!;
  const all = sampling ** 2 + start.slopes.reduce((sum, slope) => sum + slope ** 2, 0);
  const sampled = there.map(({ by, sampling: variance, skew }) => ({ by, variance, skew }));
  const short = Math.hypot(...there.map((side) => side.by ** 2 * side.short), unseenVariation(sampled));
  const third = there.reduce((sum, side) => sum + side.by ** 3 * side.skew.third, 0);
  const noiseDeviation = Math.hypot(...there.map((side) => side.by ** 3 * side.skew.deviation));
  const own = confidenceInterval(of(0), errors.length + 1, laplace)!;
  const both = shifted(
    confidenceInterval(of(sampling), errors.length + 1, laplace, extraDeviations(short, all))!,
    skewShifts({ third, deviation: noiseDeviation }, all),
  );
  const clip = (x: number) => Math.min(within[1], Math.max(within[0], x));
  const ends = ({ low, high }: Ends) => ({
    low: middle + (low === null ? within[0] : clip(low)),
    high: middle + (high === null ? within[1] : clip(high)),
  });
  return {
    value: middle + clip(own.value),
    standardError: Math.hypot(...errors.map(({ wider }, k) => start.slopes[k]! / wider)),
    ...ends(own),
    withSampling: { ...ends(both), standardError: sampling },
  };
}

interface Ends {
  readonly low: number | null;
  readonly high: number | null;
}
const shifted = ({ low, high }: Ends, by: { readonly low: number; readonly high: number }): Ends => ({
  low: low === null ? null : low + by.low,
  high: high === null ? null : high + by.high,
});
