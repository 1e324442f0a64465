import { largestPairSpan } from '../../../policy/pairs/pair-span.js';
import type { Policy } from '../../../policy/policy.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { everyRecord, pairsClass } from '../../../privacy/mechanism/record-class.js';
import type { Allowance } from '../../../release/session/allowance.js';
import { epsilonOf, gridSides, maxGridCells, nestedSides, nestedVariant } from './grid.js';
import { fitsDoubles, type Lattice, massOf, softCounts, softSensitivity } from './lattice.js';
import { lastPositions, type PointBox } from './points.js';
import type { KmeansSetting, KmeansVariant, PairDistances } from './variant.js';

/**
 * Distances of a policy's pairs of values in points. Ties move others by their full range, so such noise is used without ties only
 * (privacy/mechanism/pairs.proof.md).
 */
export function pairDistancesIn(
  { protect }: Policy,
  box: PointBox,
  { route }: Pick<Allowance, 'route'>,
): PairDistances | undefined {
  const { pairs, secret } = protect;
  if (!pairs || (secret !== 'row' && secret !== 'step') || !route.amplifier.strangers || route.pairs !== pairs.digest)
    return undefined;
  const own = box.names.map((name) => pairs.columns.get(name));
  return {
    digest: pairs.digest,
    largest: own.map((column, c) => largestPairSpan(column, box.grids[c]!.last)),
    withMissing: own.some((column) => column === undefined || column.missing === 'any'),
  };
}

/** Steps between nodes, by dimensions: masses of many rows are exact whole numbers in doubles. */
const stepsFor = [256, 64, 32];
/** Largest sensitivity along a pair, relative to that of any replacement, at which the lattice beats disjoint cells. */
const worthwhile = 1 / 2;

/**
 * Most cells of the plain grid between two nodes; beyond it blurring costs more than noise (measured on Gowalla:
 * docs/explanation/decisions/0037-ordered-counts.md).
 */
export const maxBlur = 2;

/**
 * Masses on a lattice, with noise fitted to pairs of nearby places; undefined if that saves nothing, or if the lattice is coarser
 * than the plain grid by more than `blur`.
 */
export function softVariant(setting: KmeansSetting, within: readonly BudgetShare[], blur: number): KmeansVariant | undefined {
  const { box, clusters, records, pairs } = setting;
  const last = lastPositions(box);
  if (!pairs || last.length > 3 || pairs.largest.every((distance) => distance === 0)) return undefined;
  const epsilon = epsilonOf(within);
  const lattice = finestLattice(last, pairs, records * epsilon);
  if (!lattice || blur * lattice.side < gridSides(records, epsilon, last.length).at(-1)!) return undefined;
  if (!fitsDoubles(lattice, last, records)) return undefined;
  const { dimensions, side, steps } = lattice;
  const sides = nestedSides(Math.log2(side));
  const finePositions = (side - 1) * steps;
  return nestedVariant(clusters, within, {
    name: 'soft',
    why: `Every row is spread over the nearest nodes of a lattice of ${side} a side, so that pairs of near values move little of it; noisy sums of ${sides.join(', ')} a side are reconciled and clustered as often as wanted for free.`,
    grids: { dimensions, sides },
    counted: 'rows spread over nodes',
    sensitivity: softSensitivity(lattice, last, pairs),
    scope: (record) => record === pairsClass(pairs.digest),
    count: (points) => softCounts(points, last, lattice),
    mass: massOf(lattice),
    // A position is rounded down to a step.
    place: (node) => (2 * node) / (side - 1) - 1 + 1 / finePositions,
    rows: records,
  });
}

/** The finest lattice with at most as many nodes as rows that the noise along pairs lets through. */
function finestLattice(last: readonly number[], pairs: PairDistances, through: number): Lattice | undefined {
  const dimensions = last.length;
  for (let halvings = Math.floor(Math.log2(maxGridCells) / dimensions); halvings >= 2; halvings--) {
    const lattice = { dimensions, side: 2 ** halvings, steps: stepsFor[dimensions - 1]! };
    const sensitivity = softSensitivity(lattice, last, pairs);
    const part = Number(sensitivity.get(pairsClass(pairs.digest))!.l1) / Number(sensitivity.get(everyRecord)!.l1);
    if (part <= worthwhile && lattice.side ** dimensions <= through / part) return lattice;
  }
  return undefined;
}
