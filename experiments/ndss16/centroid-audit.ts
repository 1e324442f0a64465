import { toNumber } from '../../src/base/exact/rational.js';
import { seededRandom } from '../../src/evaluate/attack/inference/attacker.js';
import type { Population } from '../../src/evaluate/attack/inference/patterns.js';
import type { FactorGraph } from '../../src/privacy/dependence/graph/factor-graph.js';
import { allRanks, lloyd, publicStart, type Vectors } from './cluster.js';
import { type Book, type Cell, short } from './output.js';
import type { Published } from './published-lines.js';
import { certifiedBase } from './releases.js';

const l1 = (a: Float64Array, b: Float64Array): number => a.reduce((s, v, k) => s + Math.abs(v - b[k]!), 0);

/**
 * Distance by which the exact centres move when some people are replaced:
 * K-means is run again from the same public start.
 */
function recluster(
  before: Float64Array,
  points: Vectors,
  clusters: number,
  moved: readonly number[],
  to: (d: number) => number,
): number {
  const at = points.at.slice();
  for (const i of moved) for (let d = 0; d < points.width; d++) at[i * points.width + d] = to(d);
  return l1(before, lloyd({ ...points, at }, publicStart(clusters, points.width)).centres);
}

/**
 * Lower bound on the sensitivity of "cluster, then perturb" on this data, with people moved to corners of the box.
 * The loss of Laplace noise is L1 distance / scale: distance / (scale x epsilon) > 1 proves a violation, without statistics.
 */
export function centroidAudit(
  book: Book,
  population: Population,
  graph: FactorGraph,
  clusters: number,
  published: (epsilon: number) => Published,
  epsilon: number,
  tries: number,
): void {
  const points = allRanks(population);
  const before = lloyd(points, publicStart(clusters, points.width)).centres;
  const draw = seededRandom(5);
  const corners: readonly ((d: number) => number)[] = [() => 0, () => 1, (d) => d & 1, (d) => 1 - (d & 1)];
  let one = 0;
  for (let k = 0; k < tries; k++)
    one = Math.max(one, recluster(before, points, clusters, [Math.floor(draw() * points.count)], corners[k % corners.length]!));
  // The person with most friends, with all of them: the change under complete dependence.
  const { friendStart, friends } = population;
  let hub = 0;
  for (let i = 0; i < population.people; i++)
    if (friendStart[i + 1]! - friendStart[i]! > friendStart[hub + 1]! - friendStart[hub]!) hub = i;
  const circle = [hub, ...friends.subarray(friendStart[hub]!, friendStart[hub + 1]!)];
  const tied = Math.max(...corners.map((to) => recluster(before, points, clusters, circle, to)));
  const possible = clusters * points.width;
  const names: Record<string, string> = { lpm: 'LPM', dpm: 'DPM (Eq. 26, 18)', zhu: 'Zhu et al. 2015', group: 'group, L = n' };
  const lines = published(epsilon);
  const rows: Cell[][] = [
    [
      'line',
      'sensitivity it assumes',
      'one record moved, loss / epsilon',
      'hub and friends moved, loss / epsilon',
      'worst data, loss / epsilon',
      'promise',
    ],
    ...(['lpm', 'dpm', 'zhu', 'group'] as const).map((line): Cell[] => {
      const assumed = lines[line].scale * epsilon;
      const losses = [one / assumed, tied / assumed, possible / assumed];
      const verdict =
        losses[0]! > 1
          ? 'broken on this data'
          : losses[1]! > 1
            ? 'broken on this data with its ties'
            : losses[2]! > 1
              ? 'broken on other data'
              : 'kept by the size of the noise alone';
      return [names[line]!, short(assumed), ...losses.map(short), verdict];
    }),
    [
      'certified (noise on counts and sums)',
      short(epsilon / toNumber(certifiedBase(graph, `${epsilon}`))),
      'at most 1',
      'at most 1',
      'at most 1',
      'kept (proven)',
    ],
  ];
  book.say(`## Audit of the published lines (perturbed centroids), epsilon ${epsilon}`);
  book.table('audit-centroids', rows);
  book.say(
    `Moving one of ${tries} people to a corner moved the exact centres by up to ${short(one)} (L1, ${possible} coordinates in [0, 1]); moving the best connected person and all ${circle.length - 1} friends, by up to ${short(tied)}; on the worst data ${possible} is possible, since assignments can flip. The paper’s formulas assume 1 per record. "Hub and friends moved" is complete dependence; it is the measure of the group line, and an upper end for the others.`,
  );
}
