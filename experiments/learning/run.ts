import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseClassify } from '../../src/learn/classify/classify.js';
import { csvOf } from '../../src/report/csv.js';
import { lineChart } from '../../src/report/line-chart.js';
import { standalone } from '../../src/report/svg.js';
import { adultFolder, ask, type Bench, openBench } from './adult.js';

type Cell = string | number;
interface Measured {
  readonly mean: number;
  readonly least: number;
  readonly most: number;
}

/** Accuracy on Adult's test part: every figure is a whole release through a fresh ledger. */
export async function run(out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  if (!adultFolder) {
    console.log('The Adult files (../shared/data/adult) are not here: nothing to measure.');
    return;
  }
  const bench = openBench(adultFolder);
  try {
    const plain = { logistic: await bench.plain('logistic', 1e-5), svm: await bench.plain('svm', 1e-5) };
    console.log(`without privacy: logistic ${percent(plain.logistic)}, svm ${percent(plain.svm)}`);
    const methods = await byMethod(bench, plain);
    const ties = await byTies(bench);
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
  const found: number[] = [];
  for (let k = 0; k < times; k++) {
    const session = await bench.session(budget, dependence);
    const { result } = await releaseClassify(session, { ...ask, ...more }, { epsilon });
    await session.close();
    found.push(bench.accuracy(result));
  }
  return { mean: found.reduce((a, b) => a + b, 0) / times, least: Math.min(...found), most: Math.max(...found) };
}
const cells = ({ mean, least, most }: Measured): Cell[] => [mean, least, most].map((x) => Number((100 * x).toFixed(2)));

async function byMethod(bench: Bench, plain: Record<'logistic' | 'svm', number>): Promise<Cell[][]> {
  const rows: Cell[][] = [['model', 'method', 'delta', 'accuracy %', 'least', 'most', 'without privacy %']];
  for (const model of ['logistic', 'svm'] as const)
    for (const delta of ['', ', delta: 1e-6'])
      for (const method of ['sgd', 'output', 'objective'] as const) {
        if (method === 'objective' && delta !== '') continue;
        const more = { model, method, ...(method === 'objective' && { asPublished: true }) };
        const found = await measure(bench, `{ epsilon: 1${delta} }`, '1', more, 5);
        const name = method === 'objective' ? 'objective (as published, not certified)' : method;
        rows.push([model, name, delta === '' ? 0 : 1e-6, ...cells(found), Number((100 * plain[model]).toFixed(2))]);
      }
  const selected = await measure(bench, '{ epsilon: 1 }', '1', { select: { keep: 8, share: 0.1 } }, 5);
  rows.push([
    'logistic',
    'sgd, 8 of 12 features selected with a tenth',
    0,
    ...cells(selected),
    Number((100 * plain.logistic).toFixed(2)),
  ]);
  return rows;
}

/** Affinity: people whose whole profile is the same are tied. The paper's looser rule ties nearly everybody to thousands. */
async function byTies(bench: Bench): Promise<Cell[][]> {
  const sizes = new Map<string, number>();
  for (const row of bench.train) {
    const key = ask.features.map((name) => row[name]).join('|');
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
