import { type AnswerValues, noAnswer, normalQuantile } from '../answer.js';
import type { NoisyMeasure } from '../bound.js';
import { normalTails } from './chi-square.js';
import { criticalValue } from './confidence-interval.js';
import { combineMeans, type GroupMean, type GroupTerms, groupMean } from './group-means.js';

/** Ratio of the sampling variance to that of a simple random sample: of one group with its share of a cluster, and of the difference. */
interface VarianceFactors {
  readonly one: (people: number, part: number) => number;
  readonly difference: (people: number) => number;
}

/** Both means, their difference, and the p-value of the difference. */
export function meanDifference(
  groups: readonly [GroupTerms, GroupTerms],
  noisy: readonly NoisyMeasure[],
  { one, difference: between }: VarianceFactors,
): readonly AnswerValues[] {
  const sides = groups.map((group) => groupMean(group, noisy, between));
  const [first, second] = sides;
  const all = (first?.count ?? 0) + (second?.count ?? 0);
  const rows = groups.map((group) => {
    const own = groupMean(group, noisy, (people) => one(people, people / all), 1);
    return combineMeans([own], [1], group.middle, group.within);
  });
  if (!first || !second) return [...rows, noAnswer, noAnswer].map((row) => row ?? noAnswer);
  const gap = combineMeans(sides, [1, -1], 0, [
    groups[0].within[0] - groups[1].within[1],
    groups[0].within[1] - groups[1].within[0],
  ]);
  return [...rows, gap, { ...noAnswer, value: differencePValue(first, second) }];
}

/** p-value under equal means, which are then the pooled mean, with noise and sampling as they would be. */
function differencePValue(a: GroupMean, b: GroupMean): number {
  const pooled = (a.sum + b.sum) / (a.count + b.count);
  const errors = [a, b].flatMap((side) =>
    side.errors.map((e) => ({ ...e, slope: (e.deviation * (e.sum - e.count * pooled)) / side.count })),
  );
  const slopes = Float64Array.from([...errors.map(({ slope }) => slope), Math.sqrt(a.sampling + b.sampling)]);
  const deviation = Math.hypot(...slopes);
  const gap = Math.abs(a.mean - b.mean);
  if (deviation === 0) return gap === 0 ? 1 : 0;
  return normalTails(((gap / deviation) * normalQuantile) / criticalValue(slopes, (k) => errors[k]?.laplace === true));
}
