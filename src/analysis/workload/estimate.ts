import { type LayoutPart, partCells, placesWithout, type ResidualLayout } from '../../privacy/mechanism/residual/layout.js';
import { subsets } from './closure.js';

/** Best linear estimate from noisy parts: a centred table for each set of axes, and the variance of its noise before centring. */
export interface TableEstimate {
  readonly sizes: readonly number[];
  readonly by: ReadonlyMap<string, CentredTable>;
}
interface CentredTable {
  readonly axes: readonly number[];
  readonly values: Float64Array;
  readonly variance: number;
}

/** The cell of the marginal over `kept` to which each cell of the table over `axes` belongs. */
export const marginPlaces = (sizes: readonly number[], axes: readonly number[], kept: readonly number[]) =>
  placesWithout(
    axes.map((axis) => sizes[axis]!),
    axes.reduce((set, axis, k) => (kept.includes(axis) ? set : set | (1 << k)), 0),
  );

/** The estimate with another variance for some of its centred tables. */
export const withVariance = ({ sizes, by }: TableEstimate, of: (table: CentredTable) => number): TableEstimate => ({
  sizes,
  by: new Map([...by].map(([text, table]) => [text, { ...table, variance: of(table) }])),
});

/** Parts that contribute to each centred table, with their variances for noise of variance 1 on every number. */
function contributingParts({ sizes, parts }: ResidualLayout) {
  const found = new Map<string, { axes: readonly number[]; from: { part: number; variance: number }[] }>();
  for (const [k, part] of parts.entries())
    for (const axes of part.centred ? [part.axes] : subsets(part.axes)) {
      const text = axes.join();
      const entry = found.get(text) ?? { axes, from: [] };
      found.set(text, entry);
      entry.from.push({ part: k, variance: partCells(sizes, part) / partCells(sizes, { axes }) / Number(part.scale) ** 2 });
    }
  return found;
}
const pooledVariance = (list: readonly { readonly variance: number }[]): number =>
  1 / list.reduce((sum, { variance }) => sum + 1 / variance, 0);

/** Variances of all centred tables of a layout, for noise of variance 1; zero for those that are exact. */
export const variancesOf = (
  layout: ResidualLayout,
  isExact: (axes: readonly number[]) => boolean = () => false,
): ReadonlyMap<string, number> =>
  new Map([...contributingParts(layout)].map(([text, { axes, from }]) => [text, isExact(axes) ? 0 : pooledVariance(from)]));

/** Variance of one cell of a table, from the variances of the centred ones inside it. */
export function cellVariance(sizes: readonly number[], axes: readonly number[], variances: ReadonlyMap<string, number>): number {
  return subsets(axes).reduce((sum, inner) => {
    const held = new Set(inner);
    const part = axes.reduce((x, axis) => x * (held.has(axis) ? 1 - 1 / sizes[axis]! : 1 / sizes[axis]! ** 2), 1);
    return sum + variances.get(inner.join())! * part;
  }, 0);
}

/** The best estimate from all parts (estimate.proof.md), given their noisy numbers and the variance of each. */
export function combineParts(
  layout: ResidualLayout,
  noisyNumbers: readonly (readonly number[])[],
  variance: number,
): TableEstimate {
  const readings = layout.parts.map((part, k) => ({ part, numbers: noisyNumbers[k]!, variance: variance || 1 }));
  const { estimate } = combineReadings(layout.sizes, readings);
  return variance > 0 ? estimate : withVariance(estimate, () => 0);
}

/** Discrepancy of repeated measurements: the sum of squares in units of their noise, and the degrees of freedom. */
export interface Discrepancy {
  readonly squares: number;
  readonly freedom: number;
}

/** The noisy numbers of a part, and the variance of each. */
export interface PartReading {
  readonly part: LayoutPart;
  readonly numbers: readonly number[];
  readonly variance: number;
}

/** The same for parts whose noise differs, with each part's agreement with the others (recorded-parts.proof.md). */
export function combineReadings(
  sizes: readonly number[],
  recorded: readonly PartReading[],
): { readonly estimate: TableEstimate; readonly discrepancies: readonly Discrepancy[] } {
  const parts = recorded.map(({ part }) => part);
  const by = new Map<string, CentredTable>();
  const discrepancies = parts.map(() => ({ squares: 0, freedom: 0 }));
  for (const [text, { axes, from }] of contributingParts({ sizes, parts })) {
    const own = axes.map((axis) => sizes[axis]!);
    const noisy = from.map(({ part, variance }) => ({ part, variance: variance * recorded[part]!.variance }));
    const all = pooledVariance(noisy);
    const values = new Float64Array(partCells(sizes, { axes }));
    const readings = noisy.map(({ part: k, variance }) => {
      const part = parts[k]!;
      const { at } = marginPlaces(sizes, part.axes, axes);
      const reading = new Float64Array(values.length);
      const { numbers } = recorded[k]!;
      const scale = Number(part.scale);
      for (let cell = 0; cell < at.length; cell++) reading[at[cell]!]! += numbers[cell]! / scale;
      const share = all / variance;
      for (let cell = 0; cell < values.length; cell++) values[cell]! += share * reading[cell]!;
      return reading;
    });
    centre(values, own);
    by.set(text, { axes, values, variance: all });
    if (noisy.length < 2) continue;
    const freedom = own.reduce((n, m) => n * (m - 1), 1);
    for (const [r, { part, variance }] of noisy.entries()) {
      const reading = readings[r]!;
      centre(reading, own);
      // A measurement minus the mean of all has its variance less the mean's; the degrees of freedom are one fewer than the measurements.
      const squares = reading.reduce((sum, x, cell) => sum + (x - values[cell]!) ** 2, 0) / variance;
      discrepancies[part]!.squares += squares;
      discrepancies[part]!.freedom += (1 - all / variance) * freedom;
    }
  }
  return { estimate: { sizes, by }, discrepancies };
}

/** Subtracts the mean along every axis; with vectors as cells, for each component. */
export function centre(values: Float64Array, own: readonly number[], each = 1): void {
  let inner = each;
  for (let k = own.length - 1; k >= 0; k--) {
    const m = own[k]!;
    const block = inner * m;
    for (let from = 0; from < values.length; from += block)
      for (let i = from; i < from + inner; i++) {
        let sum = 0;
        for (let p = 0; p < m; p++) sum += values[i + p * inner]!;
        for (let p = 0; p < m; p++) values[i + p * inner]! -= sum / m;
      }
    inner = block;
  }
}

/** A table of the estimate; all tables agree with one another. Its size is its own, whatever else was requested. */
export function tableFrom({ sizes, by }: TableEstimate, axes: readonly number[]): Float64Array {
  const own = axes.map((axis) => sizes[axis]!);
  const out = new Float64Array(own.reduce((n, m) => n * m, 1));
  for (let set = 0; set < 1 << axes.length; set++) {
    const inner = axes.filter((_, k) => !((set >> k) & 1));
    const { values } = by.get(inner.join())!;
    const { at } = placesWithout(own, set);
    const spread = own.reduce((n, m, k) => ((set >> k) & 1 ? n * m : n), 1);
    for (let cell = 0; cell < out.length; cell++) out[cell]! += values[at[cell]!]! / spread;
  }
  return out;
}
