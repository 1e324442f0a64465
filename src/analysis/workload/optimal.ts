import { mostAxesTried } from '../../privacy/mechanism/residual/largest-change.js';

/** A centred table (its marginals subtracted), and the weight of its variance in all requested answers. */
export interface WeightedMarginal {
  readonly axes: readonly number[];
  readonly weight: number;
}

/** Squared change of a centred table with scale 1 by one row, by the axes on which it changes, as bits (residual.proof.md). */
const squaresOf = (sizes: readonly number[], axes: readonly number[]): Float64Array => {
  const left = squaresOfRemoval(sizes, axes);
  return Float64Array.from(
    { length: 1 << axes.length },
    (_, set) => 2 * (left - axes.reduce((x, axis, k) => x * (1 - 1 / sizes[axis]! - ((set >> k) & 1)), 1)),
  );
};
/** The same for an added or removed row. */
const squaresOfRemoval = (sizes: readonly number[], axes: readonly number[]): number =>
  axes.reduce((x, axis) => x * (1 - 1 / sizes[axis]!), 1);

/**
 * Precisions (1 / variance, up to a common factor) of the tables with the least weighted variance for one record's privacy cost
 * (optimal.proof.md). Only the choice is made here, in doubles: the mechanism computes its cost exactly.
 */
export function optimalPrecisions(
  sizes: readonly number[],
  tables: readonly WeightedMarginal[],
  change: 'replaced' | 'removed',
): Float64Array {
  const best = (costs: Float64Array) => Float64Array.from(tables, ({ weight }, k) => Math.sqrt(weight / costs[k]!));
  const removed = Float64Array.from(tables, ({ axes }) => squaresOfRemoval(sizes, axes));
  if (change === 'removed') return best(removed);
  const squares = tables.map(({ axes }) => squaresOf(sizes, axes));
  const used = [...new Set(tables.flatMap(({ axes }) => axes))];
  // Cost of replacement by a random row: twice that of adding or removing.
  const start = removed.map((x) => 2 * x);
  return used.length <= mostAxesTried ? byFrankWolfe(tables, squares, start, used) : byLevels(tables, squares, best(start), used);
}

const sumOf = (tables: readonly WeightedMarginal[], c: Float64Array): number =>
  tables.reduce((sum, { weight }, k) => sum + weight / c[k]!, 0);

/**
 * Frank-Wolfe over mixtures of changes for the most expensive one: each step adds the worst change under the noise that is optimal so
 * far.
 */
function byFrankWolfe(
  tables: readonly WeightedMarginal[],
  squares: readonly Float64Array[],
  start: Float64Array,
  used: readonly number[],
): Float64Array {
  const worst = worstSet(tables, squares, used);
  let costs = start;
  let best: { readonly c: Float64Array; readonly error: number } | undefined;
  for (let step = 0; step < 60; step++) {
    const c = Float64Array.from(tables, ({ weight }, k) => Math.sqrt(weight / costs[k]!));
    const { most, set } = worst(c);
    const error = sumOf(tables, c) * most;
    if (!best || error < best.error) best = { c, error };
    const mean = c.reduce((sum, x, k) => sum + x * costs[k]!, 0);
    if (most <= 1.002 * mean) break;
    const towards = Float64Array.from(tables, ({ axes }, k) => squares[k]![bitsOf(axes, set)]!);
    const from = costs;
    const mixed = (part: number) => from.map((x, k) => (1 - part) * x + part * towards[k]!);
    costs = mixed(highest((part) => mixed(part).reduce((sum, x, k) => sum + Math.sqrt(tables[k]!.weight * x), 0), 0, 0.5, 24));
  }
  return best!.c;
}

/** Maximum of a concave function between two numbers. */
function highest(f: (x: number) => number, from: number, to: number, turns: number): number {
  let [low, high] = [from, to];
  for (let turn = 0; turn < turns; turn++) {
    const [a, b] = [low + (high - low) / 3, high - (high - low) / 3];
    if (f(a) < f(b)) low = a;
    else high = b;
  }
  return (low + high) / 2;
}

const bitsOf = (axes: readonly number[], changed: ReadonlySet<number>): number =>
  axes.reduce((set, axis, k) => (changed.has(axis) ? set | (1 << k) : set), 0);

/** The set of axes whose change costs most, by enumeration. */
function worstSet(tables: readonly WeightedMarginal[], squares: readonly Float64Array[], used: readonly number[]) {
  const place = new Map(used.map((axis, k) => [axis, k]));
  const terms = tables.map(({ axes }, p) => {
    const change = Float64Array.from(squares[p]!);
    for (let k = 0; k < axes.length; k++)
      for (let set = 0; set < change.length; set++) if ((set >> k) & 1) change[set]! -= change[set ^ (1 << k)]!;
    const at = Int32Array.from(change, (_, set) =>
      axes.reduce((m, axis, k) => ((set >> k) & 1 ? m | (1 << place.get(axis)!) : m), 0),
    );
    return { change, at };
  });
  return (c: Float64Array): { readonly most: number; readonly set: ReadonlySet<number> } => {
    const sums = new Float64Array(1 << used.length);
    for (const [p, { change, at }] of terms.entries()) for (let s = 0; s < at.length; s++) sums[at[s]!]! += c[p]! * change[s]!;
    for (let k = 0; k < used.length; k++)
      for (let set = 0; set < sums.length; set++) if ((set >> k) & 1) sums[set]! += sums[set ^ (1 << k)]!;
    let found = 0;
    for (let set = 1; set < sums.length; set++) if (sums[set]! > sums[found]!) found = set;
    return { most: sums[found]!, set: new Set(used.filter((_, k) => (found >> k) & 1)) };
  };
}

/** With many axes: precisions as for a random row, scaled by the number of axes of a table; the scales are found by search. */
function byLevels(
  tables: readonly WeightedMarginal[],
  squares: readonly Float64Array[],
  start: Float64Array,
  used: readonly number[],
): Float64Array {
  const most = Math.max(...tables.map(({ axes }) => axes.length));
  const worst = worstNear(tables, squares, used);
  const levels = new Array<number>(most + 1).fill(0);
  const at = (trial: readonly number[]) => start.map((x, k) => x * Math.exp(trial[tables[k]!.axes.length]!));
  const error = (trial: readonly number[]) => {
    const c = at(trial);
    return sumOf(tables, c) * worst(c);
  };
  for (let round = 0; round < (most > 2 ? 2 : 1); round++)
    for (let level = 1; level < most; level++) levels[level] = highest((x) => -error(levels.with(level, x)), -3, 4, 10);
  return at(levels);
}

/** A set of axes whose change costs nearly most, by local search from all axes. Good enough for a choice. */
function worstNear(tables: readonly WeightedMarginal[], squares: readonly Float64Array[], used: readonly number[]) {
  const place = new Map(used.map((axis, k) => [axis, k]));
  const own = tables.map(({ axes }) => Int32Array.from(axes, (axis) => place.get(axis)!));
  const holding = used.map(() => ({ part: [] as number[], bit: [] as number[] }));
  for (const [p, axes] of own.entries())
    for (const [k, axis] of axes.entries()) {
      holding[axis]!.part.push(p);
      holding[axis]!.bit.push(1 << k);
    }
  return (c: Float64Array): number => {
    const state = Int32Array.from(own, (axes) => (1 << axes.length) - 1);
    for (let sweep = 0; sweep < 6; sweep++) {
      let changed = false;
      for (const { part, bit } of holding) {
        let gain = 0;
        for (let i = 0; i < part.length; i++) {
          const p = part[i]!;
          const now = state[p]!;
          gain += c[p]! * (squares[p]![now ^ bit[i]!]! - squares[p]![now]!);
        }
        if (gain <= 1e-12) continue;
        changed = true;
        for (let i = 0; i < part.length; i++) state[part[i]!]! ^= bit[i]!;
      }
      if (!changed) break;
    }
    return state.reduce((sum, set, p) => sum + c[p]! * squares[p]![set]!, 0);
  };
}
