import type { CliqueBeliefs } from './graphical-model.js';
import { isWithin, type JunctionTree, refuseLargeModel } from './junction-tree.js';
import { divideBy, marginalIndex, marginalSize, multiplyBy, sumInto } from './marginal.js';

interface Table {
  readonly columns: readonly number[];
  readonly values: Float64Array;
}

/** Most cells in an intermediate table, unless one clique has more. */
const maxCellsAtOnce = 2 ** 20;

/**
 * A marginal that no clique holds, by variable elimination, cheapest column first. Above `most` cells a column is split value by
 * value: the same sums in parts, so only a marginal that is itself too large is refused.
 */
export function eliminateColumns(
  { sizes, tree, beliefs }: CliqueBeliefs,
  targets: readonly number[],
  most = maxCellsAtOnce,
): Float64Array {
  refuseLargeModel(marginalSize(sizes, targets));
  return sumOutColumns(sizes, joiningTables(sizes, tree, beliefs, new Set(targets)), targets, most);
}

function sumOutColumns(
  sizes: readonly number[],
  given: readonly Table[],
  targets: readonly number[],
  most: number,
): Float64Array {
  let tables = given;
  for (;;) {
    const next = cheapest(sizes, tables, targets);
    if (!next) return multiplyTables(sizes, tables, targets);
    const { column, own, union, cells } = next;
    if (cells > most) {
      const split = columnToSplit(sizes, union, targets, cells / most);
      return eliminateByValue(sizes, split, targets, (value, rest) =>
        sumOutColumns(
          sizes,
          tables.map((table) => tableSlice(sizes, table, split, value)),
          rest,
          most,
        ),
      );
    }
    const rest = tables.filter((table) => !own.includes(table));
    tables = [...rest, sumTable(sizes, { columns: union, values: multiplyTables(sizes, own, union) }, (a) => a !== column)];
  }
}

interface EliminationStep {
  readonly column: number;
  readonly own: readonly Table[];
  /** All columns of the tables that contain this one. */
  readonly union: readonly number[];
  readonly cells: number;
}

function cheapest(sizes: readonly number[], tables: readonly Table[], targets: readonly number[]): EliminationStep | undefined {
  let best: EliminationStep | undefined;
  for (const column of new Set(tables.flatMap(({ columns }) => columns))) {
    if (targets.includes(column)) continue;
    const own = tables.filter(({ columns }) => columns.includes(column));
    const union = [...new Set(own.flatMap(({ columns }) => columns))].sort((a, b) => a - b);
    const cells = marginalSize(sizes, union);
    if (!best || cells < best.cells) best = { column, own, union, cells };
  }
  return best;
}

/** The smallest column whose values make small enough parts, else the largest; target columns first, because later sums keep them. */
function columnToSplit(sizes: readonly number[], union: readonly number[], targets: readonly number[], times: number): number {
  const kept = union.filter((a) => targets.includes(a));
  const open = [...(kept.length > 0 ? kept : union)].sort((a, b) => sizes[a]! - sizes[b]!);
  return open.find((a) => sizes[a]! >= times) ?? open.at(-1)!;
}

/** Elimination one value of the column at a time: parts of the marginal if the column is a target, else added up. */
function eliminateByValue(
  sizes: readonly number[],
  column: number,
  targets: readonly number[],
  partOf: (value: number, rest: readonly number[]) => Float64Array,
): Float64Array {
  const out = new Float64Array(marginalSize(sizes, targets));
  const rest = targets.filter((a) => a !== column);
  const inner = targets.includes(column) ? marginalSize(sizes, targets.slice(targets.indexOf(column) + 1)) : out.length;
  const outer = inner * (out.length / marginalSize(sizes, rest));
  for (let value = 0; value < sizes[column]!; value++) {
    const part = partOf(value, rest);
    const first = outer > inner ? value * inner : 0;
    for (let i = 0; i < part.length; i++) out[Math.floor(i / inner) * outer + first + (i % inner)]! += part[i]!;
  }
  return out;
}

/** The part of a table in which a column has this value; all of a table without the column. */
function tableSlice(sizes: readonly number[], table: Table, column: number, value: number): Table {
  const { columns, values } = table;
  if (!columns.includes(column)) return table;
  const inner = marginalSize(sizes, columns.slice(columns.indexOf(column) + 1));
  const outer = inner * sizes[column]!;
  const part = new Float64Array(values.length / sizes[column]!);
  for (let from = value * inner, to = 0; to < part.length; from += outer, to += inner)
    part.set(values.subarray(from, from + inner), to);
  return { columns: columns.filter((a) => a !== column), values: part };
}

function sumTable(sizes: readonly number[], { columns: all, values: large }: Table, keep: (column: number) => boolean): Table {
  const columns = all.filter(keep);
  const values = new Float64Array(marginalSize(sizes, columns));
  sumInto(marginalIndex(sizes, all, columns), large, values);
  return { columns, values };
}

/**
 * Conditional tables of the subtree that joins the targets; for a tree their product is the distribution of a row. Divided at once:
 * an inverse of a subnormal number would be infinite.
 */
function joiningTables(
  sizes: readonly number[],
  { cliques, parents }: JunctionTree,
  beliefs: readonly Float64Array[],
  wanted: ReadonlySet<number>,
): Table[] {
  const near = cliques.map(() => new Set<number>());
  for (const [c, parent] of parents.entries())
    if (parent >= 0) {
      near[c]!.add(parent);
      near[parent]!.add(c);
    }
  const kept = new Set(cliques.keys());
  // Leaf cliques whose needed columns are all in their neighbour, largest first.
  const largest = [...kept].sort((a, b) => beliefs[b]!.length - beliefs[a]!.length);
  for (let found = true; found; ) {
    found = false;
    for (const c of largest) {
      if (!kept.has(c) || near[c]!.size !== 1) continue;
      const [other] = near[c]!;
      if (!cliques[c]!.every((a) => !wanted.has(a) || cliques[other!]!.includes(a))) continue;
      kept.delete(c);
      near[other!]!.delete(c);
      found = true;
    }
  }
  const shared = (c: number, other: number): readonly number[] => cliques[c]!.filter((a) => cliques[other]!.includes(a));
  return [...kept].flatMap((c) => {
    const needed = new Set([...near[c]!].flatMap((other) => shared(c, other)));
    const own = sumTable(sizes, { columns: cliques[c]!, values: beliefs[c]! }, (a) => wanted.has(a) || needed.has(a));
    const parent = parents[c]!;
    if (parent < 0 || !kept.has(parent)) return [own];
    const separator = sumTable(sizes, own, (a) => cliques[parent]!.includes(a));
    divideBy(marginalIndex(sizes, own.columns, separator.columns), separator.values, own.values);
    return [own];
  });
}

function multiplyTables(sizes: readonly number[], tables: readonly Table[], columns: readonly number[]): Float64Array {
  const out = new Float64Array(marginalSize(sizes, columns)).fill(1);
  for (const table of tables)
    if (isWithin(table.columns, columns)) multiplyBy(marginalIndex(sizes, columns, table.columns), table.values, out);
  return out;
}
