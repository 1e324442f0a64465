import { describe, expect, it } from 'vitest';
import { withIntermediateTables } from './intermediate-tables.js';
import { isWithin, type JunctionTree, junctionTree } from './junction-tree.js';

let seed = 5;
const uniform = () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};
const somewhere = (n: number) => Math.floor(n * uniform());

/** The running intersection property: the cliques that hold a column form one connected part of the tree. */
function hasRunningIntersection({ cliques, parents }: JunctionTree, columns: number): boolean {
  return Array.from({ length: columns }, (_, a) => a).every((a) => {
    const own = cliques.flatMap((clique, c) => (clique.includes(a) ? [c] : []));
    return own.filter((c) => parents[c]! < 0 || !cliques[parents[c]!]!.includes(a)).length === 1;
  });
}
const random = () => {
  const sizes = Array.from({ length: 3 + somewhere(9) }, () => 2 + somewhere(6));
  const sets = Array.from({ length: 1 + somewhere(14) }, () =>
    [...new Set([somewhere(sizes.length), somewhere(sizes.length), somewhere(sizes.length)])].sort((a, b) => a - b),
  );
  return { sizes, sets };
};

describe('the junction tree', () => {
  it('the junction tree holds every set and every column, has the running intersection property, and reports its number of cells', () => {
    for (let turn = 0; turn < 200; turn++) {
      const { sizes, sets } = random();
      const tree = junctionTree(sizes, sets);
      for (const trial of [tree, withIntermediateTables(sizes, tree, sets)]) {
        for (const set of [...sets, ...sizes.keys()].map((x) => [x].flat()))
          expect(trial.cliques.some((clique) => isWithin(set, clique))).toBe(true);
        expect(hasRunningIntersection(trial, sizes.length)).toBe(true);
        expect(trial.parents.every((parent, c) => parent < c)).toBe(true);
        expect(trial.cells).toBe(trial.cliques.reduce((n, own) => n + own.reduce((m, a) => m * sizes[a]!, 1), 0));
      }
    }
  });

  it('the junction tree of a chain of sets is minimal, and one beyond all bounds is reported at once', () => {
    const chain = Array.from({ length: 99 }, (_, k) => [k, k + 1]);
    expect(junctionTree(new Array(100).fill(10), chain).cells).toBe(9900);
    const pairs = Array.from({ length: 100 }, (_, a) => Array.from({ length: a }, (_, b) => [b, a])).flat();
    expect(junctionTree(new Array(100).fill(10), pairs).cells).toBe(Number.POSITIVE_INFINITY);
  });
});
