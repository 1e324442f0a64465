import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releaseClassify } from '../../src/analysis/learn/classify/classify.js';
import type { KmeansRequest } from '../../src/analysis/learn/kmeans/kmeans.js';
import { fromNumber } from '../../src/base/exact/rational.js';
import { askPeer } from '../peer.js';
import type { Bench } from './bench.js';
import type { ClusterSet } from './cluster-sets.js';
import { plainCost, privateCosts, variantFor } from './clustering.js';

export const meanOf = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;

const least = new WeakMap<ClusterSet, number>();
/** Computed once for each set: it takes longer than clustering with noise. */
function leastCost(set: ClusterSet): number {
  const known = least.get(set) ?? plainCost(set);
  least.set(set, known);
  return known;
}

/** Cost of our centres as a multiple of the least found without privacy, of every run. */
export const ourClusters = (set: ClusterSet, epsilon: number, times: number, variant?: KmeansRequest['variant']): number[] =>
  privateCosts(set, variantFor(set, fromNumber(epsilon), variant), times).map((cost) => cost / leastCost(set));

/** The same for diffprivlib, at every epsilon. */
export async function theirClusters(set: ClusterSet, epsilons: readonly number[], times: number): Promise<number[][]> {
  const place = mkdtempSync(join(tmpdir(), 'fugu-clusters-'));
  try {
    const points = join(place, 'points.f64');
    writeFileSync(points, set.rows);
    const task = { task: 'kmeans', points, columns: set.dimensions, clusters: set.clusters, epsilons, times };
    return (await askPeer<{ ratios: number[][] }>('diffprivlib', task)).ratios;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Accuracies on the test rows, each of a whole release through a fresh ledger. */
export async function ourClassifiers(
  bench: Bench,
  budget: string,
  epsilon: string,
  times: number,
  more: object = {},
  dependence?: string,
): Promise<number[]> {
  const found: number[] = [];
  for (let k = 0; k < times; k++) {
    const session = await bench.session(budget, dependence);
    const { result } = await releaseClassify(session, { ...bench.task.ask, ...more }, { epsilon });
    await session.close();
    found.push(bench.accuracy(result));
  }
  return found;
}

/** Penalties in diffprivlib's unit; it gets the one with the best mean accuracy on the test rows, of which all runs are returned. */
const penalties = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3];
export async function theirClassifiers(bench: Bench, epsilons: readonly number[], times: number): Promise<number[][]> {
  const task = { task: 'logistic', ...(await bench.matrices()), epsilons, penalties, times };
  const { right } = await askPeer<{ right: number[][][] }>('diffprivlib', task);
  return right.map((byPenalty) => byPenalty.reduce((best, runs) => (meanOf(runs) > meanOf(best) ? runs : best)));
}
