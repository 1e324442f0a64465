import { Fault } from '../../../base/errors.js';
import { stridesOf } from '../../../privacy/dependence/model/joint.js';
import { levelCell, levelCount, type PairTables, pairCount } from '../../../privacy/dependence/pairwise/pair-tables.js';
import { influence } from '../pufferfish/quilt-network.js';

/**
 * Tabular-DDP (Algorithm 1 of Maughan and Near), for comparison only. NOT SOUND: no self term, log-probability ratios as
 * sensitivities, pairs along edges only, chunk epsilons that do not add up. Line 5 and the text disagree, so readings are named.
 */
export const tabularReadings = {
  /** log P(X_j=d | X_i=a) / P(X_j=d | X_i=b), as in the text; a zero cell makes it infinite. */
  conditional: { kind: 'conditional', smoothing: 0, zeros: 'infinite' },
  'zeros-ignored': { kind: 'conditional', smoothing: 0, zeros: 'ignored' },
  'add-one': { kind: 'conditional', smoothing: 1, zeros: 'infinite' },
  'add-hundredth': { kind: 'conditional', smoothing: 0.01, zeros: 'infinite' },
  /** Line 5 as printed: joint probabilities. */
  joint: { kind: 'joint', smoothing: 0, zeros: 'ignored' },
  /** Lemma 2 instead of line 6: the largest sum over one column's edges. */
  'max-row': { kind: 'conditional', smoothing: 0, zeros: 'ignored', combine: 'max-row' },
  /** The coefficient capped at one, as in the paper it builds on; not in that of Maughan and Near. */
  clipped: { kind: 'conditional', smoothing: 0, zeros: 'ignored', clip: 1 },
} as const satisfies Record<string, TabularReading>;
export type TabularReadingName = keyof typeof tabularReadings;
export interface TabularReading {
  readonly kind: 'conditional' | 'joint';
  readonly smoothing: number;
  readonly zeros: 'infinite' | 'ignored';
  readonly combine?: 'sum' | 'max-row';
  readonly clip?: number;
}

/** The dependence coefficient of the edge parent -> child. */
function edgeCoefficient(pairs: PairTables, parent: number, child: number, reading: TabularReading): number {
  let most = 0;
  const levels = pairs.levels[parent]!;
  for (let d = 0; d < pairs.levels[child]!; d++)
    for (let a = 0; a < levels; a++)
      for (let b = 0; b < levels; b++) {
        // Nothing is conditional on an answer without rows, unless the reading gives it some weight.
        if (a === b || (reading.smoothing === 0 && [a, b].some((v) => levelCount(pairs, parent, v) === 0))) continue;
        const [pa, pb] = [a, b].map((v) => {
          const joint = pairCount(pairs, levelCell(pairs, parent, v), levelCell(pairs, child, d)) + reading.smoothing;
          if (reading.kind === 'joint') return joint;
          return joint / (levelCount(pairs, parent, v) + reading.smoothing * pairs.levels[child]!);
        }) as [number, number];
        if (pa === 0 || (pb === 0 && reading.zeros === 'ignored')) continue;
        most = Math.max(most, Math.log(pa / pb));
      }
  return reading.clip === undefined ? most : Math.min(most, reading.clip);
}

export interface TabularChunk {
  /** Positions of the chunk's columns in the pair tables. */
  readonly columns: readonly number[];
  /** Parents of each of them, as positions within the chunk. */
  readonly parents: readonly (readonly number[])[];
}

export function dependentSensitivity(pairs: PairTables, chunk: TabularChunk, reading: TabularReading): number {
  const rows = chunk.columns.map(() => 0);
  let sum = 0;
  chunk.parents.forEach((list, child) => {
    for (const parent of list) {
      const rho = edgeCoefficient(pairs, chunk.columns[parent]!, chunk.columns[child]!, reading);
      sum += rho;
      rows[parent]! += rho;
      rows[child]! += rho;
    }
  });
  return reading.combine === 'max-row' ? Math.max(0, ...rows) : sum;
}

export interface TabularNoise {
  readonly label: string;
  readonly certified: false;
  readonly reading: string;
  /** Dependent sensitivity per chunk. */
  readonly sensitivities: readonly number[];
  /** Laplace scale per column of the pair tables: n DS / (k epsilon). */
  readonly scales: readonly number[];
  readonly problems: readonly string[];
}

/**
 * Noise scales of Algorithm 1. Refuses what it cannot honestly do - infinite noise, or a sensitivity below one, which is less noise than a
 * single independent column needs - unless the caller insists on the published numbers.
 */
export function tabularNoise(
  pairs: PairTables,
  { chunks, chunkSize, epsilon }: { chunks: readonly TabularChunk[]; chunkSize: number; epsilon: number },
  options: { readonly reading?: TabularReadingName; readonly asPublished?: boolean } = {},
): TabularNoise {
  const name = options.reading ?? 'conditional';
  const reading = tabularReadings[name];
  const n = pairs.levels.length;
  const sensitivities = chunks.map((chunk) => dependentSensitivity(pairs, chunk, reading));
  const infinite = sensitivities.filter((ds) => ds === Number.POSITIVE_INFINITY).length;
  const small = sensitivities.filter((ds) => ds < 1).length;
  if (infinite > 0)
    throw new Fault(
      'NOT_PRIVATE',
      `Tabular-DDP asks for infinite noise in ${infinite} of ${chunks.length} chunks: an answer that rules out another makes its coefficient infinite.`,
      'Use a certified survey release (fugu release --survey), or name another reading of the paper.',
      { details: { chunks: chunks.length, infinite } },
    );
  if (small > 0 && options.asPublished !== true)
    throw new Fault(
      'NOT_PRIVATE',
      `Tabular-DDP would use a sensitivity below one in ${small} of ${chunks.length} chunks: less noise than one column alone needs.`,
      'Use a certified survey release, or pass --as-published to reproduce the paper.',
      { details: { chunks: chunks.length, small } },
    );
  const scales = new Array<number>(n).fill(0);
  chunks.forEach((chunk, c) => {
    for (const column of chunk.columns) scales[column] = (n * sensitivities[c]!) / (Math.min(chunkSize, n) * epsilon);
  });
  const problems = [
    'No guarantee: the published proof counts neither the answer itself nor dependence outside the learned edges.',
  ];
  const bare = sensitivities.filter((ds) => ds === 0).length;
  if (bare > 0) problems.push(`${bare} of ${chunks.length} chunks have no edge and get no noise: their counts would be exact.`);
  return { label: 'as published', certified: false, reading: name, sensitivities, scales, problems };
}

/**
 * A sound cousin (Markov quilt over columns): scale_i = min over sets N that contain i of 2|N| / (epsilon - e(X_rest | X_i)), the largest over i. N = all
 * columns gives 2n/epsilon. Enumerates the joint: small surveys only.
 */
export function columnQuilt(weights: ArrayLike<number>, sizes: readonly number[], epsilon: number): number {
  const n = sizes.length;
  const joint = { sizes, strides: stridesOf(sizes), probabilities: Float64Array.from(weights) };
  let worst = 0;
  for (let i = 0; i < n; i++) {
    let least = (2 * n) / epsilon;
    for (let near = 0; near < 1 << n; near++) {
      if (!((near >> i) & 1)) continue;
      const far = sizes.flatMap((_, j) => ((near >> j) & 1 ? [] : [j]));
      const slack = epsilon - influence(joint, i, far);
      if (slack > 0) least = Math.min(least, (2 * (n - far.length)) / slack);
    }
    worst = Math.max(worst, least);
  }
  return worst;
}
