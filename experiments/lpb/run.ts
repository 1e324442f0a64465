import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { lineChart } from '../../src/app/report/line-chart.js';
import { type Drawing, smallMultiples, standalone } from '../../src/app/report/svg.js';
import { divide, fromNumber, parseRational, type Rational, rational, toNumber } from '../../src/base/exact/rational.js';
import { posteriorTable } from '../../src/evaluate/attack/posterior.js';
import { posteriorAtMost } from '../../src/policy/belief.js';
import { roundUp } from '../../src/privacy/mechanism/distribution.js';
import { laplaceSampler } from '../../src/privacy/noise/discrete-laplace.js';
import { beliefBudget } from '../../src/release/accountant/belief.js';
import { type Attribute, type AttributeName, adultFolder, readAdult } from './adult.js';
import { notes, panels, tableOne, tableTwo } from './paper.js';

type Adult = Record<AttributeName, Attribute>;
type Cell = string | number;
const queries = 1000;

/** Figures 1 to 5 and Tables I and II of Ouyang et al. as CSV and SVG, our numbers next to the paper's. */
export async function run(out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  const report: string[] = ['# Ouyang et al., reproduced', ''];
  const save = (name: string, rows: readonly (readonly Cell[])[], drawing?: Drawing) => {
    writeFileSync(join(out, `${name}.csv`), csvOf(rows));
    if (drawing) writeFileSync(join(out, `${name}.svg`), standalone(drawing));
  };
  const shown = (title: string, rows: readonly (readonly Cell[])[]) => report.push(`## ${title}`, '', markdown(rows), '');

  const one = tableI();
  save('table-1', one);
  shown('Table I: posterior of the missing value', one);
  const ties = tiesTable();
  save('ties', ties);
  shown('What 20 % -> 50 % becomes under ties the noise does not know of', ties);
  if (!adultFolder)
    console.log('The Adult files (../shared/data/adult) are not here: only Table I and the ties table were made.');
  else {
    const adult = readAdult(adultFolder);
    const two = tableII(adult);
    save('table-2', two);
    shown('Table II: the attributes', two);
    const first = figure1(adult);
    save('figure-1', first.rows, first.drawing);
    for (const panel of panels) {
      const { rows, drawing } = noiseRatios(adult[panel.attribute], panel.priors);
      save(`figure-${panel.figure}`, rows, drawing);
    }
    const fifth = figure5(adult);
    save('figure-5', fifth.rows, fifth.drawing);
    report.push('## Figures', '', ...[1, 2, 3, 4, 5].map((k) => `![Figure ${k}](figure-${k}.svg)`), '');
  }
  report.push('## Where we disagree with the paper, and why', '', ...notes.map((n) => `- ${n}`), '');
  writeFileSync(join(out, 'README.md'), report.join('\n'));
  console.log(report.filter((line) => !line.startsWith('![')).join('\n'));
}

const markdown = (rows: readonly (readonly Cell[])[]): string => {
  const line = (cells: readonly Cell[]) => `| ${cells.join(' | ')} |`;
  return [line(rows[0]!), line(rows[0]!.map(() => '---')), ...rows.slice(1).map(line)].join('\n');
};
const short = (x: number): number => Number(x.toPrecision(4));

function tableI(): Cell[][] {
  const { universe, known, answer, scale } = tableOne;
  const mean = (x: number | string) => [([...known, Number(x)] as number[]).reduce((s, v) => s + v, 0) / (known.length + 1)];
  const rows = posteriorTable({ universe, answerIf: mean, answer: [answer], noise: { kind: 'laplace', scale } });
  return [
    ['value', 'noise', 'noise (paper)', 'density', 'density (paper)', 'posterior', 'posterior (paper)'],
    ...rows.map((r, k) => [
      r.value,
      short(r.noise[0]!),
      tableOne.noise[k]!,
      short(r.density),
      tableOne.density[k]!,
      short(r.posterior),
      tableOne.posterior[k]!,
    ]),
  ];
}

function tiesTable(): Cell[][] {
  const { prior, epsilon } = beliefBudget(parseRational('0.2'), parseRational('0.5'));
  return [
    ['true leakage / epsilon', 'posterior reached'],
    ...[1, 1.5, 2, 3].map((factor) => [factor, short(posteriorAtMost(prior, fromNumber(toNumber(epsilon) * factor)))]),
  ];
}

const range = ({ low, high }: Attribute): number => high - low;

function tableII(adult: Adult): Cell[][] {
  return [
    ['attribute', 'max', 'min', 'sensitivity', 'sensitivity (paper)', 'values', 'random guess', 'random guess (paper)'],
    ...(Object.values(adult) as Attribute[]).map((a) => {
      const paper = tableTwo[a.name as AttributeName];
      const values = range(a) + 1;
      return [
        a.name,
        a.high,
        a.low,
        short(range(a) / a.values.length),
        paper.sensitivity,
        values,
        short(1 / values),
        paper.guess,
      ];
    }),
  ];
}

/** Scale of the noise on the mean. */
const scaleFor = (a: Attribute, epsilon: number): number => range(a) / a.values.length / epsilon;

function figure1(adult: Adult): { rows: Cell[][]; drawing: Drawing } {
  const priors = Array.from({ length: 10 }, (_, k) => rational(k + 1, 100));
  const half = parseRational('0.5');
  const series = (Object.values(adult) as Attribute[]).map((a) => ({
    name: a.name,
    points: priors.map((p) => ({ x: toNumber(p), y: scaleFor(a, toNumber(beliefBudget(p, half).epsilon)) })),
  }));
  const identified = (Object.values(adult) as Attribute[]).map((a) => scaleFor(a, Math.log(range(a))));
  return {
    rows: [
      ['prior', ...series.map((s) => `scale ${s.name}`)],
      ...priors.map((p, k) => [toNumber(p), ...series.map((s) => short(s.points[k]!.y))]),
      ['differential identifiability (1/m)', ...identified.map(short)],
    ],
    drawing: lineChart({
      series,
      xLabel: 'prior (rho1); posterior (rho2) fixed at 50 %',
      yLabel: 'scale of the noise on the mean',
      label: 'Figure 1: noise against prior',
      logY: true,
      width: 620,
      height: 360,
    }),
  };
}

interface Spread {
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
}

/**
 * Quartiles of (answer - truth) / range over a thousand private means: the sum gets integer noise,
 * the number of rows is public.
 */
function noiseRatio(a: Attribute, epsilon: Rational): Spread {
  const draw = laplaceSampler(roundUp(divide(rational(range(a)), epsilon)));
  const ratios = Array.from({ length: queries }, () => Number(draw()) / a.values.length / range(a)).sort((x, y) => x - y);
  const at = (q: number) => ratios[Math.round(q * (queries - 1))]!;
  return { q1: at(0.25), median: at(0.5), q3: at(0.75) };
}
const expectedQ3 = (a: Attribute, epsilon: number): number => (scaleFor(a, epsilon) * Math.LN2) / range(a);

const spreadChart = (
  points: readonly ({ x: number; expected: number } & Spread)[],
  xLabel: string,
  label: string,
  top: number,
): Drawing =>
  lineChart({
    series: [
      { name: 'median, Q1 to Q3', points: points.map((p) => ({ x: p.x, y: p.median, low: p.q1, high: p.q3 })) },
      { name: 'expected Q3', points: points.map((p) => ({ x: p.x, y: p.expected })), dashed: true },
    ],
    xLabel,
    yLabel: 'noise ratio',
    label,
    yDomain: [-top, top],
    width: 430,
    height: 260,
  });

function noiseRatios(a: Attribute, priors: readonly string[]): { rows: Cell[][]; drawing: Drawing } {
  const posteriors = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
  const measured = priors.map((prior) => ({
    prior,
    points: posteriors.map((posterior) => {
      const { epsilon } = beliefBudget(parseRational(prior), fromNumber(posterior));
      return { x: posterior, epsilon: toNumber(epsilon), expected: expectedQ3(a, toNumber(epsilon)), ...noiseRatio(a, epsilon) };
    }),
  }));
  const drawn = measured.map(({ prior, points }, k) => ({
    caption: `(${'abcd'[k]}) ${a.name}, prior ${prior}`,
    drawing: spreadChart(
      points,
      'posterior (rho2)',
      `${a.name}, prior ${prior}`,
      1.25 * Math.max(...points.map((p) => Math.max(p.q3, -p.q1, p.expected))),
    ),
  }));
  return {
    rows: [
      ['prior', 'posterior', 'epsilon', 'q1', 'median', 'q3', 'expected q3'],
      ...measured.flatMap(({ prior, points }) =>
        points.map((p) => [prior, p.x, short(p.epsilon), short(p.q1), short(p.median), short(p.q3), short(p.expected)]),
      ),
    ],
    drawing: smallMultiples(drawn, 2, `Noise ratio for ${a.name}`),
  };
}

function figure5(adult: Adult): { rows: Cell[][]; drawing: Drawing } {
  const epsilons = ['0.1', '0.2', '0.5', '1', '2', '3', '4', '5'].map((e) => parseRational(e));
  const measured = (Object.values(adult) as Attribute[]).map((a) => ({
    name: a.name,
    points: epsilons.map((e) => ({ x: toNumber(e), expected: expectedQ3(a, toNumber(e)), ...noiseRatio(a, e) })),
  }));
  return {
    rows: [
      ['attribute', 'epsilon', 'q1', 'median', 'q3', 'expected q3'],
      ...measured.flatMap(({ name, points }) =>
        points.map((p) => [name, p.x, short(p.q1), short(p.median), short(p.q3), short(p.expected)]),
      ),
    ],
    drawing: smallMultiples(
      measured.map(({ name, points }, k) => ({
        caption: `(${'abc'[k]}) ${name}`,
        drawing: spreadChart(points, 'epsilon', name, 1.25 * Math.max(...points.map((p) => Math.max(p.q3, -p.q1)))),
      })),
      2,
      'Noise ratio against epsilon',
    ),
  };
}
