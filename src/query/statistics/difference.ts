import type { NoisyMeasure } from '../bound.js';
import { normalTails } from './chi-square.js';
import { combined, type Group, nothing, type Row, type Side, sideOf } from './group-means.js';
import { deviations } from './reach.js';

/** Ratio of the sampling variance to that of a simple random sample: of one group with its share of a cluster, and of the difference. */
interface Factors {
  readonly one: (people: number, part: number) => number;
  readonly apart: (people: number) => number;
}

/** Both means, their difference, and the p-value of the difference. */
export function difference(
  groups: readonly [Group, Group],
  noisy: readonly NoisyMeasure[],
  { one, apart: between }: Factors,
): readonly Row[] {
  const sides = groups.map((group) => sideOf(group, noisy, between));
  const [first, second] = sides;
  const all = (first?.count ?? 0) + (second?.count ?? 0);
  const rows = groups.map((group) => {
    const own = sideOf(group, noisy, (people) => one(people, people / all), 1);
    return combined([own], [1], group.middle, group.within);
  });
  if (!first || !second) return [...rows, nothing, nothing].map((row) => row ?? nothing);
  const apart = combined(sides, [1, -1], 0, [
    groups[0].within[0] - groups[1].within[1],
    groups[0].within[1] - groups[1].within[0],
  ]);
  return [...rows, apart, { ...nothing, value: chanceOf(first, second) }];
}

/** p-value under equal means, which are then the pooled mean, with noise and sampling as they would be. */
function chanceOf(a: Side, b: Side): number {
  const pooled = (a.sum + b.sum) / (a.count + b.count);
  const errors = [a, b].flatMap((side) =>
    side.errors.map((e) => ({ ...e, slope: (e.deviation * (e.sum - e.count * pooled)) / side.count })),
  );
  const slopes = Float64Array.from([...errors.map(({ slope }) => slope), Math.sqrt(a.sampling + b.sampling)]);
  const strays = Math.hypot(...slopes);
  const apart = Math.abs(a.mean - b.mean);
  if (strays === 0) return apart === 0 ? 1 : 0;
  return normalTails(((apart / strays) * 1.959964) / deviations(slopes, (k) => errors[k]?.laplace === true));
}
