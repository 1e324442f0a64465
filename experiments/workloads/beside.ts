import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { roundsOn } from '../synth/adult.js';
import { type Distance, oursOn, peerOn, peersThere } from './beside-peers.js';
import { iterationErrors } from './iterations.js';
import { rhoOf } from './measured.js';
import { readSet, setNames } from './sets.js';

const chosen = (variable: string, all: readonly string[]): readonly string[] => process.env[variable]?.split(',') ?? all;
const short = (x: number): number => Number(x.toPrecision(4));
/** The model size of `fugu synth` in cells, and a quarter of it for the peers, so that they end. */
const cells = Number(process.env.FUGU_CELLS ?? 800_000);
const theirs = 200_000;
/**
 * Settings that OpenDP leaves to the user: model size; the share of single columns as in the AIM paper instead of half;
 * fewer rounds; a limit of half an hour of processor time.
 */
const settings = (columns: number) => ({
  megabytes: (theirs * 8) / 2 ** 20,
  oneway: 1 / 16,
  rounds: 2 * columns,
  quick: true,
  stop: 1800,
});

/** Number of repetitions of every draw. */
const runs = Number(process.env.FUGU_RUNS ?? 1);

/**
 * All tables of three columns of public data sets, as tables and as rows, compared with OpenDP where it is installed. Lines
 * are written as they come, then their means. FUGU_SETS, FUGU_EPSILONS and FUGU_ALGORITHMS (tables,synth,MST,AIM) select runs.
 */
export async function besidePeers(out: string): Promise<void> {
  const peers = await peersThere();
  if (!peers) console.log('No OpenDP with graphical models (README.md): this program alone.');
  const file = join(out, 'peers.csv');
  writeFileSync(file, csvOf([['data', 'epsilon', 'by', 'distance', 'rmse', 'seconds', 'cpu']]));
  const found = new Map<string, Cell>();
  const tell = (name: string, epsilon: number, { by, distance, rmse, seconds, cpu }: Distance) => {
    const line = [name, epsilon, by, ...[distance, rmse, seconds, cpu].map(written)];
    console.log(line.join(' '));
    appendFileSync(file, csvOf([line]));
    const key = [name, epsilon, by].join();
    const cell = found.get(key) ?? { data: name, epsilon, by, distances: [], cpus: [] };
    found.set(key, cell);
    cell.distances.push(distance);
    cell.cpus.push(cpu ?? Number.NaN);
  };
  for (let run = 0; run < runs; run++)
    for (const epsilon of chosen('FUGU_EPSILONS', ['1', '0.1', '10']).map(Number))
      for (const name of chosen('FUGU_SETS', setNames)) {
        const set = await readSet(name);
        if (!set) continue;
        const rho = rhoOf(epsilon, 1e-9);
        for (const algorithm of chosen('FUGU_ALGORITHMS', ['tables', 'synth', 'MST', 'AIM']))
          if (algorithm === 'tables') for (const own of oursOn(set, 3, rho, 'removed')) tell(name, epsilon, own);
          else if (algorithm === 'synth') {
            const { distance, ofModel, ...made } = roundsOn(set, rho, 'removed', cells);
            tell(name, epsilon, { by: 'synth', ...made, distance: distance[2]! });
            tell(name, epsilon, { by: 'synth, its model', ...made, rmse: Number.NaN, distance: ofModel[2]! });
          } else if (peers)
            tell(
              name,
              epsilon,
              await peerOn(set, 3, rho, algorithm as 'AIM' | 'MST', algorithm === 'AIM' ? settings(set.sizes.length) : {}),
            );
      }
  const means = [...found.values()].map(({ data, epsilon, by, distances, cpus }) => {
    const { mean, sd } = spreadOf(distances);
    return { data, epsilon, by, runs: distances.length, mean: written(mean), sd: written(sd), cpu: written(spreadOf(cpus).mean) };
  });
  console.table(means);
  if (means[0]) writeFileSync(join(out, 'means.csv'), csvOf([Object.keys(means[0]), ...means.map((row) => Object.values(row))]));
}

/** All runs of one program on one data set with one epsilon. */
interface Cell {
  readonly data: string;
  readonly epsilon: number;
  readonly by: string;
  readonly distances: number[];
  readonly cpus: number[];
}

const written = (x: number | undefined): number | string => (x === undefined || Number.isNaN(x) ? '' : short(x));

/** Mean, and the spread of single runs; undefined for one run. */
function spreadOf(list: readonly number[]): { readonly mean: number; readonly sd: number } {
  const mean = list.reduce((sum, x) => sum + x, 0) / list.length;
  return { mean, sd: Math.sqrt(list.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (list.length - 1)) };
}

/** Tables of few columns, compared with the iterations of papers. */
export async function besideIterations(out: string): Promise<void> {
  const set = await readSet('eusilc');
  if (!set) return;
  const few = [1, 2, 3];
  const coded = { ...set, sizes: few.map((k) => set.sizes[k]!), columns: few.map((k) => set.columns[k]!) };
  const rows = [0.1, 1, 10].map((epsilon) => [epsilon, ...Object.values(iterationErrors(coded, epsilon)).map(short)]);
  const header = ['epsilon', 'cim', 'pmw', 'workload, no delta', 'workload, delta 1e-6'];
  console.table(rows.map((row) => Object.fromEntries(row.map((x, k) => [header[k]!, x]))));
  writeFileSync(join(out, 'iterations.csv'), csvOf([header, ...rows]));
}
