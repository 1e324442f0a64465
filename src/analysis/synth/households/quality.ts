import type { NoisyMarginal } from '../../graphical/fit.js';
import type { CodedTable } from '../../learn/network/coded.js';
import type { DrawnHouseholds } from './draw.js';
import type { Household } from './measure-pairs.js';

/** Share of member pairs with equal answers, in the measurements and in the synthetic rows. */
export interface PartnerQuality {
  readonly column: string;
  /** Share of the pairs, and the standard deviation of its noise. */
  readonly measured: number;
  readonly sd: number;
  readonly synthetic: number;
  /** Expected share for two people drawn independently, from households of the same size. */
  readonly strangers: number;
}

/** Agreement in every column with a measured table of two members; the table with the least noise is used. */
export function partnerQuality(
  drawn: DrawnHouseholds,
  { own, distances }: Household,
  { names, levels: sizes }: Pick<CodedTable, 'names' | 'levels'>,
  measured: readonly NoisyMarginal[],
): readonly PartnerQuality[] {
  const best = new Map<number, { readonly measured: number; readonly sd: number }>();
  for (const { columns, counts, sd } of measured) {
    const [x = 0, y] = columns.slice(-2) as [number, number];
    const far = distances[columns.at(-1)! - 1 - 2 * own.length];
    if (!far && x + own.length !== y) continue;
    const column = own[far ? far.of : x - 1]!;
    const width = sizes[column]!;
    let [same, all, cells] = [0, 0, 0];
    for (let cell = 0; cell < counts.length; cell++) {
      all += counts[cell]!;
      if (far ? cell % far.places !== 0 : Math.floor(cell / width) % width !== cell % width) continue;
      same += counts[cell]!;
      cells++;
    }
    if (!(all > 0)) continue;
    const noise = (sd * Math.sqrt(cells)) / all;
    const known = best.get(column);
    if (!known || noise < known.sd) best.set(column, { measured: same / all, sd: noise });
  }
  return [...best].map(([column, pairEstimate]) => ({
    column: names[column]!,
    ...pairEstimate,
    ...agreement(drawn, column, sizes[column]!),
  }));
}

/** Pairs of a household have a total weight of floor(members / 2), as if members were paired once. */
function agreement({ columns, homes }: DrawnHouseholds, column: number, width: number): { synthetic: number; strangers: number } {
  const values = columns[column]!;
  let [same, all] = [0, 0];
  const people = new Float64Array(width);
  for (let from = 0; from < homes.length; ) {
    let to = from;
    const here = new Float64Array(width);
    while (to < homes.length && homes[to] === homes[from]) here[values[to++]!]!++;
    const n = to - from;
    const step = n > 1 ? Math.floor(n / 2) / (n * (n - 1)) : 0;
    for (let v = 0; v < width; v++) {
      same += step * here[v]! * (here[v]! - 1);
      if (n > 1) people[v]! += (here[v]! * Math.floor(n / 2)) / n;
    }
    all += step * n * (n - 1);
    from = to;
  }
  const strangers = people.reduce((sum, p) => sum + (p / all) ** 2, 0);
  return all > 0 ? { synthetic: same / all, strangers } : { synthetic: 0, strangers: 0 };
}
