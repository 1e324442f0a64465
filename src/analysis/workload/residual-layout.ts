import { type LayoutPart, partCells, type ResidualLayout } from '../../privacy/mechanism/residual/layout.js';
import { layoutSensitivity, type RowChange } from '../../privacy/mechanism/residual/row-sensitivity.js';
import { integerRoot } from '../../privacy/noise/discrete-gaussian.js';
import { downwardClosure, maximalSets, subsets } from './closure.js';
import { cellVariance, variancesOf } from './estimate.js';
import type { RequestedTable } from './form.js';
import { classesOf, products, variancesIn } from './linear-query.js';
import { optimalPrecisions, type WeightedMarginal } from './optimal.js';

interface WorkloadTables {
  readonly sizes: readonly number[];
  readonly tables: readonly RequestedTable[];
  /** Axes whose table is public: their errors do not count. */
  readonly known?: readonly number[];
}
/** True if the table over these axes follows from a public one. */
export const isKnown = (axes: readonly number[], known: readonly number[] = []): boolean =>
  known.length > 0 && axes.every((axis) => known.includes(axis));

export const numberOfAnswers = (sizes: readonly number[], { axes, views }: RequestedTable): number =>
  views ? views.reduce((n, { view }) => n * view.labels.length, 1) : partCells(sizes, { axes });

/** Sum over all answers of a table of the variance that one unit of variance of each centred table inside it adds. */
export function varianceTerms(
  sizes: readonly number[],
  { axes, views }: RequestedTable,
): readonly { readonly axes: readonly number[]; readonly times: number }[] {
  if (views?.some(({ view }) => view.questions)) return products(views, ({ view }) => classesOf(view).total);
  return subsets(axes).map((inner) => {
    const held = new Set(inner);
    return { axes: inner, times: axes.reduce((x, axis) => x * (held.has(axis) ? sizes[axis]! - 1 : 1 / sizes[axis]!), 1) };
  });
}

/** The tables and all their marginals as centred tables, with the scales of least error over all requested answers. */
export function residualLayout(
  { sizes, tables, known = [] }: WorkloadTables,
  change: Extract<RowChange, string>,
): ResidualLayout {
  const weighed = weighedClosure({ sizes, tables, known }).filter(({ axes }) => change === 'removed' || axes.length > 0);
  const c = optimalPrecisions(sizes, weighed, change);
  const parts = wholeScales(sizes, weighed, Float64Array.from(c, Math.sqrt), true);
  return change === 'removed' ? { sizes, parts } : { sizes, parts: [rowCountPart(sizes, parts), ...parts] };
}

/**
 * The number of rows, measured with the rest of the cost of replacement, at no price: replacing a record keeps the number, adding or
 * removing one moves every table by less (optimal.proof.md).
 */
function rowCountPart(sizes: readonly number[], parts: readonly LayoutPart[]): LayoutPart {
  const left =
    layoutSensitivity({ sizes, parts }, 'replaced').l2squared - layoutSensitivity({ sizes, parts }, 'removed').l2squared;
  const scale = integerRoot(left > 0n ? left : 0n);
  return { axes: [], scale: scale > 0n ? scale : 1n, centred: true };
}

/** Weight of every centred table: what one unit of its variance adds to the weighted variance of all requested cells. */
function weighedClosure({ sizes, tables, known }: WorkloadTables): readonly WeightedMarginal[] {
  const weights = new Map<string, number>();
  for (const table of tables)
    for (const { axes, times } of varianceTerms(sizes, table)) {
      const text = axes.join();
      weights.set(text, (weights.get(text) ?? 0) + table.weight * times);
    }
  // Tables that no answer depends on are still measured, at almost no cost, so that every table can be derived whole.
  const least = 1e-8 * [...weights.values()].reduce((a, b) => Math.max(a, b), 0);
  return downwardClosure(tables.map(({ axes }) => axes)).map((axes) => ({
    axes,
    weight: isKnown(axes, known) ? least : Math.max(least, weights.get(axes.join()) ?? 0),
  }));
}

/** Independent noise on every maximal table; its marginals are derived from it. */
export function plainLayout({ sizes, tables }: WorkloadTables, noise: 'pure' | 'zcdp'): ResidualLayout {
  const maximal = maximalSets(tables.map(({ axes }) => axes));
  const weights = new Map<string, number>();
  for (const table of tables) {
    const text = table.axes.join();
    weights.set(text, (weights.get(text) ?? 0) + table.weight * numberOfAnswers(sizes, table));
  }
  const weighed = maximal.map((axes) => ({ axes, weight: weights.get(axes.join())! }));
  const root = noise === 'pure' ? Math.cbrt : (x: number) => Math.sqrt(Math.sqrt(x));
  return {
    sizes,
    parts: wholeScales(
      sizes,
      weighed,
      Float64Array.from(weighed, ({ weight }) => root(weight)),
      false,
    ),
  };
}

/** Ratio of a scale to its rounding error; rounding adds to the sensitivity by the inverse square of it. */
const fineness = 16;

/** Whole scales proportional to these numbers, fine enough that the cost of rounding is negligible. */
function wholeScales(
  sizes: readonly number[],
  tables: readonly WeightedMarginal[],
  wanted: Float64Array,
  centred: boolean,
): readonly LayoutPart[] {
  const alike = wanted.every((x) => x === wanted[0]);
  const needed = tables.map(({ axes }) => {
    if (!centred) return alike ? 1 : fineness;
    const rounded = subsets(axes).reduce(
      (sum, set) => sum + (set.length > 0 ? Math.sqrt(partCells(sizes, { axes: set })) / 2 : 0),
      0,
    );
    return fineness * Math.max(24, rounded);
  });
  const unit = Math.max(...needed.map((n, k) => n / wanted[k]!));
  return tables.map(({ axes }, k) => ({ axes, scale: BigInt(Math.max(1, Math.round(unit * wanted[k]!))), centred }));
}

/** Variances of all centred tables, zero for public ones. */
export function variancesGivenKnown(layout: ResidualLayout, known: readonly number[] = []): ReadonlyMap<string, number> {
  return variancesOf(layout, (axes) => isKnown(axes, known));
}

/** The largest weighted variance of an answer for noise of variance 1, before anything is drawn. */
export function largestVariance({ sizes, tables, known }: WorkloadTables, layout: ResidualLayout): number {
  const variances = variancesGivenKnown(layout, known);
  return tables.reduce((most, { axes, weight, views }) => {
    const worst = views?.some(({ view }) => view.questions)
      ? variancesIn(views, (text) => variances.get(text)!).reduce((a, b) => Math.max(a, b), 0)
      : cellVariance(sizes, axes, variances);
    return Math.max(most, weight * worst);
  }, 0);
}

/** Weighted sum of the variances of all requested answers for noise of variance 1, before anything is drawn. */
export function weightedVariance({ sizes, tables, known }: WorkloadTables, layout: ResidualLayout): number {
  const variances = variancesGivenKnown(layout, known);
  return tables.reduce(
    (sum, table) =>
      sum +
      table.weight *
        varianceTerms(sizes, table).reduce(
          (own, { axes, times }) => (times > 0 ? own + times * variances.get(axes.join())! : own),
          0,
        ),
    0,
  );
}
