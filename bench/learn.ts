import { acsFolder, acsTask } from '../experiments/learning/acs.js';
import { adultFolder, adultTask } from '../experiments/learning/adult.js';
import { few, openBench, type Task } from '../experiments/learning/bench.js';
import { ourClassifiers, ourClusters, theirClassifiers, theirClusters } from '../experiments/learning/beside.js';
import { acsNumbers, adultNumbers, type ClusterSet, separated } from '../experiments/learning/cluster-sets.js';
import { peerMissing } from '../experiments/peer.js';
import { type CodedTable, splitColumns } from '../src/analysis/learn/network/coded.js';
import { learnChunks } from '../src/analysis/learn/network/learn-chunks.js';
import { type Bench, timed } from './bench.js';

/** Answers drawn from a random network (two parents each, within a window): 5 levels, so that chunks have real structure to find. */
export function generatedSurvey(columns: number, rows: number, levels: number, seed = 7): CodedTable {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const data = Array.from({ length: columns }, () => new Uint8Array(rows));
  for (let c = 0; c < columns; c++) {
    const parents =
      c === 0 ? [] : [c - 1 - Math.floor(uniform() * Math.min(c, 6)), c - 1 - Math.floor(uniform() * Math.min(c, 6))];
    const lean = Array.from({ length: levels * levels }, () => Math.floor(uniform() * levels));
    for (let i = 0; i < rows; i++) {
      const cell = parents.reduce((at, p) => at * levels + data[p]![i]!, 0);
      data[c]![i] = uniform() < 0.4 ? lean[cell]! : Math.floor(uniform() * levels);
    }
  }
  return {
    names: data.map((_, c) => `q${c}`),
    levels: data.map(() => levels),
    rows,
    columns: data,
  };
}

const learned = (columns: number, k: number, seconds: number): Bench => ({
  name: `exact networks: ${columns} columns in chunks of ${k}, 5 levels, 3,000 rows`,
  goal: { seconds },
  run: async () => {
    const survey = generatedSurvey(columns, 3000, 5);
    return timed(() => learnChunks(survey, splitColumns(columns, k)));
  },
});

const absent = 'the public data is not beside the checkout';

/** Fugu protects replacement at epsilon 1; diffprivlib, which uses add-remove, gives the same protection at epsilon 1/2. */
const clustered = (name: string, load: () => ClusterSet | undefined | Promise<ClusterSet | undefined>): Bench => ({
  name: `k-means: ${name}, epsilon 1, cost as a multiple of that without privacy`,
  goal: { ratio: 1 },
  run: async () => {
    const missing = await peerMissing('diffprivlib');
    if (missing) return { skipped: missing };
    const set = await load();
    if (!set) return { skipped: absent };
    const [theirs] = await theirClusters(set, [0.5], 10);
    return { ours: ourClusters(set, 1, 10), peer: { name: 'diffprivlib, equal neighbours', rounds: theirs! }, unit: 'x' };
  },
});

const converging = (dimensions: number): Bench => ({
  name: `k-means: separated clusters in ${dimensions}-d, epsilon 1,000`,
  goal: { ratio: 1.02 },
  run: async () => {
    const ours = ourClusters(separated(dimensions, 5, 10_000), 1000, 10);
    return { ours, peer: { name: 'no privacy', rounds: ours.map(() => 1) }, unit: 'x' };
  },
});

/** Wrong test rows; diffprivlib with its best penalty on them, so a difference of one row in two hundred is tolerated. */
const classified = (name: string, times: number, load: () => Promise<Task | undefined>): Bench => ({
  name: `logistic regression: ${name}, epsilon 1, no delta, test rows wrong`,
  goal: { ratio: 1 },
  run: async () => {
    const missing = await peerMissing('diffprivlib');
    if (missing) return { skipped: missing };
    const task = await load();
    if (!task) return { skipped: absent };
    const bench = openBench(task);
    try {
      const [theirs] = await theirClassifiers(bench, [1], times);
      const wrong = (right: readonly number[]) => right.map((share) => 100 * (1 - share));
      const ours = wrong(await ourClassifiers(bench, '{ epsilon: 1 }', '1', times));
      return { ours, peer: { name: 'diffprivlib, best C', rounds: wrong(theirs!) }, unit: '%' };
    } finally {
      bench.remove();
    }
  },
});
const adult = async () => (adultFolder ? adultTask(adultFolder) : undefined);
const acs = async () => (acsFolder ? acsTask(acsFolder) : undefined);
const fewOf = (load: () => Promise<Task | undefined>) => async () => {
  const task = await load();
  return task && few(task, 400);
};

/** The worker pool is resident, so the first run, which starts it, does not count. */
export const benches: readonly Bench[] = [
  learned(402, 10, 0.3),
  learned(153, 15, 0.5),
  learned(20, 20, 0.5),
  ...[4, 8, 12].map((d) => clustered(`5 separated clusters in ${d}-d, 10,000 rows`, () => separated(d, 5, 10_000))),
  clustered('Adult, 5 numbers, 8 clusters', () => adultNumbers(8)),
  clustered('ACS, 6 numbers, 6 clusters', () => acsNumbers(6)),
  ...[2, 6, 12].map(converging),
  classified('Adult', 9, adult),
  classified('ACS', 9, acs),
  classified('400 rows of Adult', 20, fewOf(adult)),
  classified('400 rows of ACS', 20, fewOf(acs)),
];
