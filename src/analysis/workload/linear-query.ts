import { placesWithout } from '../../privacy/mechanism/residual/layout.js';
import { centre } from './estimate.js';

/** A linear query: cells of the row-major grid of some axes, each with its coefficient. */
export interface LinearQuery {
  readonly cells: readonly number[];
  readonly shares: readonly number[];
}

/** Queries along the axes of one column, with their labels; without queries, every place of its one axis separately. */
export interface AxisView {
  readonly name: string;
  readonly labels: readonly string[];
  /** Sizes of the axes it is about: the first ones of the column. */
  readonly sizes: readonly number[];
  readonly questions?: readonly LinearQuery[];
}

/** Variance of a query per unit variance of each centred table, by sets of axes (bit i for the i-th; levels.proof.md). */
function normsOf(sizes: readonly number[], { cells, shares }: LinearQuery): Float64Array {
  const sets = 1 << sizes.length;
  const whole = sizes.reduce((n, m) => n * m, 1);
  return Float64Array.from({ length: sets }, (_, set) => {
    const { at, cells: kept } = placesWithout(sizes, sets - 1 - set);
    const sums = new Float64Array(kept);
    for (const [k, cell] of cells.entries()) sums[at[cell]!]! += shares[k]!;
    centre(
      sums,
      sizes.filter((_, k) => (set >> k) & 1),
    );
    const squares = sums.reduce((sum, x) => sum + x * x, 0);
    // Rounding error of a zero.
    return squares < 1e-20 ? 0 : squares / (whole / kept) ** 2;
  });
}

/** Queries with equal norms form one class: their errors are equal. */
export interface NormClasses {
  readonly norms: readonly Float64Array[];
  readonly of: readonly number[];
  /** Sum over all queries. */
  readonly total: Float64Array;
}
const classesOfView = new WeakMap<AxisView, NormClasses>();
export function classesOf(view: AxisView): NormClasses {
  const found = classesOfView.get(view) ?? classify(view);
  classesOfView.set(view, found);
  return found;
}
function classify({ sizes, labels, questions }: AxisView): NormClasses {
  if (!questions) {
    const m = labels.length;
    return { norms: [Float64Array.of(1 / m ** 2, 1 - 1 / m)], of: labels.map(() => 0), total: Float64Array.of(1 / m, m - 1) };
  }
  const places = new Map<string, number>();
  const norms: Float64Array[] = [];
  const total = new Float64Array(1 << sizes.length);
  const of = questions.map((question) => {
    const own = normsOf(sizes, question);
    for (const [k, x] of own.entries()) total[k]! += x;
    const text = Array.from(own, (x) => x.toPrecision(10)).join();
    const at = places.get(text) ?? norms.push(own) - 1;
    places.set(text, at);
    return at;
  });
  return { norms, of, total };
}

export interface PlacedView {
  readonly axes: readonly number[];
  readonly view: AxisView;
}

/** Every set of axes of a table, with the product over its views of each view's factor for its part of the set. */
export function products(
  views: readonly PlacedView[],
  of: (placed: PlacedView, k: number) => Float64Array,
): readonly { readonly axes: readonly number[]; readonly times: number }[] {
  let all: readonly { readonly axes: readonly number[]; readonly times: number }[] = [{ axes: [], times: 1 }];
  for (const [k, placed] of views.entries()) {
    const own = of(placed, k);
    all = all.flatMap((before) =>
      Array.from(own, (x, set) => ({
        axes: [...before.axes, ...placed.axes.filter((_, i) => (set >> i) & 1)],
        times: before.times * x,
      })),
    );
  }
  return all;
}

/** The variance of every answer of a table, from the variances of the centred tables inside it. */
export function variancesIn(views: readonly PlacedView[], variance: (axes: string) => number): Float64Array {
  const classes = views.map(({ view }) => classesOf(view));
  const found = new Map<string, number>();
  const cells = classes.reduce((n, { of }) => n * of.length, 1);
  const at = classes.map(() => 0);
  return Float64Array.from({ length: cells }, () => {
    const chosen = classes.map(({ of }, k) => of[at[k]!]!);
    const text = chosen.join();
    let sum = found.get(text);
    if (sum === undefined) {
      sum = products(views, (_, k) => classes[k]!.norms[chosen[k]!]!).reduce(
        (s, { axes, times }) => (times === 0 ? s : s + times * variance(axes.join())),
        0,
      );
      found.set(text, sum);
    }
    for (let k = at.length - 1; k >= 0 && ++at[k]! === classes[k]!.of.length; k--) at[k] = 0;
    return sum;
  });
}

/** Answers to all queries of a table, from its cells: column by column. */
export function evaluateViews(views: readonly PlacedView[], table: Float64Array): Float64Array {
  let now = table;
  let outer = 1;
  let inner = table.length;
  for (const { view } of views) {
    const { sizes, questions, labels } = view;
    const grid = sizes.reduce((n, m) => n * m, 1);
    inner /= grid;
    if (questions) {
      const next = new Float64Array(outer * labels.length * inner);
      for (let o = 0; o < outer; o++)
        for (const [q, { cells, shares }] of questions.entries()) {
          const to = (o * labels.length + q) * inner;
          for (const [k, cell] of cells.entries()) {
            const from = (o * grid + cell) * inner;
            const share = shares[k]!;
            for (let i = 0; i < inner; i++) next[to + i]! += share * now[from + i]!;
          }
        }
      now = next;
    }
    outer *= labels.length;
  }
  return now;
}
