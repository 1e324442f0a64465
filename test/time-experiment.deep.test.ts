import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { activity, type Chains, careers, power, sequencesFolder, transitionsOf } from '../experiments/time/chains.js';
import { histogramNoise } from '../experiments/time/histograms.js';
import { run } from '../experiments/time/run.js';
import { rational } from '../src/base/exact/rational.js';
import { zcdp } from '../src/privacy/mechanism/budget-share.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { runningTotals } from '../src/privacy/mechanism/running/running-totals.js';
import { sensitivityOn } from '../src/privacy/mechanism/sensitivity.js';

const out = mkdtempSync(join(tmpdir(), 'fugu-time-'));
beforeAll(() => run(out, null), 60_000);
afterAll(() => rmSync(out, { recursive: true }));

/** Cells of the guide's table under a heading that begins with this text, without bold marks. */
function guided(heading: string): readonly (readonly string[])[] {
  const lines = readFileSync(new URL('../docs/how-to/time.md', import.meta.url), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.startsWith(heading));
  expect(start, heading).toBeGreaterThan(0);
  const end = lines.findIndex((line, k) => k > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) => line.split('|').slice(1, -1).map((cell) => cell.replaceAll('*', '').trim())); // biome-ignore format: one line
}
/** A printed figure compared with a computed one (which may itself be rounded to four digits). */
function expectPrinted(printed: string, value: number): void {
  const decimals = (/\.(\d+)/.exec(printed)?.[1] ?? '').length;
  expect(Math.abs(Number.parseFloat(printed) - value), printed).toBeLessThanOrEqual(
    0.5 * 10 ** -decimals + Math.abs(value) * 5e-4,
  );
}
const csv = (name: string) => readFileSync(join(out, `${name}.csv`), 'utf8').trim().split('\n').slice(1).map((line) => line.split(',')); // biome-ignore format: one line

it('the guide’s households equal those of the experiment', () => {
  const rows = guided('| people x weeks |');
  expect(rows.length).toBeGreaterThan(3);
  for (const [who, odds, ...figures] of rows) {
    const key = [...who!.split(' x '), ...odds!.split(' / ')].join();
    const found = csv('households').find((line) => line.slice(0, 4).join() === key);
    expect(found, key).toBeDefined();
    for (const [k, printed] of figures.entries()) expectPrinted(printed, Number(found![4 + k]));
  }
});

it('the guide’s errors of running totals equal those of the experiment, and of the published methods', () => {
  const steps = 10_000;
  const [each, binary, chosen, root, fading] = guided('| 10,000 steps, epsilon 1 |').map((row) => row.slice(1));
  const drawn = (way: string) => Number(csv('totals').find((line) => line[0] === way && line[1] === `${steps}`)![2]);
  expectPrinted(each![0]!, drawn('a noise for each step'));
  const [published, fromBelow] = binary![0]!.split(' / ') as [string, string];
  expectPrinted(fromBelow, drawn('binary tree'));
  // One noise for each binary digit of the step, of a scale for all of them.
  const digits = Array.from({ length: steps }, (_, t) => [...(t + 1).toString(2)].filter((d) => d === '1').length);
  const scale = steps.toString(2).length;
  const variance = (2 * Math.exp(-1 / scale)) / (1 - Math.exp(-1 / scale)) ** 2;
  const asPublished = Math.sqrt((variance * digits.reduce((a, b) => a + b)) / steps);
  expectPrinted(published, asPublished);
  expectPrinted(chosen![0]!, drawn('chosen'));
  const parts = chosen![1]!.match(/0\.\d+/g)!;
  for (const [k, whole] of [drawn('a noise for each step'), asPublished, drawn('binary tree')].entries())
    expectPrinted(parts[k]!, drawn('chosen') / whole);
  // sum over k < t of (binomial(2k, k) / 4^k)^2, for the rows and for the first column.
  let [coefficient, sum, all] = [1, 0, 0];
  for (let k = 0; k < steps; k++) {
    if (k > 0) coefficient *= (2 * k - 1) / (2 * k);
    sum += coefficient ** 2;
    all += sum;
  }
  const known = Math.sqrt((sum * all) / steps);
  expectPrinted(root![0]!, known);
  const sensitivity = sensitivityOn([everyRecord], { l1: 1n, l2squared: 1n });
  const counted = { name: 'n', cells: 1, horizon: steps, sensitivity, moves: 'within a step' as const };
  const ours = Math.sqrt(runningTotals(counted, zcdp(rational(1, 2))).meanVariance);
  expectPrinted(fading![0]!, ours);
  expectPrinted(/0\.\d+/.exec(fading![1]!)![0], ours / known);
});

it.skipIf(sequencesFolder === undefined)('the guide’s state frequencies equal those of the public sequences', async () => {
  const names = ['group', 'quilt, approximate', 'quilt', 'ours', 'robust quilt (informed)', 'ours (informed)'];
  // One of the three; all with FUGU_TIME_GUIDE=1.
  const epsilons = process.env.FUGU_TIME_GUIDE ? [0.2, 1, 5] : [1];
  const rows = guided('| | epsilon | group |').filter(([, epsilon]) => epsilons.includes(Number(epsilon)));
  const found = [];
  for (const read of [activity, power, careers]) found.push(...histogramNoise(await read(sequencesFolder!), epsilons));
  expect(rows.map(([, epsilon]) => Number(epsilon))).toEqual(found.map(({ epsilon }) => epsilon));
  for (const [k, { scales, perScale }] of found.entries())
    for (const [column, name] of names.entries()) expectPrinted(rows[k]![2 + column]!, scales[name]! * perScale);
});

it('the experiment on time computes the survey’s tables and draws its pictures', () => {
  const page = readFileSync(join(out, 'README.md'), 'utf8');
  expect(page).toContain('The counts of Table 2 are those of Table 1: yes.');
  expect(page).toContain('Its rows sum to 1, 1, 1.4.');
  expect(readFileSync(join(out, 'table-2.csv'), 'utf8')).toContain('Lap(1/epsilon),2\n');
  const households = readFileSync(join(out, 'households.csv'), 'utf8').split('\n');
  for (const [week, home] of ['9,4', '4,9'].map((odds) => odds.split(','))) {
    const [group, either, alike, gain] = households
      .find((line) => line.startsWith(`3,52,${week},${home},`))!
      .split(',')
      .slice(4)
      .map(Number) as [number, number, number, number];
    expect(group).toBe(156);
    expect(either).toBeLessThanOrEqual(group);
    expect(gain).toBeGreaterThan(5);
    expect(either / alike).toBeCloseTo(gain, 1);
  }
  for (const name of ['leakage', 'year', 'totals']) expect(readFileSync(join(out, `${name}.svg`), 'utf8')).toContain('<svg');
});

it('state frequencies take no more noise by the calculus than by quilts or groups', () => {
  let state = 0;
  let seed = 3;
  const chain = Array.from({ length: 300 }, () => {
    seed = (seed * 48271) % 2147483647;
    if (seed % 10 < 2) state = (state + 1) % 3;
    return state;
  });
  const data: Chains = { name: 'made', states: 3, chains: [chain, chain.slice(100)], about: '' };
  for (const row of transitionsOf(data)) expect(row.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
  for (const { epsilon, scales, perScale } of histogramNoise(data, [0.2, 1, 5])) {
    const { group, quilt, ours, 'robust quilt (informed)': robust, 'ours (informed)': informed } = scales;
    expect(group).toBe(600 / epsilon);
    expect(ours!).toBeLessThanOrEqual(quilt! * (1 + 1e-9));
    expect(informed!).toBeLessThanOrEqual(robust! * (1 + 1e-9));
    expect(quilt!).toBeLessThanOrEqual(group!);
    expect(perScale).toBe(3 / 500);
  }
});
