import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Case, cases, policyOf } from './cases.js';
import { type Held, trialOf } from './coverage.js';
import { population } from './people.js';
import { rejections } from './rejections.js';
import { samples } from './samples.js';
import { countedInTables } from './tables.js';
import { boundWithNoise, budgets, type Data, type Exact, littleNoise, seeded } from './world.js';

/**
 * 95 % intervals of every kind at several sizes, and rejection rates of tests under the null. FUGU_COVERAGE_DRAWS: more
 * or fewer draws; FUGU_COVERAGE_ONLY: names that start so ("mean|variance"), or `tests`; FUGU_COVERAGE_SIZES: "300,3000".
 */
export async function run(out: string): Promise<void> {
  const draws = Number(process.env.FUGU_COVERAGE_DRAWS ?? 1000);
  const only = process.env.FUGU_COVERAGE_ONLY;
  const sizes = (process.env.FUGU_COVERAGE_SIZES ?? '300,3000,100000').split(',').map(Number);
  const people = population(5000);
  const file = join(out, `coverage${only === undefined ? '' : `-${only.replaceAll(/[^a-z]+/g, '-').slice(0, 100)}`}.md`);
  writeFileSync(file, '');
  const say = (line: string) => {
    console.log(line);
    appendFileSync(file, `${line}\n`);
  };
  say('| answer | noise | n | interval of the noise | with sampling | without end | number by number |');
  say('|---|---|---:|---:|---:|---:|---|');
  const all: Found[] = [];
  const chosen = cases.filter(({ name }) => only === undefined || only.split('|').some((start) => name.startsWith(start)));
  for (const group of bySample(chosen)) {
    const counts = new Map<string, (times: Int32Array) => Exact>();
    for (const n of sizes) {
      for (const [name, exact] of await countedOnce(group, people, n)) counts.set(name, () => exact);
      const trials = group.flatMap((own) =>
        (own.little ? littleNoise : budgets).map(([words, budget]) => {
          const trial = trialOf(own, people, n, budget, counts.get(own.name));
          counts.set(own.name, trial.count);
          return { own, words, trial };
        }),
      );
      const [ofSample, ofNoise] = [seeded(n), seeded(n + 1)];
      const { draw } = samples[group[0]!.sample ?? 'alike'];
      for (let k = 0; k < draws; k++) {
        const times = draw(people, n, ofSample);
        for (const { trial } of trials) trial.observe(times, ofNoise);
      }
      for (const { own, words, trial } of trials) {
        const held = trial.found();
        all.push({ name: own.name, n, held });
        say(lineOf(own.name, words, n, held));
      }
    }
  }
  for (const line of summary(all, sizes)) say(line);
  if (only === undefined || only === 'tests') for (const line of rejections(people, draws, sizes)) say(line);
}

/** Exact counts that are the same in all draws, computed once in a database. */
async function countedOnce(group: readonly Case[], people: Data, n: number): Promise<ReadonlyMap<string, Exact>> {
  const joined = group.filter(({ sample, tables }) => sample === 'fixed' && tables);
  if (joined.length === 0) return new Map();
  const asks = joined.map((own) => boundWithNoise(policyOf(own, people, n), own.query, budgets[0]![1]));
  const exact = await countedInTables(people, n, asks);
  return new Map(joined.map(({ name }, k) => [name, exact[k]!]));
}

interface Found {
  readonly name: string;
  readonly n: number;
  readonly held: readonly Held[];
}

/** One line for each kind of answer: smallest and largest coverage over its numbers and both noise distributions. */
function* summary(all: readonly Found[], sizes: readonly number[]): Generator<string> {
  const heads = ['noise', 'with sampling'].flatMap((what) => sizes.map((n) => `${what}, ${n.toLocaleString('en')}`));
  yield '';
  yield `| answer | ${heads.join(' | ')} |`;
  yield `|---|${heads.map(() => '---:|').join('')}`;
  for (const name of new Set(all.map((found) => found.name))) {
    const at = (n: number) => all.filter((found) => found.name === name && found.n === n).flatMap(({ held }) => held);
    const cells = [
      ...sizes.map((n) => span(at(n).map((row) => row.noise))),
      ...sizes.map((n) => span(at(n).map((row) => row.both))),
    ];
    yield `| ${name} | ${cells.join(' | ')} |`;
  }
}

function span(list: readonly (number | undefined)[]): string {
  const there = list.filter((x) => x !== undefined);
  if (there.length === 0) return '';
  const [a, b] = [Math.min(...there).toFixed(1), Math.max(...there).toFixed(1)];
  return a === b ? a : `${a} to ${b}`;
}

function bySample(chosen: readonly Case[]): readonly (readonly Case[])[] {
  const groups = new Map<string, Case[]>();
  for (const own of chosen) groups.set(own.sample ?? 'alike', [...(groups.get(own.sample ?? 'alike') ?? []), own]);
  return [...groups.values()];
}

function lineOf(name: string, words: string, n: number, held: readonly Held[]): string {
  const [open, without] = [held.map((row) => row.open), held.map((row) => row.without)].map((list) => Math.max(...list)) as [
    number,
    number,
  ];
  const each = held.map(({ keys, noise, both, below, above }) =>
    `${keys.join('/')} ${noise.toFixed(1)}${both === undefined ? '' : ` ${both.toFixed(1)} (${below.toFixed(1)}/${above.toFixed(1)})`}`.trim(),
  );
  return `| ${name} | ${words} | ${n} | ${span(held.map((row) => row.noise))} | ${span(held.map((row) => row.both))} | ${open > 0 ? `${open.toFixed(0)} % (any: ${without.toFixed(0)} %)` : ''} | ${each.join('; ')} |`;
}
