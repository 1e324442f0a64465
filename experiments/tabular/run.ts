import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { barChart } from '../../src/app/report/bar-chart.js';
import { lineChart } from '../../src/app/report/line-chart.js';
import { smallMultiples, standalone } from '../../src/app/report/svg.js';
import { fromNumber } from '../../src/base/exact/rational.js';
import { learnTabular, mostParents } from '../../src/evaluate/attack/survey/published.js';
import { gaussianSampler } from '../../src/privacy/noise/discrete-gaussian.js';
import { laplaceSampler } from '../../src/privacy/noise/discrete-laplace.js';
import { anesFolder, anesSurveys, pooled, readAnes } from './anes.js';
import { audits } from './audits.js';
import { type Drawn, mechanisms, type Prepared, prepare } from './mechanisms.js';
import { type Row, save } from './save.js';

const trials = 100;
const epsilons = [0.1, 1, 10];
const sizes = [5, 10, 15];

/**
 * Figures 5 to 9 of Maughan and Near on the available ANES files, with our mechanisms as further lines and an audit of
 * each. The paper does not list its columns; ours follow a stated rule.
 */
export async function run(out: string): Promise<void> {
  if (!anesFolder) {
    console.log('The ANES files (../shared/data/anes) are not here: nothing to do.');
    return;
  }
  mkdirSync(out, { recursive: true });
  const surveys: Prepared[] = [];
  for (const rule of anesSurveys) {
    const table = await readAnes(rule);
    surveys.push(await prepare(rule.year, table, pooled(table, 0.05), sizes));
    console.log(`${rule.year}: ${table.names.length} questions, ${table.rows} responses`);
  }
  figure6(out, surveys);
  figures5and9(out, surveys);
  figure7(out, surveys);
  await figure8(out, surveys);
  audits(out, surveys);
}

function figure6(out: string, surveys: readonly Prepared[]): void {
  save(
    out,
    'figure-6-datasets',
    ['survey', 'questions', 'responses', 'cells', 'questions pooled', 'cells pooled'],
    surveys.map(({ year, table, pooled: p }) => [
      year,
      table.names.length,
      table.rows,
      sum(table.levels),
      p.names.length,
      sum(p.levels),
    ]),
  );
}

const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);

/** Root mean square and spread of the L2 error over the trials, with the product's own samplers. */
function l2Errors(drawn: Drawn): { mean: number; low: number; high: number } {
  const samplers = drawn.scales.map((scale) => {
    if (scale === 0) return () => 0n;
    return drawn.kind === 'laplace' ? laplaceSampler(short(scale)) : gaussianSampler(short(scale * scale));
  });
  const errors = Array.from({ length: trials }, () => {
    let squared = 0;
    drawn.levels.forEach((cells, c) => {
      for (let v = 0; v < cells; v++) squared += Number(samplers[c]!()) ** 2;
    });
    return Math.sqrt(squared);
  }).sort((a, b) => a - b);
  return { mean: sum(errors) / trials, low: errors[Math.floor(0.05 * trials)]!, high: errors[Math.ceil(0.95 * trials) - 1]! };
}
/** A short fraction near the scale keeps the samplers on their fast path. */
const short = (x: number) => fromNumber(Math.max(2 ** -20, Math.round(x * 4096) / 4096));

function figures5and9(out: string, surveys: readonly Prepared[]): void {
  const rows: Row[] = [];
  for (const epsilon of epsilons)
    for (const survey of surveys)
      for (const mechanism of mechanisms) {
        const drawn = mechanism.draw(survey, epsilon, 10);
        const { mean, low, high } = l2Errors(drawn);
        const like = sum(drawn.levels);
        const plain = (2 * drawn.levels.length * Math.SQRT2 * Math.sqrt(like)) / epsilon;
        rows.push([
          survey.year,
          epsilon,
          mechanism.name,
          mechanism.certified ? 'certified' : 'as published',
          mean,
          low,
          high,
          mean / plain,
        ]);
      }
  const header = ['survey', 'epsilon', 'mechanism', 'label', 'L2 error', 'p05', 'p95', 'ratio to Laplace 2n/epsilon'];
  const panels = (epsilon: number) =>
    surveys.map((survey) => ({
      caption: `ANES ${survey.year}, epsilon ${epsilon}`,
      drawing: barChart({
        label: `L2 error, ANES ${survey.year}, epsilon ${epsilon}`,
        width: 560,
        bars: rows
          .filter((r) => r[0] === survey.year && r[1] === epsilon)
          .map((r) => ({
            label: String(r[2]),
            value: Number(r[4]),
            low: Number(r[5]),
            high: Number(r[6]),
            quiet: r[3] === 'as published',
          })),
      }),
    }));
  save(out, 'figure-9-accuracy', header, rows);
  for (const epsilon of epsilons)
    writeFileSync(
      join(out, `figure-${epsilon === 0.1 ? 5 : 9}-accuracy-epsilon-${epsilon}.svg`),
      standalone(smallMultiples(panels(epsilon), 2, `L2 error of all histograms at epsilon ${epsilon}`)),
    );
  // the pictures of docs/tutorials/survey.md and docs/how-to/survey-noise.md
  writeFileSync(join(out, 'guide-accuracy.svg'), standalone(panels(1).at(-1)!.drawing));
  for (const row of rows.filter((r) => r[1] === 1))
    console.log(`${row[0]} epsilon 1  ${row[2]}: ${Number(row[7]).toFixed(3)} of Laplace 2n/epsilon`);
}

function figure7(out: string, surveys: readonly Prepared[]): void {
  const compared = mechanisms.filter((m) => m.name.startsWith('Algorithm 1'));
  const rows: Row[] = surveys.flatMap((survey) =>
    compared.flatMap((mechanism) =>
      sizes.map((k): Row => {
        const drawn = mechanism.draw(survey, 1, k);
        const l2 = Math.SQRT2 * Math.sqrt(sum(drawn.levels.map((v, c) => v * drawn.scales[c]! ** 2)));
        const bare = drawn.scales.filter((s) => s === 0).length;
        return [survey.year, mechanism.name, k, l2, l2 / (Math.SQRT2 * drawn.levels.length * Math.sqrt(sum(drawn.levels))), bare];
      }),
    ),
  );
  const drawing = smallMultiples(
    surveys.map((survey) => ({
      caption: `ANES ${survey.year}`,
      drawing: lineChart({
        label: `Effect of the chunk size, ANES ${survey.year}`,
        xLabel: 'columns per chunk',
        yLabel: 'L2 error / Laplace n/epsilon',
        logY: true,
        series: compared.map((m) => ({
          name: m.name.replace('Algorithm 1, ', ''),
          dashed: true,
          points: rows
            .filter((r) => r[0] === survey.year && r[1] === m.name)
            .map((r) => ({ x: Number(r[2]), y: Math.max(1e-3, Number(r[4])) })),
        })),
      }),
    })),
    2,
    'Effect of the chunk size at epsilon 1',
  );
  save(
    out,
    'figure-7-chunk-size',
    ['survey', 'mechanism', 'k', 'expected L2 error', 'ratio to Laplace n/epsilon', 'columns without noise'],
    rows,
    drawing,
  );
}

async function figure8(out: string, surveys: readonly Prepared[]): Promise<void> {
  const rows: Row[] = [];
  const clock = async (work: () => unknown): Promise<number> => {
    const start = performance.now();
    await work();
    return (performance.now() - start) / 1000;
  };
  const algorithm = mechanisms.find((m) => m.name === 'Algorithm 1, zeros ignored')!;
  for (const survey of surveys)
    for (const k of sizes) {
      const repeats = 5;
      let [learning, sensitivity, noise] = [0, 0, 0];
      for (let r = 0; r < repeats; r++) {
        learning += (await clock(() => learnTabular(survey.table, k))) / repeats;
        let drawn: Drawn | undefined;
        sensitivity += (await clock(() => (drawn = algorithm.draw(survey, 1, k)))) / repeats;
        const samplers = drawn!.scales.map((s) => (s === 0 ? () => 0n : laplaceSampler(short(s))));
        noise +=
          (await clock(() =>
            drawn!.levels.forEach((cells, c) => {
              for (let v = 0; v < cells; v++) samplers[c]!();
            }),
          )) / repeats;
      }
      rows.push([survey.year, k, learning, sensitivity, noise]);
    }
  const drawing = lineChart({
    label: 'Time to learn the networks',
    xLabel: 'columns per chunk',
    yLabel: 'seconds',
    series: surveys.map((s) => ({
      name: s.year,
      points: rows.filter((r) => r[0] === s.year).map((r) => ({ x: Number(r[1]), y: Number(r[2]) })),
    })),
  });
  save(out, 'figure-8-run-time', ['survey', 'k', 'learning s', 'sensitivity s', 'noise s'], rows, drawing);
  console.log(
    `learning at k=15 (at most ${mostParents} parents): ${rows
      .filter((r) => r[1] === 15)
      .map((r) => `${r[0]} ${Number(r[2]).toFixed(2)} s`)
      .join(', ')}`,
  );
}
