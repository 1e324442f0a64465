import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { lineChart } from '../../src/app/report/line-chart.js';
import { standalone } from '../../src/app/report/svg.js';
import { aboveMajority } from '../above-majority.js';
import { peerMissing } from '../peer.js';
import { acsFolder, acsTask } from './acs.js';
import { adultFolder, adultTask } from './adult.js';
import { type Bench, few, openBench, type Task } from './bench.js';
import { meanOf, ourClassifiers, ourClusters, theirClassifiers, theirClusters } from './beside.js';
import { acsNumbers, adultNumbers, type ClusterSet, gowallaPlaces, separated } from './cluster-sets.js';

type Cell = string | number;
interface Measured {
  readonly mean: number;
  readonly least: number;
  readonly most: number;
}

/** Clusters and classifiers compared with diffprivlib, then accuracy on Adult's test part by method, ties and epsilon. */
export async function run(out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  const missing = await peerMissing('diffprivlib');
  if (missing) console.log(`diffprivlib is left out: ${missing}`);
  save(out, 'clusters', await clusters(missing === undefined));
  save(out, 'classifiers', await classifiers(missing === undefined));
  if (!adultFolder) console.log('The Adult files (../shared/data/adult) are not here: no more to measure.');
  else await onAdult(out, adultFolder);
}

async function onAdult(out: string, folder: URL): Promise<void> {
  const bench = openBench(adultTask(folder));
  try {
    const plain = { logistic: await bench.plain('logistic', 1e-5), svm: await bench.plain('svm', 1e-5) };
    console.log(`without privacy: logistic ${percent(plain.logistic)}, svm ${percent(plain.svm)}`);
    begins('by method');
    const methods = await byMethod(bench, plain);
    begins('by ties');
    const ties = await byTies(bench);
    begins('by epsilon');
    const curves = await byEpsilon(bench);
    save(out, 'methods', methods);
    save(out, 'ties', ties);
    save(out, 'epsilon', [
      ['epsilon', 'pure', 'delta 1e-6'],
      ...curves[0]!.points.map((p, k) => [p.x, p.y, curves[1]!.points[k]!.y]),
    ]);
    const level = { name: 'no privacy', points: epsilons.map((x) => ({ x, y: plain.logistic })), dashed: true };
    writeFileSync(
      join(out, 'epsilon.svg'),
      standalone(
        lineChart({
          series: [...curves, level],
          xLabel: 'epsilon',
          yLabel: 'test rows classified correctly',
          label: 'Logistic regression on Adult',
          logX: true,
          percentY: true,
        }),
      ),
    );
  } finally {
    bench.remove();
  }
}

/** Prints progress, because it takes long. */
const begins = (what: string): boolean => process.stderr.write(`${what} ...\n`);
const round = (x: number, digits: number): number => Number(x.toFixed(digits));

/**
 * Cost as a multiple of the least found without privacy. diffprivlib uses add-remove and Fugu replacement:
 * half its epsilon gives the same protection.
 */
async function clusters(peer: boolean): Promise<Cell[][]> {
  const sets: (ClusterSet | undefined)[] = [
    separated(2, 5, 10_000),
    separated(4, 4, 10_000),
    separated(6, 6, 10_000),
    separated(8, 8, 20_000),
    separated(12, 5, 10_000),
    adultNumbers(8),
    await acsNumbers(6),
    await gowallaPlaces(8),
  ];
  const asked = [0.3, 1, 1000];
  const times = 6;
  const rows: Cell[][] = [['data', 'epsilon', 'auto', 'grid', 'lloyd', 'diffprivlib, half epsilon', 'diffprivlib, same epsilon']];
  for (const set of sets) {
    if (!set) continue;
    begins(set.name);
    const theirs = peer
      ? await theirClusters(
          set,
          asked.flatMap((e) => [e / 2, e]),
          times,
        )
      : undefined;
    for (const [k, epsilon] of asked.entries()) {
      const by = (variant: 'auto' | 'grid' | 'lloyd') => round(meanOf(ourClusters(set, epsilon, times, variant)), 3);
      const peers: Cell[] = theirs ? [round(meanOf(theirs[2 * k]!), 3), round(meanOf(theirs[2 * k + 1]!), 3)] : ['', ''];
      rows.push([set.name, epsilon, by('auto'), set.dimensions > 6 ? '' : by('grid'), by('lloyd'), ...peers]);
    }
  }
  return rows;
}

/** Accuracy on the test rows, pure epsilon. */
async function classifiers(peer: boolean): Promise<Cell[][]> {
  const tasks: Task[] = [];
  if (adultFolder) tasks.push(adultTask(adultFolder), few(adultTask(adultFolder), 400));
  if (acsFolder) tasks.push(await acsTask(acsFolder), few(await acsTask(acsFolder), 400));
  const rows: Cell[][] = [
    [
      'data',
      'rows',
      'epsilon',
      'no privacy %',
      'auto %',
      'sgd %',
      'diffprivlib, half epsilon, best C %',
      'diffprivlib, same epsilon, best C %',
    ],
  ];
  for (const task of tasks) {
    const times = task.train.length < 1000 ? 20 : 5;
    begins(`${task.name}, ${task.train.length} rows`);
    const bench = openBench(task);
    const plain = percentOf([await bench.plain('logistic', task.train.length < 1000 ? 1e-3 : 1e-5)]);
    const theirs = peer ? await theirClassifiers(bench, [0.5, 1], times) : undefined;
    const by = async (more: object) => percentOf(await ourClassifiers(bench, '{ epsilon: 1 }', '1', times, more));
    const peers: Cell[] = theirs ? theirs.map(percentOf) : ['', ''];
    rows.push([task.name, task.train.length, 1, plain, await by({}), await by({ method: 'sgd' }), ...peers]);
    bench.remove();
  }
  return rows;
}
const percentOf = (list: readonly number[]): number => round(100 * meanOf(list), 2);

const percent = (x: number) => `${(100 * x).toFixed(2)} %`;
function save(out: string, name: string, rows: readonly (readonly Cell[])[]): void {
  writeFileSync(join(out, `${name}.csv`), csvOf(rows));
  console.log(`\n${name}\n${rows.map((row) => row.join('  ')).join('\n')}`);
}

async function measure(
  bench: Bench,
  budget: string,
  epsilon: string,
  more: object,
  times: number,
  dependence?: string,
): Promise<Measured> {
  const found = await ourClassifiers(bench, budget, epsilon, times, more, dependence);
  return { mean: meanOf(found), least: Math.min(...found), most: Math.max(...found) };
}
const cells = ({ mean, least, most }: Measured): Cell[] => [mean, least, most].map((x) => Number((100 * x).toFixed(2)));

async function byMethod(bench: Bench, plain: Record<'logistic' | 'svm', number>): Promise<Cell[][]> {
  const rows: Cell[][] = [['model', 'method', 'delta', 'accuracy %', 'least', 'most', 'without privacy %']];
  for (const model of ['logistic', 'svm'] as const)
    for (const delta of ['', ', delta: 1e-6'])
      for (const method of ['tilt', 'sgd', 'output', 'objective'] as const) {
        if ((method === 'objective' || method === 'tilt') && delta !== '') continue;
        const more = { model, method, ...(method === 'objective' && { asPublished: true }) };
        // A release with negligible noise, applied as a reader would apply it.
        const [quiet] = await ourClassifiers(bench, `{ epsilon: 1000${delta} }`, '1000', 1, more);
        aboveMajority(quiet!, bench.truth, `${model}, ${method}, epsilon 1,000`);
        const found = await measure(bench, `{ epsilon: 1${delta} }`, '1', more, 5);
        const name = method === 'objective' ? 'objective (as published, not certified)' : method;
        rows.push([model, name, delta === '' ? 0 : 1e-6, ...cells(found), Number((100 * plain[model]).toFixed(2))]);
      }
  const selected = await measure(bench, '{ epsilon: 1 }', '1', { select: { keep: 8, share: 0.1 } }, 5);
  rows.push([
    'logistic',
    'auto, 8 of 12 features selected with a tenth',
    0,
    ...cells(selected),
    Number((100 * plain.logistic).toFixed(2)),
  ]);
  return rows;
}

/** Affinity: people whose whole profile is the same are tied. The paper's looser rule ties nearly everybody to thousands. */
async function byTies(bench: Bench): Promise<Cell[][]> {
  const sizes = new Map<string, number>();
  for (const row of bench.task.train) {
    const key = bench.task.ask.features.map((name) => row[name]).join('|');
    sizes.set(key, (sizes.get(key) ?? 0) + 1);
  }
  console.log(`people with the same profile: at most ${Math.max(...sizes.values())}`);
  const rows: Cell[][] = [['ties', 'delta', 'accuracy %', 'least', 'most']];
  for (const [name, dependence] of [
    ['none', 'none'],
    ['same profile, odds ratio 1.5', '[{ kind: groups, by: profile, oddsRatio: 1.5 }]'],
    ['same profile, odds ratio 3', '[{ kind: groups, by: profile, oddsRatio: 3 }]'],
    ['same profile, odds ratio 3 to a hidden type', '[{ kind: groups, by: profile, oddsRatio: 3, hidden: true }]'],
    ['same profile, copies', '[{ kind: groups, by: profile, oddsRatio: inf }]'],
  ] as const)
    for (const delta of ['', ', delta: 1e-6'])
      rows.push([
        name,
        delta === '' ? 0 : 1e-6,
        ...cells(await measure(bench, `{ epsilon: 1${delta} }`, '1', {}, 3, dependence)),
      ]);
  return rows;
}

const epsilons = [0.1, 0.25, 0.5, 1, 2, 4];
async function byEpsilon(bench: Bench) {
  const series = [];
  for (const [name, delta] of [
    ['pure', ''],
    ['delta 1e-6', ', delta: 1e-6'],
  ] as const) {
    const points = [];
    for (const x of epsilons) {
      const found = await measure(bench, `{ epsilon: ${x}${delta} }`, `${x}`, {}, 3);
      points.push({ x, y: found.mean, low: found.least, high: found.most });
    }
    series.push({ name, points });
  }
  return series;
}
