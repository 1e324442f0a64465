import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtOnce } from '../fugu.js';
import { casesOf, type FuzzRun, mostMib, mostMs, runCases } from './run.js';
import { seeds, type Target } from './seeds.js';

/** Shares of the cases of a full run; FUGU_FUZZ=100000 runs them all. */
const shares: Readonly<Record<Target, number>> = {
  sql: 20_000,
  query: 20_000,
  policy: 14_000,
  pattern: 12_000,
  model: 10_000,
  network: 5_000,
  analysis: 3_000,
  codebook: 4_000,
  number: 4_000,
  words: 5_000,
  csv: 1_000,
  release: 2_000,
};
const wanted = Number(process.env.FUGU_FUZZ ?? 400);
const seed = Number(process.env.FUGU_FUZZ_SEED ?? 1);
const only = process.env.FUGU_FUZZ_ONLY?.split(',');
const targets = (Object.keys(seeds) as Target[]).filter((target) => only === undefined || only.includes(target));

/** A long case is stored as its parts. */
type Kept = string | { readonly before: string; readonly unit: string; readonly times: number; readonly after: string };
const text = (kept: Kept): string => (typeof kept === 'string' ? kept : kept.before + kept.unit.repeat(kept.times) + kept.after);
const folder = new URL('./corpus/', import.meta.url);
const corpus = (target: Target): readonly string[] =>
  readdirSync(folder).includes(`${target}.json`)
    ? (JSON.parse(readFileSync(new URL(`${target}.json`, folder), 'utf8')) as Kept[]).map(text)
    : [];

const show = ({ findings }: FuzzRun) =>
  findings.map(({ what, text: input }) => `${what}\n  in ${JSON.stringify(input.slice(0, 300))}`);

function report(run: FuzzRun): void {
  if (process.env.FUGU_FUZZ === undefined) return;
  console.log(
    `${run.target}: ${run.cases} cases, slowest ${Math.round(run.slowest)} ms, peak ${Math.round(run.peak)} MiB, ${JSON.stringify(run.ends)}`,
  );
  if (process.env.FUGU_FUZZ_FOUND !== undefined && run.findings.length > 0)
    writeFileSync(`${process.env.FUGU_FUZZ_FOUND}/${run.target}.json`, JSON.stringify(run.findings, null, 1));
}

describe('fuzzed inputs', () => {
  builtOnce();

  it.each(targets)(
    'a fuzzed %s ends in an answer or a fault, in time and memory',
    async (target) => {
      const made = casesOf(target, Math.max(10, Math.round((shares[target] * wanted) / 100_000)), seed);
      const run = await runCases(target, [...seeds[target], ...corpus(target), ...made]);
      report(run);
      expect(run.cases).toBe(Object.values(run.ends).reduce((a, b) => a + b, 0));
      expect(show(run)).toEqual([]);
    },
    3_600_000,
  );

  it('the fuzzer detects crashes, slowness, memory growth and a process that ends', async () => {
    const broken = await runCases('planted' as Target, ['crash', 'slow', 'grow', 'exit', 'fine', 'fault']);
    expect(broken.findings.map((f) => f.text).sort()).toEqual(['crash', 'exit', 'grow', 'slow']);
    expect(broken.slowest).toBeGreaterThan(mostMs);
    expect(broken.peak).toBeGreaterThan(mostMib);
    expect(broken.ends).toMatchObject({ read: 3, USAGE: 1, CRASH: 1, DIED: 1 });
  });
});
