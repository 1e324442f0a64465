import { nearestCentroids } from '../../src/analysis/learn/kmeans/centroids.js';
import { chooseVariant, type KmeansRequest } from '../../src/analysis/learn/kmeans/kmeans.js';
import type { PointBox, Points } from '../../src/analysis/learn/kmeans/points.js';
import type { KmeansVariant } from '../../src/analysis/learn/kmeans/variant.js';
import { weightedLloyd } from '../../src/analysis/learn/kmeans/weighted-lloyd.js';
import { type Rational, rational } from '../../src/base/exact/rational.js';
import { gridOf } from '../../src/policy/grid.js';
import { pure } from '../../src/privacy/mechanism/budget-share.js';
import { Payment } from '../../src/privacy/mechanism/payment.js';
import { type ClusterSet, last } from './cluster-sets.js';

/** The box that a session would declare for these rows, with bounds -1 .. 1. */
const boxOfSet = ({ dimensions }: ClusterSet): PointBox => ({
  names: Array.from({ length: dimensions }, (_, c) => `x${c}`),
  grids: Array.from({ length: dimensions }, (_, c) =>
    gridOf({ name: `x${c}`, type: 'number', bounds: [rational(-1), rational(1)], step: rational(2, last), missing: [] }),
  ),
});
const pointsOfSet = ({ dimensions, rows }: ClusterSet): Points => ({
  dimensions,
  count: rows.length / dimensions,
  coordinates: Int32Array.from(rows, (x) => 2 * Math.round(((x + 1) / 2) * last) - last),
});

/** Mean squared distance to the nearest centre. */
const costOf = ({ dimensions: d, rows }: ClusterSet, centres: readonly (readonly number[])[]): number =>
  nearestCentroids(centres, d, rows).gap.reduce((a, b) => a + b, 0) / (rows.length / d);

/** The best of several starts at rows of the data: what is possible without privacy. */
export function plainCost(set: ClusterSet, starts = 10): number {
  const { dimensions: d, rows, clusters } = set;
  const cloud = { dimensions: d, points: rows, weights: new Float64Array(rows.length / d).fill(1) };
  const costs = Array.from({ length: starts }, () => weightedLloyd(cloud, plusPlus(set, clusters), 60).centres);
  return Math.min(...costs.map((centres) => costOf(set, centres)));
}

function plusPlus({ dimensions: d, rows }: ClusterSet, clusters: number): number[][] {
  const n = rows.length / d;
  const gap = new Float64Array(n).fill(1);
  const chosen: number[][] = [];
  while (chosen.length < clusters) {
    let left = Math.random() * gap.reduce((a, b) => a + b, 0);
    let i = 0;
    while (i < n - 1 && left >= gap[i]!) left -= gap[i++]!;
    const centre = [...rows.subarray(i * d, (i + 1) * d)];
    for (let j = 0; j < n; j++) {
      let apart = 0;
      for (let c = 0; c < d; c++) apart += (rows[j * d + c]! - centre[c]!) ** 2;
      gap[j] = chosen.length === 0 ? apart : Math.min(gap[j]!, apart);
    }
    chosen.push(centre);
  }
  return chosen;
}

export const variantFor = (set: ClusterSet, epsilon: Rational, variant: KmeansRequest['variant'] = 'auto'): KmeansVariant =>
  chooseVariant(
    { variant },
    { box: boxOfSet(set), clusters: set.clusters, records: set.rows.length / set.dimensions, rowsPerRecord: 1 },
    { pure: pure(epsilon) },
  );

/** Costs of a variant's centres on the rows, in `times` draws. */
export function privateCosts(set: ClusterSet, variant: KmeansVariant, times: number): number[] {
  const points = pointsOfSet(set);
  return Array.from({ length: times }, () => costOf(set, variant.prepare(new Payment(variant.mechanisms))(points).centres));
}
