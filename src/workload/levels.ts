import { Fault } from '../errors.js';
import { missingLabel } from '../policy/code.js';
import type { AnswerTable, Foreseen } from '../query/bound.js';
import type { LabelledKey } from '../query/keys.js';

/** The places of a column in groups, as two axes: the group, and the place in it. Groups of fewer places than the largest have places where no row ever is. */
export interface Split {
  /** How the coarser level is called. */
  readonly name: string;
  readonly groups: readonly string[];
  /** Places in the largest group. */
  readonly width: number;
  /** By place of the column: group x width + place in it. */
  readonly at: readonly number[];
}

/** Groups of the values of a column, by their names, as written. */
export type Groups = Readonly<Record<string, readonly (string | number)[]>>;

/** Every value is in one group; what is missing is one of its own, unless it is named. */
export function splitOf(column: string, { labels }: LabelledKey, name: string, groups: Groups): Split {
  const lists = Object.entries(groups).map(([group, values]) => ({ group, values: values.map(String) }));
  if (!lists.some(({ values }) => values.includes(missingLabel)) && labels.includes(missingLabel))
    lists.push({ group: missingLabel, values: [missingLabel] });
  const width = Math.max(...lists.map(({ values }) => values.length));
  const places = new Map<string, number>();
  for (const [g, { values }] of lists.entries())
    for (const [k, value] of values.entries()) {
      if (!labels.includes(value) || places.has(value))
        throw wrong(column, places.has(value) ? 'a value stands in two groups' : 'a group has a value that the column has not');
      places.set(value, g * width + k);
    }
  if (places.size < labels.length) throw wrong(column, 'a value stands in no group');
  return { name, groups: lists.map(({ group }) => group), width, at: labels.map((label) => places.get(label)!) };
}
const wrong = (column: string, what: string) =>
  new Fault(
    'QUERY_INVALID',
    `levels.${column}: ${what}.`,
    `Put each value that a table of the column shows into one group; ${missingLabel} may be left out.`,
  );

/** A column of the workload: its axes are `first` and, where it is split, the next. */
export interface WorkloadColumn extends LabelledKey {
  readonly name: string;
  readonly first: number;
  readonly split?: Split;
}
export const axesOf = ({ first, split }: WorkloadColumn): readonly number[] => (split ? [first, first + 1] : [first]);

/** The axes of columns, with the names that tables show. */
export const virtualAxes = (columns: readonly WorkloadColumn[]): readonly (LabelledKey & { readonly name: string })[] =>
  columns.flatMap(({ name, key, labels, split }) =>
    split
      ? [
          { name: split.name, key, labels: split.groups },
          { name, key, labels: Array.from({ length: split.width }, (_, k) => `${k}`) },
        ]
      : [{ name, key, labels }],
  );

/** How a table over axes is counted: by which columns, and where each of their cells goes. */
export function countedBy(columns: readonly WorkloadColumn[], sizes: readonly number[], axes: readonly number[]) {
  const own = [...columns.entries()].filter(([, column]) => axesOf(column).some((axis) => axes.includes(axis)));
  const goes = own.map(([, { labels, first, split }]) => {
    if (!split) return { cells: labels.length, to: labels.map((_, place) => place) };
    const [coarse, fine] = [axes.includes(first), axes.includes(first + 1)];
    return {
      cells: (coarse ? sizes[first]! : 1) * (fine ? sizes[first + 1]! : 1),
      to: split.at.map((place) => {
        const [group, inside] = [Math.floor(place / split.width), place % split.width];
        return coarse && fine ? place : coarse ? group : inside;
      }),
    };
  });
  let at = [0];
  for (const { cells, to } of goes) at = at.flatMap((before) => to.map((place) => before * cells + place));
  return { columns: own.map(([k]) => k), cells: goes.reduce((n, { cells }) => n * cells, 1), at };
}

/** Variance of a cell of a table over axes. */
export type VarianceOf = (axes: readonly number[]) => number;

/**
 * A table as it is asked for: of a split column its own values, in their order, and no places where no row ever is. What noise put there goes to the places of
 * the same group alike, so groups still add up (levels.proof.md).
 */
export function withoutSplits(columns: readonly WorkloadColumn[], axes: readonly number[], varianceOf: VarianceOf) {
  const shown = columns.filter((column) => axes.includes(column.first));
  const finer = shown.flatMap(({ first, split }) => (split && axes.includes(first + 1) ? [{ split, fine: first + 1 }] : []));
  const isFine = (column: WorkloadColumn) => finer.some(({ split }) => split === column.split);
  const names = shown.map((column) => (column.split && !isFine(column) ? column.split.name : column.name));
  const parts = componentsOf(axes, finer, varianceOf);
  /** Of every cell asked for: its cells in the told table (its own first) with their shares, its labels, and the places in its groups. */
  let cells: readonly Asked[] = [{ from: [{ cell: 0, share: 1 }], labels: [], inGroups: [] }];
  for (const column of shown) {
    const { split } = column;
    const fine = isFine(column) ? split : undefined;
    const labels = split && !fine ? split.groups : column.labels;
    const count = fine ? fine.groups.length * fine.width : labels.length;
    const places = labels.map((label, k) => ({ label, ...placesOf(fine, k) }));
    cells = cells.flatMap((before) =>
      places.map(({ label, from, inGroup }) => ({
        from: before.from.flatMap((a) => from.map((b) => ({ cell: a.cell * count + b.cell, share: a.share * b.share }))),
        labels: [...before.labels, label],
        inGroups: fine ? [...before.inGroups, inGroup] : before.inGroups,
      })),
    );
  }
  const errors = cells.map(({ inGroups }) => Math.sqrt(parts(inGroups)));
  const told = { name: names.join(' x '), query: { kind: 'count', by: [...names] } } as const;
  return {
    table: (table: AnswerTable): AnswerTable => ({
      ...table,
      ...told,
      query: { ...told.query, by: [...names] },
      columns: [...names, table.columns.at(-1)!],
      rows: cells.map(({ from, labels }, k) => {
        const own = table.rows[from[0]!.cell]!;
        const value = from.reduce((sum, { cell, share }) => sum + share * table.rows[cell]!.value!, 0);
        const half = errors[k] === 0 ? 0 : ((own.high! - own.value!) / own.standardError!) * errors[k]!;
        return { keys: labels, value, standardError: errors[k]!, low: value - half, high: value + half };
      }),
    }),
    foreseen: (plan: Foreseen): Foreseen => {
      const largest = errors.reduce((a, b) => Math.max(a, b));
      return {
        ...plan,
        ...told,
        query: { ...told.query, by: [...names] },
        cells: cells.length,
        standardError: largest,
        halfWidth: (plan.halfWidth / plan.standardError) * largest,
      };
    },
  };
}
interface Asked {
  readonly from: readonly { readonly cell: number; readonly share: number }[];
  readonly labels: readonly string[];
  readonly inGroups: readonly number[];
}

/** Where a place of the column is told: itself, and a share of the places of its group where no row ever is. */
function placesOf(split: Split | undefined, place: number) {
  if (!split) return { from: [{ cell: place, share: 1 }], inGroup: 1 };
  const own = split.at[place]!;
  const group = Math.floor(own / split.width);
  const inGroup = split.at.filter((cell) => Math.floor(cell / split.width) === group).length;
  const empty = Array.from({ length: split.width - inGroup }, (_, k) => group * split.width + inGroup + k);
  return { from: [{ cell: own, share: 1 }, ...empty.map((cell) => ({ cell, share: 1 / inGroup }))], inGroup };
}

/** The variance of a cell, by how many places the groups of its split columns have (levels.proof.md). */
function componentsOf(
  axes: readonly number[],
  finer: readonly { readonly split: Split; readonly fine: number }[],
  varianceOf: VarianceOf,
) {
  const sets = 1 << finer.length;
  const has = (set: number, k: number) => ((set >> k) & 1) === 1;
  const pure = new Float64Array(sets);
  const shrunk = (within: number, set: number, of: (k: number) => number) =>
    finer.reduce((x, _, k) => (has(within, k) && !has(set, k) ? x / of(k) ** 2 : x), 1);
  for (let set = 0; set < sets; set++) {
    pure[set] = varianceOf(axes.filter((axis) => finer.every(({ fine }, k) => fine !== axis || has(set, k))));
    for (let inner = 0; inner < set; inner++)
      if ((inner & ~set) === 0) pure[set]! -= pure[inner]! * shrunk(set, inner, (k) => finer[k]!.split.width);
  }
  return (inGroups: readonly number[]): number => {
    let sum = 0;
    for (let set = 0; set < sets; set++) {
      const apart = finer.reduce((x, { split: { width } }, k) => {
        if (!has(set, k)) return x;
        return width === 1 ? 0 : (x * (1 - 1 / inGroups[k]!)) / (1 - 1 / width);
      }, 1);
      sum += pure[set]! * apart * shrunk(sets - 1, set, (k) => inGroups[k]!);
    }
    return sum;
  };
}
