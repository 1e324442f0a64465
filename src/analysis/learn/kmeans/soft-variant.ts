import { rational } from '../../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import { everyRecord, pairsClass } from '../../../privacy/mechanism/record-class.js';
import { type CountTree, cellCloud, reconcileCounts, sumUpwards, treeSides } from './count-tree.js';
import { fitsDoubles, type Lattice, massOf, softCounts, softSensitivity } from './lattice.js';
import { epsilonWorth } from './tree-variant.js';
import type { KmeansSetting, KmeansVariant, PairDistances } from './variant.js';
import { clusterWeighted } from './weighted-lloyd.js';

/** Steps between nodes: masses of many rows are exact whole numbers in doubles. */
const stepsFor = (dimensions: number): number => (dimensions === 1 ? 256 : dimensions === 2 ? 64 : 32);
const maxNodes = 2 ** 16;
/** Largest sensitivity along a pair, relative to that of any replacement, at which the lattice beats disjoint cells. */
const worthwhile = 1 / 2;

/**
 * Most cells of the plain grid between two nodes; beyond it blurring costs more than noise (measured on Gowalla:
 * docs/explanation/decisions/0037-ordered-counts.md).
 */
const maxBlur = 2;

/** Noisy masses on a lattice, with noise fitted to pairs of nearby places; undefined if that saves nothing. */
export function softVariant(
  { box, clusters, rows, near }: KmeansSetting,
  within: readonly BudgetShare[],
): KmeansVariant | undefined {
  const last = box.grids.map((g) => g.last);
  const dimensions = last.length;
  if (!near || dimensions > 3 || near.reach.every((far) => far === 0)) return undefined;
  const found = finestLattice(dimensions, last, near, rows * Math.max(...within.map(epsilonWorth)));
  if (!found || !fitsDoubles(found.lattice, last, rows)) return undefined;
  const { lattice, tree } = found;
  const sensitivity = softSensitivity(lattice, last, near);
  const levels = within
    .map((budgetShare) => levelNoise(tree, sensitivity, near, budgetShare))
    .reduce((a, b) => (b.at(-1)!.variance < a.at(-1)!.variance ? b : a));
  const mass = massOf(lattice);
  const fineSteps = (lattice.side - 1) * lattice.steps;
  return {
    name: 'soft',
    why: `Every row is spread over the nearest nodes of a lattice of ${lattice.side} a side, so that pairs of near values move little of it; noisy sums of ${tree.sides.join(', ')} a side are reconciled and clustered as often as wanted for free.`,
    mechanisms: levels,
    prepare: (payment) => {
      const add = levels.map((level) => level.prepare(payment));
      return (points) => {
        const noisy = sumUpwards(softCounts(points, last, lattice), tree).map((masses, l) =>
          add[l]!(masses.map(BigInt)).map((x) => Number(x) / mass),
        );
        const cells = reconcileCounts(
          noisy,
          levels.map(({ variance }) => variance / mass ** 2),
          tree,
          rows,
        );
        // A position is rounded down to a step.
        const place = (node: number, side: number) => (2 * node) / (side - 1) - 1 + 1 / fineSteps;
        return { centres: clusterWeighted(cellCloud(cells, tree, place), clusters) };
      };
    },
  };
}

/** True if a lattice for these pairs is about as fine as the grid that uses no pairs. */
export function isFineLattice({ box, rows, near }: KmeansSetting, within: readonly BudgetShare[]): boolean {
  const last = box.grids.map((g) => g.last);
  const worth = Math.max(...within.map(epsilonWorth));
  const found = near && finestLattice(last.length, last, near, rows * worth);
  return found !== undefined && maxBlur * found.lattice.side >= treeSides(rows, worth, last.length).at(-1)!;
}

/** The finest lattice with at most as many nodes as rows that the noise along pairs lets through; above it every second halving. */
function finestLattice(
  dimensions: number,
  last: readonly number[],
  near: PairDistances,
  through: number,
): { readonly lattice: Lattice; readonly tree: CountTree } | undefined {
  for (let halvings = Math.floor(Math.log2(maxNodes) / dimensions); halvings >= 2; halvings--) {
    const lattice = { dimensions, side: 2 ** halvings, steps: stepsFor(dimensions) };
    const sensitivity = softSensitivity(lattice, last, near);
    const part = Number(sensitivity.get(pairsClass(near.digest))!.l1) / Number(sensitivity.get(everyRecord)!.l1);
    if (part > worthwhile || lattice.side ** dimensions > through / part) continue;
    const sides = [lattice.side];
    for (let h = halvings - 2; h >= 2; h -= 2) sides.unshift(2 ** h);
    return { lattice, tree: { dimensions, sides } };
  }
  return undefined;
}

const levelNoise = (
  { dimensions, sides }: CountTree,
  sensitivity: ReturnType<typeof softSensitivity>,
  near: PairDistances,
  budgetShare: BudgetShare,
): AdditiveMechanism[] =>
  sides.map((side, l) =>
    additiveMechanism(
      { name: `rows spread over nodes, level ${l + 1}`, cells: side ** dimensions, sensitivity },
      splitShare(budgetShare, rational(1, sides.length)),
      (record) => record === pairsClass(near.digest),
    ),
  );
