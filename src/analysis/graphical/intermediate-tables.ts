import { isWithin, type JunctionTree, spanningTree } from './junction-tree.js';
import { marginalSize } from './marginal.js';

type Columns = readonly number[];

/** Cells below which an intermediate table saves no time. */
const small = 512;

/**
 * The junction tree with intermediate tables between cliques and factors: factors that lack a column of a clique share one smaller
 * table, which saves a pass through all cells for each of them.
 */
export function withIntermediateTables(sizes: readonly number[], tree: JunctionTree, factors: readonly Columns[]): JunctionTree {
  const { cliques, parents } = tree;
  const found = new Map(cliques.map((own) => [own.join(), own]));
  const homes = cliques.map((): Columns[] => []);
  for (const own of factors) homes[cliques.findIndex((clique) => isWithin(own, clique))]?.push(own);
  for (const [c, parent] of parents.entries())
    if (parent >= 0) homes[parent]!.push(cliques[c]!.filter((a) => cliques[parent]!.includes(a)));
  for (const [c, clique] of cliques.entries())
    for (const own of intermediateSets(sizes, clique, homes[c]!)) found.set(own.join(), own);
  const all = [...found.values()];
  if (all.length === cliques.length) return tree;
  return { ...spanningTree(all, sizes), cells: all.reduce((n, own) => n + marginalSize(sizes, own), 0) };
}

function intermediateSets(sizes: readonly number[], clique: Columns, inside: readonly Columns[]): readonly Columns[] {
  const steps: Columns[] = [];
  if (marginalSize(sizes, clique) < small) return steps;
  let left = inside.filter((own) => own.length < clique.length);
  for (;;) {
    const gains = clique.map((a) => left.filter((own) => !own.includes(a)).length * (1 - 1 / sizes[a]!));
    const best = gains.indexOf(Math.max(...gains));
    // An intermediate table costs a pass in both directions.
    if (!(gains[best]! > 1.5)) return steps;
    const without = clique.filter((_, k) => k !== best);
    const taken = left.filter((own) => !own.includes(clique[best]!));
    left = left.filter((own) => own.includes(clique[best]!));
    steps.push(without, ...intermediateSets(sizes, without, taken));
  }
}
