import { cellsOf, divideBy, multiplyBy, placesOf, sumInto } from './margin.js';
import { isWithin, refuseLarge, type Tree } from './tree.js';

interface Beliefs {
  readonly sizes: readonly number[];
  readonly tree: Tree;
  readonly beliefs: readonly Float64Array[];
}
interface Table {
  readonly columns: readonly number[];
  readonly values: Float64Array;
}

/** Most cells in an intermediate table, unless one clique has more. */
const atOnce = 2 ** 20;

/**
 * A marginal that no clique holds, by variable elimination, cheapest column first. Above `most` cells a column is split value by
 * value: the same sums in parts, so only a marginal that is itself too large is refused.
 */
export function eliminated({ sizes, tree, beliefs }: Beliefs, asked: readonly number[], most = atOnce): Float64Array {
  refuseLarge(cellsOf(sizes, asked));
  return summedOut(sizes, between(sizes, tree, beliefs, new Set(asked)), asked, most);
}

function summedOut(sizes: readonly number[], given: readonly Table[], asked: readonly number[], most: number): Float64Array {
  let tables = given;
  for (;;) {
    const next = cheapest(sizes, tables, asked);
    if (!next) return multiplied(sizes, tables, asked);
    const { column, own, union, cells } = next;
    if (cells > most) return byValues(sizes, tables, asked, dividing(sizes, union, asked, cells / most), most);
    const rest = tables.filter((table) => !own.includes(table));
    tables = [...rest, summed(sizes, { columns: union, values: multiplied(sizes, own, union) }, (a) => a !== column)];
  }
}

interface Next {
  readonly column: number;
  readonly own: readonly Table[];
  /** All columns of the tables that contain this one. */
  readonly union: readonly number[];
  readonly cells: number;
}

function cheapest(sizes: readonly number[], tables: readonly Table[], asked: readonly number[]): Next | undefined {
  let best: Next | undefined;
  for (const column of new Set(tables.flatMap(({ columns }) => columns))) {
    if (asked.includes(column)) continue;
    const own = tables.filter(({ columns }) => columns.includes(column));
    const union = [...new Set(own.flatMap(({ columns }) => columns))].sort((a, b) => a - b);
    const cells = cellsOf(sizes, union);
    if (!best || cells < best.cells) best = { column, own, union, cells };
  }
  return best;
}

/** The smallest column whose values make small enough parts, else the largest; target columns first, because later sums keep them. */
function dividing(sizes: readonly number[], union: readonly number[], asked: readonly number[], times: number): number {
  const kept = union.filter((a) => asked.includes(a));
  const open = [...(kept.length > 0 ? kept : union)].sort((a, b) => sizes[a]! - sizes[b]!);
  return open.find((a) => sizes[a]! >= times) ?? open.at(-1)!;
}

/** Elimination one value of the column at a time: parts of the marginal if the column is a target, else added up. */
function byValues(
  sizes: readonly number[],
  tables: readonly Table[],
  asked: readonly number[],
  column: number,
  most: number,
): Float64Array {
  const out = new Float64Array(cellsOf(sizes, asked));
  const rest = asked.filter((a) => a !== column);
  const inner = asked.includes(column) ? cellsOf(sizes, asked.slice(asked.indexOf(column) + 1)) : out.length;
  const outer = inner * (out.length / cellsOf(sizes, rest));
  for (let value = 0; value < sizes[column]!; value++) {
    const part = summedOut(
      sizes,
      tables.map((table) => (table.columns.includes(column) ? where(sizes, table, column, value) : table)),
      rest,
      most,
    );
    const first = outer > inner ? value * inner : 0;
    for (let i = 0; i < part.length; i++) out[Math.floor(i / inner) * outer + first + (i % inner)]! += part[i]!;
  }
  return out;
}

/** The part of a table in which a column has this value. */
function where(sizes: readonly number[], { columns, values }: Table, column: number, value: number): Table {
  const inner = cellsOf(sizes, columns.slice(columns.indexOf(column) + 1));
  const outer = inner * sizes[column]!;
  const part = new Float64Array(values.length / sizes[column]!);
  for (let from = value * inner, to = 0; to < part.length; from += outer, to += inner)
    part.set(values.subarray(from, from + inner), to);
  return { columns: columns.filter((a) => a !== column), values: part };
}

function summed(sizes: readonly number[], { columns: all, values: large }: Table, keep: (column: number) => boolean): Table {
  const columns = all.filter(keep);
  const values = new Float64Array(cellsOf(sizes, columns));
  sumInto(placesOf(sizes, all, columns), large, values);
  return { columns, values };
}

/**
 * Conditional tables of the subtree that joins the targets; for a tree their product is the distribution of a row. Divided at once:
 * an inverse of a subnormal number would be infinite.
 */
function between(
  sizes: readonly number[],
  { cliques, parents }: Tree,
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
    const own = summed(sizes, { columns: cliques[c]!, values: beliefs[c]! }, (a) => wanted.has(a) || needed.has(a));
    const parent = parents[c]!;
    if (parent < 0 || !kept.has(parent)) return [own];
    const separator = summed(sizes, own, (a) => cliques[parent]!.includes(a));
    divideBy(placesOf(sizes, own.columns, separator.columns), separator.values, own.values);
    return [own];
  });
}

function multiplied(sizes: readonly number[], tables: readonly Table[], columns: readonly number[]): Float64Array {
  const out = new Float64Array(cellsOf(sizes, columns)).fill(1);
  for (const table of tables)
    if (isWithin(table.columns, columns)) multiplyBy(placesOf(sizes, columns, table.columns), table.values, out);
  return out;
}
