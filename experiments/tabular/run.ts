import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attackHeldOut } from '../../src/attack/survey.js';
import { auditSubSurveys, subSurveys } from '../../src/attack/survey-audit.js';
import { fromNumber } from '../../src/exact/rational.js';
import { gaussianSampler } from '../../src/noise/discrete-gaussian.js';
import { laplaceSampler } from '../../src/noise/discrete-laplace.js';
import { barChart } from '../../src/report/bar-chart.js';
import { csvOf } from '../../src/report/csv.js';
import { lineChart } from '../../src/report/line-chart.js';
import { type Drawing, smallMultiples, standalone } from '../../src/report/svg.js';
import { anesSurveys, dataFolder, pooled, readAnes } from './anes.js';
import { type Drawn, learnTabular, mechanisms, mostParents, type Prepared, prepare } from './mechanisms.js';

const trials = 100;
const epsilons = [0.1, 1, 10];
const sizes = [5, 10, 15];

type Row = readonly (string | number | null)[];

/**
 * Figures 5 to 9 of paper 002 on the ANES files at hand, with our mechanisms as further lines and an audit beside each: accuracy at three epsilons,
 * the data, the effect of the chunk size, and run time per component. The paper's columns are not listed in it; these follow a stated rule.
 */
export async function run(out: string): Promise<void> {
  if (!existsSync(new URL('anes/', dataFolder))) {
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

const save = (out: string, name: string, header: Row, rows: readonly Row[], drawing?: Drawing): void => {
  writeFileSync(join(out, `${name}.csv`), csvOf([header, ...rows]));
  if (drawing) writeFileSync(join(out, `${name}.svg`), standalone(drawing));
};

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
  // the pictures of docs/guides/survey.md
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

/** Exact loss on sub-surveys, and the whole-survey attack, for every pure mechanism: what each line of the figures is worth. */
function audits(out: string, surveys: readonly Prepared[]): void {
  const rows: Row[] = [];
  for (const survey of surveys)
    for (const mechanism of mechanisms) {
      if (!mechanism.small) continue;
      const base = mechanism.grouped ? survey.pooled : survey.table;
      const found = auditSubSurveys(subSurveys(base, 60), 1, mechanism.small);
      const losses = found.map((a) => a.loss).sort((a, b) => a - b);
      const drawn = mechanism.draw(survey, 1, 10);
      const whole = attackHeldOut(
        base,
        base.names.map((name) => 2 / drawn.scales[survey.table.names.indexOf(name)]!),
        { pairs: 12, sweeps: 3 },
      );
      rows.push([
        survey.year,
        mechanism.name,
        mechanism.certified ? 'certified' : 'as published',
        found.length,
        found.filter((a) => a.loss > 1 + 1e-9).length,
        losses[Math.floor(losses.length / 2)]!,
        losses.at(-1)!,
        whole.inSample.loss,
        whole.heldOut,
      ]);
    }
  const broken = (year: string): Drawing =>
    barChart({
      label: `Sub-surveys in which an attacker gains more than epsilon, ANES ${year}`,
      width: 560,
      domain: [0, 60],
      bars: rows
        .filter((r) => r[0] === year)
        .map((r) => ({ label: String(r[1]), value: Number(r[4]), low: null, high: null, quiet: r[2] === 'as published' })),
    });
  writeFileSync(join(out, 'guide-audit.svg'), standalone(broken(surveys.at(-1)!.year)));
  save(
    out,
    'audit',
    [
      'survey',
      'mechanism',
      'label',
      'sub-surveys',
      'broken',
      'median loss/epsilon',
      'worst',
      'whole survey, in sample',
      'held out',
    ],
    rows,
    smallMultiples(
      surveys.map(({ year }) => ({ caption: `ANES ${year}: broken sub-surveys of 60`, drawing: broken(year) })),
      2,
      'Exact audits of 60 sub-surveys at epsilon 1',
    ),
  );
  for (const row of rows.filter((r) => r[2] === 'certified'))
    console.log(
      `${row[0]} ${row[1]}: ${row[4]} of ${row[3]} sub-surveys broken, worst ${Number(row[6]).toFixed(3)}; whole survey ${Number(row[7]).toFixed(2)} / ${Number(row[8]).toFixed(2)}`,
    );
}
