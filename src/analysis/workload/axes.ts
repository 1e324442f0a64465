import type { LabelledKey } from '../../query/keys.js';
import type { AxisView, LinearQuery } from './linear-query.js';

/** A column of the workload with its axes, `first` and those that follow, one per level. Axis positions without a value hold no row. */
export interface WorkloadColumn extends LabelledKey {
  readonly name: string;
  readonly first: number;
  readonly sizes: readonly number[];
  /** Position of each key value in the row-major grid of the axes. */
  readonly at: readonly number[];
  /** Views that can be requested, by name; its own values first. */
  readonly views: readonly AxisView[];
}
export const axesOf = ({ first, sizes }: Pick<WorkloadColumn, 'first' | 'sizes'>): readonly number[] =>
  sizes.map((_, k) => first + k);

/** Layout of the values of a column on axes: group, group inside it, and so on. */
export interface AxisGrid {
  readonly sizes: readonly number[];
  readonly at: readonly number[];
}
const strideAfter = (sizes: readonly number[], k: number): number => sizes.slice(k).reduce((n, m) => n * m, 1);

/**
 * Query for each nonempty group of a level, in grid order, over the axes down to that level. Noise in empty places is divided evenly
 * among the groups of a parent, so every level adds up to the one above (levels.proof.md).
 */
export function groupQueries({ sizes, at }: AxisGrid, level: number): ReadonlyMap<number, LinearQuery> {
  let above = new Map<number, ReadonlyMap<number, number>>([[0, new Map([[0, 1]])]]);
  for (let l = 1; l <= level; l++) {
    const [m, finer] = [sizes[l - 1]!, strideAfter(sizes, l)];
    const held = new Set(at.map((place) => Math.floor(place / finer)));
    const next = new Map<number, ReadonlyMap<number, number>>();
    for (const [parent, shares] of above) {
      const children = Array.from({ length: m }, (_, k) => parent * m + k).filter((child) => held.has(child));
      const rest = new Map<number, number>();
      const add = (to: Map<number, number>, cell: number, x: number) => to.set(cell, (to.get(cell) ?? 0) + x);
      for (const [cell, share] of shares) for (let k = 0; k < m; k++) add(rest, cell * m + k, share);
      for (const child of children) add(rest, child, -1);
      for (const child of children) {
        const own = new Map<number, number>([[child, 1]]);
        for (const [cell, x] of rest) if (Math.abs(x) > 1e-12) add(own, cell, x / children.length);
        next.set(child, own);
      }
    }
    above = next;
  }
  return new Map([...above].map(([group, shares]) => [group, { cells: [...shares.keys()], shares: [...shares.values()] }]));
}

/** The nonempty groups of a level. */
export const groupsAt = ({ sizes, at }: AxisGrid, level: number): readonly number[] => {
  const finer = strideAfter(sizes, level);
  return at.map((place) => Math.floor(place / finer));
};

export function sumQueries(questions: readonly LinearQuery[]): LinearQuery {
  const sums = new Map<number, number>();
  for (const { cells, shares } of questions)
    for (const [k, cell] of cells.entries()) sums.set(cell, (sums.get(cell) ?? 0) + shares[k]!);
  const nonZero = [...sums].filter(([, x]) => Math.abs(x) > 1e-12);
  return { cells: nonZero.map(([cell]) => cell), shares: nonZero.map(([, x]) => x) };
}

/** Counting of a table over axes: its columns, and the destination of each of their cells. */
export function axisCounting(columns: readonly WorkloadColumn[], axes: readonly number[]) {
  const own = [...columns.entries()].filter(([, column]) => axesOf(column).some((axis) => axes.includes(axis)));
  const goes = own.map(([, { at, first, sizes }]) => {
    const nonZero = sizes.map((_, k) => axes.includes(first + k));
    const to = at.map((place) =>
      sizes.reduce((cell, m, k) => (nonZero[k] ? cell * m + (Math.floor(place / strideAfter(sizes, k + 1)) % m) : cell), 0),
    );
    return { cells: sizes.reduce((n, m, k) => (nonZero[k] ? n * m : n), 1), to };
  });
  let at = [0];
  for (const { cells, to } of goes) at = at.flatMap((before) => to.map((place) => before * cells + place));
  return { columns: own.map(([k]) => k), cells: goes.reduce((n, { cells }) => n * cells, 1), at };
}
