import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Chains, transitionsOf } from '../experiments/time/chains.js';
import { histogramNoise } from '../experiments/time/histograms.js';
import { run } from '../experiments/time/run.js';

it('the experiment on time works out the survey’s tables and draws its pictures', async () => {
  const out = mkdtempSync(join(tmpdir(), 'fugu-time-'));
  await run(out, null);
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
  rmSync(out, { recursive: true });
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
