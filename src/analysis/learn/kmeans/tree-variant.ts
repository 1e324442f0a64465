import { rational, toNumber } from '../../../base/exact/rational.js';
import { type Additive, additive } from '../../../privacy/mechanism/additive.js';
import { type Allotment, partOf } from '../../../privacy/mechanism/allotment.js';
import { rowsMoved } from '../effects.js';
import { cellCloud, countTree, reconcile, type Tree, treeSides } from './grid.js';
import type { Setting, Variant } from './variant.js';
import { clusterCloud } from './weighted.js';

/** Noisy counts over nested cells. Each row is in one cell per level; the levels share the budget evenly (kmeans.proof.md). */
export function treeVariant({ box, clusters, rows, each, leftOut }: Setting, within: readonly Allotment[]): Variant {
  const last = box.grids.map((g) => g.last);
  const dimensions = last.length;
  const reach = Math.max(...within.map(worthOf));
  const tree: Tree = { dimensions, sides: treeSides(rows, reach / each, dimensions) };
  const levels = within
    .map((allotment) => levelNoise(tree, each, allotment))
    .reduce((a, b) => (b.at(-1)!.variance < a.at(-1)!.variance ? b : a));
  return {
    name: 'grid',
    why: `Noisy counts over grids of ${tree.sides.join(', ')} cells a side, reconciled and clustered as often as wanted for free: best in up to three dimensions.`,
    mechanisms: levels,
    ready: (paid) => {
      const add = levels.map((level) => level.ready(paid));
      return (points) => {
        const noisy = countTree(points, last, tree).map((counts, l) => add[l]!(counts.map(BigInt)).map(Number));
        const variances = levels.map(({ variance }) => variance);
        const cells = reconcile(noisy, variances, tree, each === 1 && !leftOut ? rows : undefined);
        return { centres: clusterCloud(cellCloud(cells, tree), clusters) };
      };
    },
  };
}

/** Approximate epsilon of a budget share, for choosing how fine the tree is. */
export const worthOf = ({ noise, amount }: Allotment): number =>
  noise === 'pure' ? toNumber(amount) : Math.sqrt(2 * toNumber(amount));

const levelNoise = ({ dimensions, sides }: Tree, each: number, allotment: Allotment): Additive[] =>
  sides.map((side, l) =>
    additive(
      { name: `rows per cell, level ${l + 1}`, cells: side ** dimensions, effects: rowsMoved(each) },
      partOf(allotment, rational(1, sides.length)),
    ),
  );
