import { Fault } from '../../base/errors.js';
import { missingLabel } from '../../policy/code.js';
import { placesWithout } from '../../privacy/mechanism/residual/layout.js';
import { type AxisGrid, groupQueries, sumQueries } from './axes.js';
import { centre } from './estimate.js';
import type { AxisView, LinearQuery } from './linear-query.js';

/** Ranges of an ordered column: all intervals, prefixes, or those named by their first and last value. */
export type Ranges = 'all' | 'prefixes' | readonly (readonly [first: string | number, last: string | number])[];

const maxOrdered = 256;

/** First and last place of every requested range, among values that are answers. */
export function spansOf(column: string, labels: readonly string[], ranges: Ranges): readonly (readonly [number, number])[] {
  const n = labels.filter((label) => label !== missingLabel).length;
  if (n > maxOrdered || n === 0)
    throw new Fault(
      'QUERY_INVALID',
      `ranges.${column}: the column has ${n} values in order; ranges are released for 1 to ${maxOrdered}.`,
      'Declare wider bins in the policy.',
    );
  const places = Array.from({ length: n }, (_, k) => k);
  if (ranges === 'prefixes') return places.map((last) => [0, last] as const);
  if (ranges === 'all') return places.flatMap((first) => places.slice(first).map((last) => [first, last] as const));
  return ranges.map(([first, last]) => {
    const [from, to] = [labels.indexOf(String(first)), labels.indexOf(String(last))];
    if (from < 0 || to < from || to >= n)
      throw new Fault(
        'QUERY_INVALID',
        `ranges.${column}: a range goes from a value that its tables show to the same or a later one.`,
        `Write two of the values as tables of the column show them, for example ["${labels[0]}", "${labels[n - 1]}"].`,
      );
    return [from, to] as const;
  });
}

const rangeEnds = (label: string): readonly [string, string] => {
  const [first, last] = label.split(' to ');
  return [first!, last ?? first!];
};
/** "17 to 24" up to "65 to 90" is "17 to 90". */
const spanLabel = (from: string, to: string): string => (from === to ? from : `${rangeEnds(from)[0]} to ${rangeEnds(to)[1]}`);

/** Requested ranges: each is the sum of its values, in any order of axes. */
export function rangesView(
  name: string,
  labels: readonly string[],
  grid: AxisGrid,
  spans: readonly (readonly [number, number])[],
): AxisView {
  const single = groupQueries(grid, grid.sizes.length);
  const values = labels.map((_, k) => single.get(grid.at[k]!)!);
  return {
    name,
    labels: spans.map(([from, to]) => spanLabel(labels[from]!, labels[to]!)),
    sizes: grid.sizes,
    questions: spans.map(([from, to]): LinearQuery => sumQueries(values.slice(from, to + 1))),
  };
}

const widths = [2, 3, 4, 5, 6, 8, 10, 12, 16];
/** Candidate layouts: one axis, or two or three digits, of which adjacent values share the first. */
function layouts(n: number): readonly (readonly number[])[] {
  const two = widths.filter((b) => b < n).map((b) => [Math.ceil(n / b), b]);
  const three = two.flatMap(([a, b]) => widths.filter((c) => c < a!).map((c) => [Math.ceil(a! / c), c, b!]));
  return [[n], ...two, ...three];
}

/**
 * Axes with the least error for one column's queries under add-or-remove (levels.proof.md). A choice only: costs and errors are
 * computed for whatever was chosen. `spans`: all requested ranges, single values included if requested.
 */
export function gridFor(n: number, spans: readonly (readonly [number, number])[]): AxisGrid {
  const jointCounts = gram(n, spans);
  const at = Array.from({ length: n }, (_, k) => k);
  let best: { readonly sizes: readonly number[]; readonly error: number } | undefined;
  for (const sizes of layouts(n)) {
    const error = errorWith({ sizes, at }, jointCounts);
    if (!best || error < 0.995 * best.error) best = { sizes, error };
  }
  return { sizes: best!.sizes, at };
}

/** Number of ranges that hold both of two values. */
function gram(n: number, spans: readonly (readonly [number, number])[]): Float64Array {
  const out = new Float64Array((n + 1) * (n + 1));
  // A square of ones for every range, by its corners.
  for (const [from, to] of spans) {
    out[from * (n + 1) + from]! += 1;
    out[from * (n + 1) + to + 1]! -= 1;
    out[(to + 1) * (n + 1) + from]! -= 1;
    out[(to + 1) * (n + 1) + to + 1]! += 1;
  }
  for (let i = 0; i <= n; i++) for (let j = 1; j <= n; j++) out[i * (n + 1) + j]! += out[i * (n + 1) + j - 1]!;
  for (let i = 1; i <= n; i++) for (let j = 0; j <= n; j++) out[i * (n + 1) + j]! += out[(i - 1) * (n + 1) + j]!;
  return Float64Array.from({ length: n * n }, (_, k) => out[Math.floor(k / n) * (n + 1) + (k % n)]!);
}

/** The squared sum over sets of axes of the root of cost times weight. */
function errorWith(grid: AxisGrid, jointCounts: Float64Array): number {
  const { sizes, at } = grid;
  const n = at.length;
  const single = groupQueries(grid, sizes.length);
  const whole = sizes.reduce((x, m) => x * m, 1);
  let sum = 0;
  for (let set = 0; set < 1 << sizes.length; set++) {
    const own = sizes.filter((_, k) => (set >> k) & 1);
    const { at: place, cells: kept } = placesWithout(sizes, (1 << sizes.length) - 1 - set);
    const values = at.map((cell) => {
      const { cells, shares } = single.get(cell)!;
      return { cells: cells.map((to) => place[to]!), shares };
    });
    // Rows of the Gram matrix in the kept axes, centred, and then its trace.
    const rows = new Float64Array(kept * n);
    for (const [v, { cells, shares }] of values.entries())
      for (const [k, cell] of cells.entries())
        for (let w = 0; w < n; w++) rows[cell * n + w]! += shares[k]! * jointCounts[v * n + w]!;
    centre(rows, own, n);
    let trace = 0;
    for (const [w, { cells, shares }] of values.entries())
      for (const [k, cell] of cells.entries()) trace += shares[k]! * rows[cell * n + w]!;
    const cost = own.reduce((x, m) => x * (1 - 1 / m), 1);
    sum += Math.sqrt(Math.max(0, (cost * trace) / (whole / kept) ** 2));
  }
  return sum ** 2;
}
