import type { CliqueBeliefs } from './graphical-model.js';
import type { JunctionTree } from './junction-tree.js';
import { marginalIndex, marginalSize, sumInto } from './marginal.js';

/**
 * Systematic sampling, column by column from the root (or from the clique that holds the given columns): whole shares are given out,
 * only remainders are drawn. Marginals of the rows are nearer to the model than those of rows drawn one by one.
 */
export function drawRows(
  { sizes, tree, beliefs }: CliqueBeliefs,
  n: number,
  random: () => number,
  given: ReadonlyMap<number, Uint16Array> = new Map(),
): readonly Uint16Array[] {
  const out = sizes.map((_, column) => given.get(column) ?? new Uint16Array(n));
  const done = new Set<number>(given.keys());
  for (const c of cliqueOrder(tree, [...done])) {
    const clique = tree.cliques[c]!;
    for (const column of clique) {
      if (done.has(column)) continue;
      const held = clique.filter((a) => done.has(a));
      const columns = [...held, column].sort((a, b) => a - b);
      const places = marginalIndex(sizes, clique, columns);
      const table = new Float64Array(places.cells);
      sumInto(places, beliefs[c]!, table);
      drawColumn(sizes, out, { held, column, columns, table }, random);
      done.add(column);
    }
  }
  return out;
}

/** All cliques in an order in which each is adjacent to an earlier one; the first clique holds the given columns. */
function cliqueOrder({ cliques, parents }: JunctionTree, given: readonly number[]): readonly number[] {
  const root = cliques.findIndex((clique) => given.every((column) => clique.includes(column)));
  if (root < 0) throw new RangeError('no clique holds all that is given');
  const order = [root];
  const seen = new Set(order);
  for (const c of order)
    for (const other of cliques.keys())
      if (!seen.has(other) && (parents[other] === c || parents[c] === other)) {
        seen.add(other);
        order.push(other);
      }
  return order;
}

interface ColumnDraw {
  readonly column: number;
  /** Columns already drawn, and all columns of the table; it is over these. */
  readonly held: readonly number[];
  readonly columns: readonly number[];
  readonly table: Float64Array;
}

function drawColumn(
  sizes: readonly number[],
  out: readonly Uint16Array[],
  { held, column, columns, table }: ColumnDraw,
  random: () => number,
): void {
  const n = out[column]!.length;
  const m = sizes[column]!;
  // Rows grouped by their values in the held columns; the rows of one group are adjacent in `order`.
  const group = new Int32Array(n);
  for (const a of held) for (let r = 0; r < n; r++) group[r] = group[r]! * sizes[a]! + out[a]![r]!;
  const groups = marginalSize(sizes, held);
  const starts = new Int32Array(groups + 1);
  for (let r = 0; r < n; r++) starts[group[r]! + 1]!++;
  for (let g = 0; g < groups; g++) starts[g + 1]! += starts[g]!;
  const next = starts.slice(0, groups);
  const order = new Int32Array(n);
  for (let r = 0; r < n; r++) order[next[group[r]!]!++] = r;
  const stride = marginalSize(
    sizes,
    columns.filter((a) => a > column),
  );
  const shares = new Float64Array(m);
  const target = out[column]!;
  for (let g = 0; g < groups; g++) {
    const rows = order.subarray(starts[g]!, starts[g + 1]!);
    if (rows.length === 0) continue;
    // The group index is mixed-radix in the held columns; the new column's digit goes between those before and after it.
    const first = Math.floor(g / stride) * stride * m + (g % stride);
    let sum = 0;
    for (let v = 0; v < m; v++) sum += shares[v] = table[first + v * stride]!;
    if (!(sum > 0)) throw new Error('rows were drawn that the model holds for impossible');
    for (let v = 0; v < m; v++) shares[v]! *= rows.length / sum;
    shuffle(rows, (i) => Math.floor(random() * i));
    systematicSample(shares, rows, target, random);
  }
}

/** Systematic sampling: whole shares first, then one draw decides all fractional remainders, each with its fraction as probability. */
function systematicSample(shares: Float64Array, rows: Int32Array, target: Uint16Array, random: () => number): void {
  let at = 0;
  const offset = random();
  let before = 0;
  let last = -1;
  for (let v = 0; v < shares.length; v++) {
    const whole = Math.floor(shares[v]!);
    for (let i = 0; i < whole && at < rows.length; i++) target[rows[at++]!] = v;
    const after = before + shares[v]! - whole;
    if (Math.floor(after - offset) > Math.floor(before - offset) && at < rows.length) target[rows[at++]!] = v;
    before = after;
    if (shares[v]! > 0) last = v;
  }
  // Rounding of doubles may leave one.
  while (at < rows.length) target[rows[at++]!] = last;
}

/** Random order; `below` draws a whole number below its argument. */
export function shuffle(list: Int32Array | Uint32Array, below: (n: number) => number): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
}
