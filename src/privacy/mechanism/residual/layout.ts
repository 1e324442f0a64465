/** Tables of counts over axes that a row has one place on each of, as they are noised: whole numbers, one vector for all of them. */
export interface ResidualLayout {
  /** Number of places on each axis. */
  readonly sizes: readonly number[];
  readonly parts: readonly LayoutPart[];
}
export interface LayoutPart {
  /** Those of the table, in increasing order; none for the number of rows. */
  readonly axes: readonly number[];
  /** Units per row: the larger, the less noise its counts have. At least 1. */
  readonly scale: bigint;
  /**
   * True if the marginals in smaller tables are removed before noise is added, as far as whole numbers permit
   * (residual.proof.md).
   */
  readonly centred: boolean;
}

export const partCells = (sizes: readonly number[], { axes }: Pick<LayoutPart, 'axes'>): number =>
  axes.reduce((n, axis) => n * sizes[axis]!, 1);
export const layoutCells = ({ sizes, parts }: ResidualLayout): number => parts.reduce((n, part) => n + partCells(sizes, part), 0);

/**
 * Whole coefficient of every marginal of a table in the noised numbers: entry T (a set of axes, as bits) for the table summed
 * over T. `encode` and the sensitivity are both computed from these.
 */
export function coefficientsOf(sizes: readonly number[], { axes, scale, centred }: LayoutPart): readonly bigint[] {
  return Array.from({ length: 1 << axes.length }, (_, set) => {
    if (set === 0) return scale;
    if (!centred) return 0n;
    const cells = BigInt(inside(sizes, axes, set));
    const nearest = (2n * scale + cells) / (2n * cells);
    return bitsIn(set) % 2 === 0 ? nearest : -nearest;
  });
}
const inside = (sizes: readonly number[], axes: readonly number[], set: number): number =>
  axes.reduce((n, axis, k) => ((set >> k) & 1 ? n * sizes[axis]! : n), 1);
const bitsIn = (set: number): number => (set === 0 ? 0 : (set & 1) + bitsIn(set >> 1));

/** The whole numbers that noise is added to, from the exact counts of the table (last axis fastest). */
export function encode(sizes: readonly number[], part: LayoutPart, counts: readonly bigint[]): bigint[] {
  const own = part.axes.map((axis) => sizes[axis]!);
  const coefficients = coefficientsOf(sizes, part);
  const out = counts.map((x) => x * part.scale);
  for (let set = 1; set < coefficients.length; set++) {
    const times = coefficients[set]!;
    if (times === 0n) continue;
    const places = placesWithout(own, set);
    const sums = new Array<bigint>(places.cells).fill(0n);
    for (const [cell, x] of counts.entries()) sums[places.at[cell]!]! += x;
    for (let cell = 0; cell < out.length; cell++) out[cell]! += times * sums[places.at[cell]!]!;
  }
  return out;
}

/** Cell to which each cell of a table of these sizes goes when summed over a set of axes. */
export function placesWithout(own: readonly number[], set: number): { readonly cells: number; readonly at: Int32Array } {
  const kept = own.map((m, k) => ((set >> k) & 1 ? 1 : m));
  const stride = new Array<number>(own.length).fill(0);
  let cells = 1;
  for (let k = own.length - 1; k >= 0; k--) {
    stride[k] = kept[k] === 1 ? 0 : cells;
    cells *= kept[k]!;
  }
  let at = Int32Array.of(0);
  for (const [k, m] of own.entries()) {
    const next = new Int32Array(at.length * m);
    for (let i = 0; i < at.length; i++) for (let p = 0; p < m; p++) next[i * m + p] = at[i]! + p * stride[k]!;
    at = next;
  }
  return { cells, at };
}
