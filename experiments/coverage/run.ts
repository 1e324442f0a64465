import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { budgets, cases } from './cases.js';
import { coverage } from './coverage.js';
import { drawn, policy, population } from './people.js';
import { asked, columnsOf, counted, released, seeded } from './world.js';

/** 95 % intervals of every kind at three sizes, and how often tests reject where nothing is to be found. FUGU_COVERAGE_DRAWS: more or fewer of each; FUGU_COVERAGE_ONLY: those whose name starts so, or `tests`. */
export async function run(out: string): Promise<void> {
  const draws = Number(process.env.FUGU_COVERAGE_DRAWS ?? 1000);
  const people = population(300_000);
  const sizes = [300, 3000, 100_000];
  const lines = ['| answer | noise | n | interval of the noise | with sampling | without end |', '|---|---|---:|---:|---:|---:|'];
  const span = (list: readonly number[]) => {
    if (list.length === 0) return '';
    const [a, b] = [Math.min(...list).toFixed(1), Math.max(...list).toFixed(1)];
    return a === b ? a : `${a} to ${b}`;
  };
  const only = process.env.FUGU_COVERAGE_ONLY;
  for (const own of cases.filter(({ name }) => only === undefined || name.startsWith(only)))
    for (const [words, budget] of budgets)
      for (const n of sizes) {
        const every = n > 10_000 ? 4 : 1;
        const found = coverage(own, people, n, budget, { draws, every, random: seeded(n + own.name.length) });
        lines.push(
          `| ${own.name} | ${words} | ${n} | ${span(found.noise)} | ${span(found.both)} | ${found.open > 0 ? `${(100 * found.open).toFixed(0)} %` : ''} |`,
        );
        console.log(lines.at(-1));
      }
  if (only === undefined || only === 'tests') lines.push('', ...rejections(draws));
  writeFileSync(join(out, 'coverage.md'), `${lines.join('\n')}\n`);
}

/** Tests of what is not so: columns are shuffled against one another. */
function rejections(draws: number): readonly string[] {
  const people = population(200_000, 12);
  const random = seeded(5);
  const shuffled = { ...people, sex: people.age!.map(() => (random() < 0.4 ? 'm' : 'f')) };
  const tests = [
    ['comparison of means', { kind: 'compare', column: 'income', between: 'sex' }],
    ['comparison of shares', { kind: 'compare', column: 'vote', values: ['red'], between: 'sex' }],
    ['independence, 2 x 4', { kind: 'independence', columns: ['sex', 'vote'] }],
    ['independence, 2 x 3', { kind: 'independence', columns: ['sex', 'region'] }],
  ] as const;
  const lines = ['| test | noise | n | rejected at 5 % |', '|---|---|---:|---:|'];
  for (const [name, query] of tests)
    for (const [words, budget] of budgets)
      for (const n of [300, 3000, 100_000]) {
        const ask = asked(policy, query, budget);
        const tries = n > 10_000 ? draws : 3 * draws;
        let rejected = 0;
        for (let k = 0; k < tries; k++) {
          const [table] = released(policy, ask, counted(policy, ask, drawn(shuffled, n, random, columnsOf(ask))), random);
          const chance = table!.rows.find(({ keys }) => keys.at(-1) === 'p-value')!.value;
          if (chance !== null && chance < 0.05) rejected++;
        }
        lines.push(`| ${name} | ${words} | ${n} | ${((100 * rejected) / tries).toFixed(1)} |`);
        console.log(lines.at(-1));
      }
  return lines;
}
