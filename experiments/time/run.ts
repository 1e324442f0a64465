import { lineChart } from '../../src/app/report/line-chart.js';
import { rational } from '../../src/base/exact/rational.js';
import { beliefsBefore, reversed, smoothedBeliefs, stationaryBelief } from '../../src/evaluate/attack/stream/trajectory.js';
import { prepareAudit } from '../../src/evaluate/audit/audit.js';
import { exactLoss } from '../../src/evaluate/audit/exact-loss.js';
import { readModel } from '../../src/privacy/dependence/model/model-file.js';
import { lossFunction, temporalBudgets, temporalLeakage } from '../../src/privacy/dependence/temporal/temporal.js';
import { pure, zcdp } from '../../src/privacy/mechanism/budget-share.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import { runningTotals, totalsWith } from '../../src/privacy/mechanism/running/running-totals.js';
import { treesOver } from '../../src/privacy/mechanism/running/tree.js';
import { sensitivityOn } from '../../src/privacy/mechanism/sensitivity.js';
import { Book, short } from '../ndss16/output.js';
import { activity, careers, power, sequencesFolder } from './chains.js';
import { histogramNoise } from './histograms.js';
import { panelNoise, panels } from './panels.js';
import { notes, tableFour, tableFourPrinted, tableOne, tableTwo } from './paper.js';

type Matrix = readonly (readonly number[])[];
const bothWays = (matrix: Matrix) => ({ forward: lossFunction(matrix), backward: lossFunction(matrix) });
const days = (n: number): number[] => Array.from({ length: n }, (_, t) => t + 1);

/**
 * Releases over time: the survey's tables computed, leakage of the published matrices, a year followed by a belief,
 * running totals, and state frequencies of public chains.
 */
export async function run(out: string, folder: URL | null = sequencesFolder ?? null): Promise<void> {
  const book = new Book(out);
  book.say('# Time', 'The tables of the survey of Zhang et al. as worked examples, and releases about public sequences.');
  tables(book);
  leakage(book);
  year(book);
  households(book);
  totals(book);
  if (folder === null) book.say('The public sequences are not here: no state frequencies.');
  else await frequencies(book, folder);
  book.say('## Where we disagree with the survey', ...notes.map((n) => `- ${n}`));
  book.close();
}

function tables(book: Book): void {
  const places = Object.keys(tableTwo);
  const counted = places.map((place) =>
    [0, 1, 2, 3].map((t) => Object.values(tableOne).filter((path) => path[t] === place).length),
  );
  const agree = counted.every((row, k) => row.every((n, t) => n === tableTwo[places[k]!]![t]));
  book.say('## Tables 1 and 2', `The counts of Table 2 are those of Table 1: ${agree ? 'yes' : 'no'}.`);
  const copies = readModel(
    JSON.stringify({
      records: ['u_1', 'u_2'].map((id) => ({ id, values: [0, 1] })),
      factors: [
        {
          records: ['u_1', 'u_2'],
          table: [
            [1, 0],
            [0, 1],
          ],
        },
      ],
    }),
    'copies.json',
  );
  const { joint, answers } = prepareAudit(copies, 'sum');
  const loss = (scale: number) => exactLoss(joint, answers, scale, { adversary: 'uninformed' }).loss;
  book.table('table-2', [
    ['noise on one count', 'lost about u_1 at epsilon 1, exactly'],
    ['Lap(1/epsilon)', short(loss(1))],
    ['Lap(2/epsilon)', short(loss(2))],
  ]);
  const sums = tableFourPrinted.map((row) => short(row.reduce((a, b) => a + b, 0)));
  const told = temporalLeakage(new Float64Array(4).fill(0.1), {
    forward: lossFunction(tableFour),
    backward: lossFunction(reversed(tableFour, stationaryBelief(tableFour))),
  });
  book.say(
    '## Table 4',
    `Its rows sum to ${sums.join(', ')}. With 0.6, 0.2, 0.2 in the third, four counts at epsilon 0.1 each lose about each moment:`,
  );
  book.table('table-4', [
    ['moment', 'from the past', 'from the future', 'leakage'],
    ...days(4).map((t) => [t, ...[told.backward, told.forward, told.leakage].map((x) => short(x[t - 1]!))]),
  ]);
  const stay = 0.75;
  const chain = [
    [stay, 1 - stay],
    [1 - stay, stay],
  ];
  const markov = temporalLeakage(new Float64Array(101).fill(1), bothWays(chain)).leakage[50]!;
  book.say(
    '## Table 5',
    'The same correlation of neighbours, 0.5, in both models: what one release per step at epsilon 1 tells about a step in the middle of many.',
  );
  book.table('table-5', [
    ['model', 'graph', 'leakage'],
    ['Gaussian, AR(1)', 'undirected', short((1 + 0.5) / (1 - 0.5))],
    ['Markov chain, stay 0.75', 'directed, without loops', short(markov)],
  ]);
}

const published: Readonly<Record<string, Matrix>> = {
  'always the same': [
    [1, 0],
    [0, 1],
  ],
  'no way back': [
    [0.8, 0.2],
    [0, 1],
  ],
  'three states (Cao)': [
    [0.1, 0.2, 0.7],
    [0.3, 0.3, 0.4],
    [0.5, 0.3, 0.2],
  ],
  strangers: [
    [0.5, 0.5],
    [0.5, 0.5],
  ],
};

function leakage(book: Book): void {
  book.say(
    '## What one release per step tells about each step',
    'Epsilon 0.1 a step, ten steps: published matrices, both ways (no way back: 0.8, 0.2; 0, 1. Three states: Cao et al. 2018).',
  );
  book.lines(
    'leakage',
    Object.entries(published).map(([name, matrix]) => {
      const { leakage } = temporalLeakage(new Float64Array(10).fill(0.1), bothWays(matrix));
      return { name, points: days(10).map((x) => ({ x, y: leakage[x - 1]! })) };
    }),
    { x: 'step', y: 'leakage', label: 'Leakage about each of ten steps, epsilon 0.1 each' },
  );
}

/** A person is ill one day in ten, for ten days at a time. A year of daily counts, and the posterior of one day. */
function year(book: Book): void {
  const ill = [
    [0.9, 0.1],
    [0.1 / 9, 1 - 0.1 / 9],
  ];
  const rest = stationaryBelief(ill);
  const over = { forward: lossFunction(ill), backward: lossFunction(reversed(ill, rest)) };
  const target = Math.log((0.3 / 0.7) * (0.9 / 0.1));
  const budgets = temporalBudgets(target, 365, over)!;
  const { leakage } = temporalLeakage(budgets, over);
  // The worst case: the noise of every day favours "ill" as strongly as its budget allows.
  const before = beliefsBefore({ start: rest, transition: ill }, 365);
  const worst = (epsilon: (day: number) => number) =>
    Math.max(
      ...smoothedBeliefs(
        { start: rest, transition: ill },
        days(365).map((day) => [epsilon(day), 0]),
      ).map(([p]) => p!),
    );
  // One year like any other: ill from day 100 to 114 and from day 240 to 247.
  const noise = madeNoise(7);
  const seen = (epsilon: (day: number) => number) =>
    smoothedBeliefs(
      { start: rest, transition: ill },
      days(365).map((day) => {
        const scale = 1 / epsilon(day);
        const off = ((day >= 100 && day < 115) || (day >= 240 && day < 248) ? 1 : 0) + scale * noise();
        return [-Math.abs(off - 1) / scale, -Math.abs(off) / scale];
      }),
    ).map(([p]) => p!);
  const kept = (day: number) => budgets[day - 1]!;
  const raised = (prior: number, epsilon: number) => 1 / (1 + ((1 - prior) / prior) * Math.exp(-epsilon));
  book.say(
    '## A year of daily releases, followed by a belief',
    `Somebody is ill one day in ten, ten days at a time; a belief of 10 % may become 30 % (epsilon ${short(target)}). Every day may then spend epsilon ${short(budgets[180]!)} (${short(budgets[0]!)} on the first and ${short(budgets[364]!)} on the last); the leakage is ${short(Math.max(...leakage))} on every day, and in the worst year there can be the belief reaches ${short(100 * worst(kept))} %. A steward who spends epsilon ${short(target)} every day, as if the days were strangers, lets it go to ${short(100 * worst(() => target))} %. Drawn is one made year, ill from day 100 to 114 and from day 240 to 247.`,
  );
  const line = (list: readonly number[]) => days(365).map((x) => ({ x, y: list[x - 1]! }));
  book.lines(
    'year',
    [
      { name: 'each day as if alone', points: line(seen(() => target)) },
      { name: 'budgets over time', points: line(seen(kept)) },
      { name: 'the limit', points: line(before.map(([p]) => raised(p!, target))), dashed: true },
      { name: 'before', points: line(before.map(([p]) => p!)), dashed: true },
    ],
    {
      x: 'day',
      y: 'belief that somebody is ill',
      label: 'A belief of ten percent through a year of daily counts',
      percent: true,
    },
  );
}

/** Members of a home over weeks, yes or no: leakage about an answer as a multiple of its cost. */
function households(book: Book): void {
  const list = panels.map((panel) => panelNoise(panel));
  book.say(
    '## Households over weeks',
    'How many times what each answer spends an attacker gains about one at epsilon 1: by the whole household, by ties of any direction (version 0.1), by ties that pull together. The last column is how much more every answer may spend.',
  );
  book.table('households', [
    ['people', 'weeks', 'odds ratio, week', 'odds ratio, home', 'group', 'any direction', 'pull together', 'gain'],
    ...list.map((p) => [
      p.people,
      p.weeks,
      p.week,
      p.home,
      p.group,
      short(p.either),
      short(Math.min(p.alike, p.either)),
      short(p.either / Math.min(p.alike, p.either)),
    ]),
  ]);
}

/** Laplace noise of scale 1 from a seeded generator: for a reproducible picture only. */
function madeNoise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    const u = state / 2147483647 - 0.5;
    return -Math.sign(u) * Math.log1p(-2 * Math.abs(u));
  };
}

function totals(book: Book): void {
  const sensitivity = sensitivityOn([everyRecord], { l1: 1n, l2squared: 1n });
  const horizons = [10, 30, 100, 365, 1000, 3000, 10_000];
  const counted = (horizon: number) => ({ name: 'n', cells: 1, horizon, sensitivity, moves: 'within a step' as const });
  const epsilon = pure(rational(1));
  // (1, 1e-6) by zCDP: rho + 2 sqrt(rho ln 1e6) = 1.
  const root = Math.sqrt(Math.log(1e6) + 1) - Math.sqrt(Math.log(1e6));
  const rho = zcdp(rational(Math.floor(root ** 2 * 1e9), 1_000_000_000));
  const errors: Record<string, (horizon: number) => number> = {
    'a noise for each step': (T) => totalsWith(treesOver(T)[0]!, counted(T), epsilon).meanVariance,
    'binary tree': (T) => totalsWith(treesOver(T).at(-1)!, counted(T), epsilon).meanVariance,
    chosen: (T) => runningTotals(counted(T), epsilon).meanVariance,
    'chosen, with delta': (T) =>
      Math.min(runningTotals(counted(T), rho).meanVariance, runningTotals(counted(T), epsilon).meanVariance),
  };
  book.say('## Running totals', 'Root mean squared error of all totals over a horizon, epsilon 1, or epsilon 1 and delta 1e-6.');
  const series = Object.entries(errors).map(([name, variance]) => ({
    name,
    points: horizons.map((x) => ({ x, y: Math.sqrt(variance(x)) })),
  }));
  const axes = {
    xLabel: 'steps',
    yLabel: 'error of a total',
    label: 'Error of running totals by horizon',
    logX: true,
    logY: true,
  };
  book.figure('totals', lineChart({ series, ...axes, width: 900, height: 380 }), [
    ['way', 'steps', 'error'],
    ...series.flatMap(({ name, points }) => points.map(({ x, y }) => [name, x, short(y)])),
  ]);
}

async function frequencies(book: Book, folder: URL): Promise<void> {
  book.say(
    '## How often each state occurs',
    'Expected L1 error of relative frequencies of all chains together. The transitions are learned from the data and not paid for: a comparison of mechanisms, no release.',
  );
  const all = [];
  for (const read of [activity, power, careers]) all.push(...histogramNoise(await read(folder), [0.2, 1, 5]));
  const names = Object.keys(all[0]!.scales);
  book.table('frequencies', [
    ['data', 'epsilon', ...names],
    ...all.map(({ data, epsilon, scales, perScale }) => [
      data,
      epsilon,
      ...names.map((n) => (scales[n] === undefined ? 'not applicable' : short(scales[n]! * perScale))),
    ]),
  ]);
}
