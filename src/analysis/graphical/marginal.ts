/**
 * Index of every cell of a table in a smaller marginal (its counts over fewer columns): cell i * low.length + j goes to
 * high[i] + low[j]. Indices add up over columns, so two short lists suffice.
 */
export interface MarginalIndex {
  readonly cells: number;
  readonly high: Int32Array;
  readonly low: Int32Array;
}

/** Least length of the inner loop, if the table is as long. */
const shortest = 48;

export const marginalSize = (sizes: readonly number[], columns: readonly number[]): number =>
  columns.reduce((n, column) => n * sizes[column]!, 1);

/** Both column lists in increasing order, the inner within the outer. */
export function marginalIndex(sizes: readonly number[], outer: readonly number[], inner: readonly number[]): MarginalIndex {
  const strides = new Map<number, number>();
  let cells = 1;
  for (let k = inner.length - 1; k >= 0; k--) {
    strides.set(inner[k]!, cells);
    cells *= sizes[inner[k]!]!;
  }
  let from = outer.length;
  let length = 1;
  while (from > 0 && length < shortest) length *= sizes[outer[--from]!]!;
  const list = (columns: readonly number[]): Int32Array =>
    columns.reduce((found, column) => {
      const [m, stride] = [sizes[column]!, strides.get(column) ?? 0];
      const next = new Int32Array(found.length * m);
      for (let i = 0; i < found.length; i++) for (let p = 0; p < m; p++) next[i * m + p] = found[i]! + p * stride;
      return next;
    }, Int32Array.of(0));
  return { cells, high: list(outer.slice(0, from)), low: list(outer.slice(from)) };
}

/** Adds the cells of the large table up in the small one. */
export function sumInto({ high, low }: MarginalIndex, large: Float64Array, small: Float64Array): void {
  small.fill(0);
  let at = 0;
  for (let i = 0; i < high.length; i++) {
    const base = high[i]!;
    for (let j = 0; j < low.length; j++) small[base + low[j]!]! += large[at++]!;
  }
}

export function addTo({ high, low }: MarginalIndex, small: Float64Array, large: Float64Array): void {
  let at = 0;
  for (let i = 0; i < high.length; i++) {
    const base = high[i]!;
    for (let j = 0; j < low.length; j++) large[at++]! += small[base + low[j]!]!;
  }
}

export function multiplyBy({ high, low }: MarginalIndex, small: Float64Array, large: Float64Array): void {
  let at = 0;
  for (let i = 0; i < high.length; i++) {
    const base = high[i]!;
    for (let j = 0; j < low.length; j++) large[at++]! *= small[base + low[j]!]!;
  }
}

/** Zero wherever the smaller table is zero. */
export function divideBy({ high, low }: MarginalIndex, small: Float64Array, large: Float64Array): void {
  let at = 0;
  for (let i = 0; i < high.length; i++) {
    const base = high[i]!;
    for (let j = 0; j < low.length; j++, at++) {
      const by = small[base + low[j]!]!;
      large[at] = by > 0 ? large[at]! / by : 0;
    }
  }
}

/** Maximum of the cells that go to one cell of the small table. */
export function largestInto({ high, low }: MarginalIndex, large: Float64Array, small: Float64Array): void {
  small.fill(Number.NEGATIVE_INFINITY);
  let at = 0;
  for (let i = 0; i < high.length; i++) {
    const base = high[i]!;
    for (let j = 0; j < low.length; j++) {
      const x = large[at++]!;
      const place = base + low[j]!;
      if (x > small[place]!) small[place] = x;
    }
  }
}

/** Exponentials relative to the maximum of each group, and their sums (as in softmax); a group without a possible cell is all zero. */
export function exponentiateInto(
  { high, low }: MarginalIndex,
  large: Float64Array,
  tops: Float64Array,
  sums: Float64Array,
): void {
  sums.fill(0);
  let at = 0;
  for (let i = 0; i < high.length; i++) {
    const base = high[i]!;
    for (let j = 0; j < low.length; j++, at++) {
      const place = base + low[j]!;
      const top = tops[place]!;
      const x = top === Number.NEGATIVE_INFINITY ? 0 : Math.exp(large[at]! - top);
      large[at] = x;
      sums[place]! += x;
    }
  }
}
