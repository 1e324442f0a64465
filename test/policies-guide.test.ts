import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerCheckCommand as registerCheck } from '../src/app/cli/check.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { open } from '../src/index.js';
import { runCommand } from './command.js';
import { openWorkshop, type Workshop } from './workshop.js';

const guide = join(import.meta.dirname, '..', 'docs', 'how-to', 'policies.md');
const text = readFileSync(guide, 'utf8');
/** Blocks of code with their languages. */
const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({ language, code: code! }));
const policy = blocks.find(({ language }) => language === 'yaml')!.code;
const registers = { check: registerCheck, plan: registerPlan, release: registerRelease };

/** Couples; ages, regions and parties in no order that matters. */
const people = `id,home,age,country,region,party\n${Array.from({ length: 1000 }, (_, i) => {
  const country = i % 3 === 0 ? 'south' : 'north';
  const region = country === 'north' ? ['coast', 'hills'][i % 2] : ['plains', 'islands'][i % 2];
  return `${i},${Math.floor(i / 2)},${17 + ((i * 37) % 74)},${country},${region},${'abc'[i % 3]}`;
}).join('\n')}\n`;

let shop: Workshop;
beforeAll(() => {
  shop = openWorkshop(policy, 1);
  shop.write('people.csv', people);
});
afterAll(() => shop.remove());

const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2]!);

describe('the guide to policies', () => {
  it("the guide's policy passes the examples that it shows", async () => {
    const output = (await runCommand(registerCheck, 'check', shop.policyFile)).replace(/\s+/g, ' ');
    const shown = blocks.find(({ code }) => code.includes('may not tell'))!.code;
    for (const line of shown.trim().split('\n')) expect(output).toContain(line);
  });

  it('plans and releases give the outputs of the guide', async () => {
    const commands = text.split('\n').filter((line) => /^\.\/fugu (plan|release) /.test(line));
    expect(commands).toHaveLength(3);
    const answers: string[] = [];
    for (const line of commands) {
      const [, name, , ...words] = wordsOf(line) as [string, 'plan' | 'release', string];
      answers.push(await runCommand(registers[name], name, shop.policyFile, ...words));
    }
    expect(answers[1]).toContain('No noise: this is public under the policy');
    expect(answers[2]).toMatch(/north\s+666/);
  });

  it('the guide shows the expected errors of plans (UPDATE_DOCS=1 writes them)', async () => {
    const [forms, ties] = [
      ['all', 'within: 20', 'within: 5', 'within: 1'],
      [undefined, 4, 81],
    ];
    const errorOf = async (form: string, odds: number | undefined) => {
      const yaml = `ledger: ${odds}-${form.length}-${form.at(-1)}.db\n${policy}`
        .replace('{ within: 5, missing: apart }', form === 'all' ? 'all' : `{ ${form}, missing: apart }`)
        .replace(
          'dependence: none',
          odds === undefined ? 'dependence: none' : `dependence: [{ kind: groups, by: home, oddsRatio: ${odds} }]`,
        );
      await using fugu = await open(shop.write('other.yaml', yaml));
      const plan = await fugu.plan({ kind: 'mean', column: 'age' }, { epsilon: 0.1 });
      return (plan.errors[0]!.halfWidth / 1000).toPrecision(3);
    };
    const rows: string[] = [];
    for (const form of forms) {
      const errors: string[] = [];
      for (const odds of ties) errors.push(await errorOf(form as string, odds as number | undefined));
      rows.push(`| \`${form}\` | ${errors.join(' | ')} |`);
    }
    const table = `|---|---:|---:|---:|\n${rows.join('\n')}\n\nThe table of countries`;
    if (process.env.UPDATE_DOCS)
      writeFileSync(guide, text.replace(/\|---\|---:\|---:\|---:\|\n[\s\S]*?\n\nThe table of countries/, table));
    expect(readFileSync(guide, 'utf8')).toContain(table);
  });
});
