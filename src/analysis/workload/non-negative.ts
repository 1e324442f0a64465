import { maximalSets, subsets } from './closure.js';
import { centre, marginPlaces, type TableEstimate } from './estimate.js';

/** Most by which a cell may stay below zero, in standard errors of the finest tables; and the most rounds tried. */
export const negativeTolerance = 0.002;
const maxRounds = 400;

/** A centred table of the estimate during the projection. */
interface Margin {
  readonly axes: readonly number[];
  /** Kept as it is. */
  readonly fixed: boolean;
  readonly noisy: Float64Array;
  readonly variance: number;
  readonly now: Float64Array;
  /** Weight of the penalties of all tables that it is a part of. */
  weight: number;
}

/** A maximal table during the projection: its cells, and the pull of the penalty on each. */
interface PenalisedTable {
  /** The centred tables inside it, the place of each of its cells in them, and the share of a cell in theirs. */
  readonly inner: readonly { readonly margin: Margin; readonly at: Int32Array; readonly part: number }[];
  readonly sum: Float64Array;
  readonly pull: Float64Array;
  readonly was: Float64Array;
}

/**
 * Projection of a noisy estimate onto consistent tables without relevant negative cells, in units of noise; `rows`, if given, is
 * kept. If `rows` is exact the truth is in that set, and the result is nearer to it (non-negative.proof.md).
 */
export function nonNegative(estimate: TableEstimate, tables: readonly (readonly number[])[], rows?: number): TableEstimate {
  const { sizes, by } = estimate;
  const maximal = maximalSets(tables);
  const finest = Math.max(...maximal.map((axes) => by.get(axes.join())!.variance));
  if (finest === 0) return estimate;
  const margins = new Map(
    [...by].map(([text, { axes, values, variance }]): [string, Margin] => {
      const fixed = rows !== undefined && text === '';
      const noisy = fixed ? Float64Array.of(rows) : values;
      return [text, { axes, fixed, noisy, variance, now: Float64Array.from(noisy), weight: 0 }];
    }),
  );
  // Any penalty parameter converges to the same point; this one takes few rounds.
  const force = 2 / finest;
  const all = penalisedTables(sizes, maximal, margins);
  for (const { inner } of all) for (const { margin, part } of inner) margin.weight += force * part;
  const close = negativeTolerance * Math.sqrt(finest);
  let { lowest, moved } = spread(all);
  for (let round = 0; round < maxRounds && (lowest < -close || (round > 0 && moved > close / 4)); round++) {
    pullMargins(margins.values(), all, force);
    for (const { axes, fixed, now, noisy, variance, weight } of margins.values()) {
      if (fixed) {
        now.set(noisy);
        continue;
      }
      centre(
        now,
        axes.map((axis) => sizes[axis]!),
      );
      for (let i = 0; i < now.length; i++) now[i]! /= 1 / variance + weight;
    }
    ({ lowest, moved } = spread(all));
  }
  return { sizes, by: new Map([...margins].map(([text, { axes, now, variance }]) => [text, { axes, values: now, variance }])) };
}

/** Tables of the same sizes share their places. */
function penalisedTables(sizes: readonly number[], tables: readonly (readonly number[])[], margins: ReadonlyMap<string, Margin>) {
  const known = new Map<string, ReturnType<typeof marginPlaces>>();
  return tables.map((axes): PenalisedTable => {
    const size = axes.reduce((n, axis) => n * sizes[axis]!, 1);
    const inner = subsets(axes).map((kept) => {
      const text = axes.map((axis) => (kept.includes(axis) ? sizes[axis]! : -sizes[axis]!)).join();
      const places = known.get(text) ?? marginPlaces(sizes, axes, kept);
      known.set(text, places);
      return { margin: margins.get(kept.join())!, at: places.at, part: places.cells / size };
    });
    return { inner, sum: new Float64Array(size), pull: new Float64Array(size), was: new Float64Array(size) };
  });
}

/** The noisy tables and the pulls of all penalties, each in units of its variance. */
function pullMargins(margins: Iterable<Margin>, all: readonly PenalisedTable[], force: number): void {
  for (const { now, noisy, variance } of margins) for (let i = 0; i < now.length; i++) now[i] = noisy[i]! / variance;
  for (const { inner, sum, pull } of all) {
    for (let i = 0; i < sum.length; i++) {
      const lifted = sum[i]! + pull[i]!;
      pull[i] = Math.min(0, lifted);
      sum[i] = force * Math.abs(lifted);
    }
    for (const { margin, at, part } of inner) for (let i = 0; i < at.length; i++) margin.now[at[i]!]! += part * sum[i]!;
  }
}

/** Recomputes every table from the centred tables: the lowest cell of all, and the largest move since the last time. */
function spread(all: readonly PenalisedTable[]): { readonly lowest: number; readonly moved: number } {
  let [lowest, moved] = [Number.POSITIVE_INFINITY, 0];
  for (const { inner, sum, was } of all) {
    sum.fill(0);
    for (const { margin, at, part } of inner) for (let i = 0; i < at.length; i++) sum[i]! += part * margin.now[at[i]!]!;
    for (let i = 0; i < sum.length; i++) {
      lowest = Math.min(lowest, sum[i]!);
      moved = Math.max(moved, Math.abs(sum[i]! - was[i]!));
      was[i] = sum[i]!;
    }
  }
  return { lowest, moved };
}
