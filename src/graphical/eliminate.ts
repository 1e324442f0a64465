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

/** A table over columns that no clique holds: the cliques between them are multiplied, and columns that are not asked for summed out, the cheapest first. */
export function eliminated({ sizes, tree, beliefs }: Beliefs, asked: readonly number[]): Float64Array {
  refuseLarge(cellsOf(sizes, asked));
  const wanted = new Set(asked);
  let tables = between(sizes, tree, beliefs, wanted);
  for (;;) {
    let best: { column: number; own: Table[]; union: number[]; cells: number } | undefined;
    for (const column of new Set(tables.flatMap(({ columns }) => columns))) {
      if (wanted.has(column)) continue;
      const own = tables.filter(({ columns }) => columns.includes(column));
      const union = [...new Set(own.flatMap(({ columns }) => columns))].sort((a, b) => a - b);
      const cells = cellsOf(sizes, union);
      if (!best || cells < best.cells) best = { column, own, union, cells };
    }
    if (!best) break;
    const { column, own, union, cells } = best;
    refuseLarge(cells);
    const rest = tables.filter((table) => !own.includes(table));
    tables = [...rest, summed(sizes, { columns: union, values: multiplied(sizes, own, union) }, (a) => a !== column)];
  }
  return multiplied(sizes, tables, asked);
}

function summed(sizes: readonly number[], { columns: all, values: large }: Table, keep: (column: number) => boolean): Table {
  const columns = all.filter(keep);
  const values = new Float64Array(cellsOf(sizes, columns));
  sumInto(placesOf(sizes, all, columns), large, values);
  return { columns, values };
}

/**
 * The part of the tree that joins what is asked for, every clique summed down to that and to what it shares there, as shares of the rows that agree in what its parent has of it: for a tree,
 * the law of a row is the product of these. Divided at once, because one over a number that doubles hardly hold is infinite, and infinite times nothing is no number.
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
  // Those that end the tree and hold nothing that their neighbour does not: the largest first.
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
