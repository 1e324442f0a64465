import { type Change, effectOf } from '../mechanism/residual/move.js';
import { cellsOf, type Layout, type Part } from '../mechanism/residual/part.js';
import { integerRoot } from '../noise/discrete-gaussian.js';
import { closureOf, maximalOf, subsets } from './closure.js';
import { cellVariance, variancesOf } from './estimate.js';
import type { Workload } from './form.js';
import { precisions, type Weighed } from './optimal.js';

type Asked = Pick<Workload, 'sizes' | 'tables'>;

/** The tables and all that they say, each without what smaller ones say, with the scales that leave least error over all that is asked. */
export function residualLayout({ sizes, tables }: Asked, change: Extract<Change, string>): Layout {
  const weighed = weighedClosure({ sizes, tables }).filter(({ axes }) => change === 'removed' || axes.length > 0);
  const c = precisions(sizes, weighed, change);
  const parts = scaled(sizes, weighed, Float64Array.from(c, Math.sqrt), true);
  return change === 'removed' ? { sizes, parts } : { sizes, parts: [numberOfRows(sizes, parts), ...parts] };
}

/**
 * Whoever is replaced leaves the number of rows as it is; whoever comes or goes moves every table by less. What is left of the cost of replacing goes to the
 * number of rows, at no price (optimal.proof.md).
 */
function numberOfRows(sizes: readonly number[], parts: readonly Part[]): Part {
  const left = effectOf({ sizes, parts }, 'replaced').l2squared - effectOf({ sizes, parts }, 'removed').l2squared;
  const scale = integerRoot(left > 0n ? left : 0n);
  return { axes: [], scale: scale > 0n ? scale : 1n, centred: true };
}

/** How much a unit of variance of every centred table adds to the weighted sum of the variances of all cells asked for. */
function weighedClosure({ sizes, tables }: Asked): readonly Weighed[] {
  const weights = new Map<string, number>();
  for (const { axes, weight } of tables)
    for (const inner of subsets(axes)) {
      const held = new Set(inner);
      const part = axes.reduce((x, axis) => x * (held.has(axis) ? sizes[axis]! - 1 : 1 / sizes[axis]!), weight);
      weights.set(inner.join(), (weights.get(inner.join()) ?? 0) + part);
    }
  // An axis of one place says nothing by itself.
  return closureOf(tables.map(({ axes }) => axes))
    .map((axes) => ({ axes, weight: weights.get(axes.join())! }))
    .filter(({ weight }) => weight > 0);
}

/** Noise on every table that no other says, by itself; the smaller ones are read off them. */
export function plainLayout({ sizes, tables }: Asked, noise: 'pure' | 'zcdp'): Layout {
  const maximal = maximalOf(tables.map(({ axes }) => axes));
  const weights = new Map<string, number>();
  for (const { axes, weight } of tables) weights.set(axes.join(), weight);
  const weighed = maximal.map((axes) => ({ axes, weight: weights.get(axes.join())! * cellsOf(sizes, { axes }) }));
  const root = noise === 'pure' ? Math.cbrt : (x: number) => Math.sqrt(Math.sqrt(x));
  return {
    sizes,
    parts: scaled(
      sizes,
      weighed,
      Float64Array.from(weighed, ({ weight }) => root(weight)),
      false,
    ),
  };
}

/** How many times a scale is larger than what is rounded off beside it: what rounding adds to an effect goes with the square. */
const fineness = 16;

/** Whole scales in proportion to these numbers, fine enough that rounding costs nothing worth telling. */
function scaled(sizes: readonly number[], tables: readonly Weighed[], wanted: Float64Array, centred: boolean): readonly Part[] {
  const alike = wanted.every((x) => x === wanted[0]);
  const needed = tables.map(({ axes }) => {
    if (!centred) return alike ? 1 : fineness;
    const rounded = subsets(axes).reduce(
      (sum, set) => sum + (set.length > 0 ? Math.sqrt(cellsOf(sizes, { axes: set })) / 2 : 0),
      0,
    );
    return fineness * Math.max(24, rounded);
  });
  const unit = Math.max(...needed.map((n, k) => n / wanted[k]!));
  return tables.map(({ axes }, k) => ({ axes, scale: BigInt(Math.max(1, Math.round(unit * wanted[k]!))), centred }));
}

/** The largest of the weighted variances of a cell, for noise of variance 1; before anything is drawn. */
export function largestErrorOf({ sizes, tables }: Asked, layout: Layout): number {
  const variances = variancesOf(layout);
  return tables.reduce((most, { axes, weight }) => Math.max(most, weight * cellVariance(sizes, axes, variances)), 0);
}

/** The weighted sum of the variances of all cells that are asked for, for noise of variance 1; before anything is drawn. */
export function errorOf({ sizes, tables }: Asked, layout: Layout): number {
  const variances = variancesOf(layout);
  return tables.reduce(
    (sum, { axes, weight }) => sum + weight * cellsOf(sizes, { axes }) * cellVariance(sizes, axes, variances),
    0,
  );
}
