import { rational, toNumber } from '../../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import { tableSensitivity } from '../record-sensitivity.js';
import { type CountTree, cellCloud, countTree, reconcileCounts, treeSides } from './count-tree.js';
import type { KmeansSetting, KmeansVariant } from './variant.js';
import { clusterWeighted } from './weighted-lloyd.js';

/** Noisy counts over nested cells. Each row is in one cell per level; the levels share the budget evenly (kmeans.proof.md). */
export function treeVariant(
  { box, clusters, rows, each, leftOut }: KmeansSetting,
  within: readonly BudgetShare[],
): KmeansVariant {
  const last = box.grids.map((g) => g.last);
  const dimensions = last.length;
  const reach = Math.max(...within.map(epsilonWorth));
  const tree: CountTree = { dimensions, sides: treeSides(rows, reach / each, dimensions) };
  const levels = within
    .map((budgetShare) => levelNoise(tree, each, budgetShare))
    .reduce((a, b) => (b.at(-1)!.variance < a.at(-1)!.variance ? b : a));
  return {
    name: 'grid',
    why: `Noisy counts over grids of ${tree.sides.join(', ')} cells a side, reconciled and clustered as often as wanted for free: best in up to three dimensions.`,
    mechanisms: levels,
    prepare: (payment) => {
      const add = levels.map((level) => level.prepare(payment));
      return (points) => {
        const noisy = countTree(points, last, tree).map((counts, l) => add[l]!(counts.map(BigInt)).map(Number));
        const variances = levels.map(({ variance }) => variance);
        const cells = reconcileCounts(noisy, variances, tree, each === 1 && !leftOut ? rows : undefined);
        return { centres: clusterWeighted(cellCloud(cells, tree), clusters) };
      };
    },
  };
}

/** Approximate epsilon of a budget share, for choosing how fine the tree is. */
export const epsilonWorth = ({ noise, amount }: BudgetShare): number =>
  noise === 'pure' ? toNumber(amount) : Math.sqrt(2 * toNumber(amount));

const levelNoise = ({ dimensions, sides }: CountTree, each: number, budgetShare: BudgetShare): AdditiveMechanism[] =>
  sides.map((side, l) =>
    additiveMechanism(
      { name: `rows per cell, level ${l + 1}`, cells: side ** dimensions, sensitivity: tableSensitivity(each) },
      splitShare(budgetShare, rational(1, sides.length)),
    ),
  );
