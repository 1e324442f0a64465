import type { NoisyMeasure } from '../bound.js';
import { normalTails } from './chi-square.js';
import { combined, type Group, nothing, type Row, type Side, sideOf } from './group-means.js';
import { deviations } from './reach.js';

/** Both means, the first less the second, and how likely so large a difference is where there is none. */
export function difference(
  groups: readonly [Group, Group],
  noisy: readonly NoisyMeasure[],
  factor: (people: number) => number,
): readonly Row[] {
  const sides = groups.map((group) => sideOf(group, noisy, factor));
  const [first, second] = sides;
  const rows = sides.map((side, k) => combined([side], [1], groups[k]!.middle, groups[k]!.within));
  if (!first || !second) return [...rows, nothing, nothing].map((row) => row ?? nothing);
  const apart = combined(sides, [1, -1], 0, [
    groups[0].within[0] - groups[1].within[1],
    groups[0].within[1] - groups[1].within[0],
  ]);
  return [...rows, apart, { ...nothing, value: chanceOf(first, second) }];
}

/** Where both means are the same, they are that of all rows together: noise and sampling as they would be then. */
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
