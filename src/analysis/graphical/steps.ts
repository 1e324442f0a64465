import { cellsOf } from './margin.js';
import { isWithin, joined, type Tree } from './tree.js';

type Columns = readonly number[];

/** Cells below which an intermediate table saves no time. */
const small = 512;

/**
 * The junction tree with intermediate tables between cliques and factors: factors that lack a column of a clique share one smaller
 * table, which saves a pass through all cells for each of them.
 */
export function withSteps(sizes: readonly number[], tree: Tree, factors: readonly Columns[]): Tree {
  const { cliques, parents } = tree;
  const found = new Map(cliques.map((own) => [own.join(), own]));
  const homes = cliques.map((): Columns[] => []);
  for (const own of factors) homes[cliques.findIndex((clique) => isWithin(own, clique))]?.push(own);
  for (const [c, parent] of parents.entries())
    if (parent >= 0) homes[parent]!.push(cliques[c]!.filter((a) => cliques[parent]!.includes(a)));
  for (const [c, clique] of cliques.entries())
    for (const own of stepsInside(sizes, clique, homes[c]!)) found.set(own.join(), own);
  const all = [...found.values()];
  if (all.length === cliques.length) return tree;
  return { ...joined(all, sizes), cells: all.reduce((n, own) => n + cellsOf(sizes, own), 0) };
}

function stepsInside(sizes: readonly number[], clique: Columns, inside: readonly Columns[]): readonly Columns[] {
  const steps: Columns[] = [];
  if (cellsOf(sizes, clique) < small) return steps;
  let left = inside.filter((own) => own.length < clique.length);
  for (;;) {
    const gains = clique.map((a) => left.filter((own) => !own.includes(a)).length * (1 - 1 / sizes[a]!));
    const best = gains.indexOf(Math.max(...gains));
    // An intermediate table costs a pass in both directions.
    if (!(gains[best]! > 1.5)) return steps;
    const without = clique.filter((_, k) => k !== best);
    const taken = left.filter((own) => !own.includes(clique[best]!));
    left = left.filter((own) => own.includes(clique[best]!));
    steps.push(without, ...stepsInside(sizes, without, taken));
  }
}
