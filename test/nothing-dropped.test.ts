import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { registerEpsilonCommand as registerEpsilon } from '../src/app/cli/epsilon.js';
import { registerEstimateCommand as registerEstimate } from '../src/app/cli/estimate.js';
import { registerLearnCommand as registerLearn } from '../src/app/cli/learn.js';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { refuseRepeatedOptions } from '../src/app/cli/options.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { registerSynthCommand as registerSynth } from '../src/app/cli/synth.js';
import { registerTokenCommand as registerToken } from '../src/app/cli/token.js';
import { open } from '../src/index.js';
import { runCommand } from './command.js';
import { registerIn } from './register-of.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const refused = (register: (program: Command) => void, ...words: string[]): Promise<string> =>
  runCommand(register, ...words).then(
    (text) => `answered: ${text}`,
    (error: unknown) => (error as Error).message,
  );
const repeated = (register: (program: Command) => void) => (program: Command) => {
  register(program);
  refuseRepeatedOptions(program);
};
/** Every command, by the files that register one. */
const commandFiles = readdirSync(join(import.meta.dirname, '..', 'src', 'app', 'cli')).filter(
  (f) => f.endsWith('.ts') && !f.includes('.test.') && f !== 'main.ts',
);

describe('an option that is given twice', () => {
  it('an option given twice is refused in every command, unless its values add up', async () => {
    let [options, spending] = [0, 0];
    for (const file of commandFiles) {
      const register = await registerIn(file.replace(/\.ts$/, ''));
      if (!register) continue;
      const names = new Command();
      register(names);
      const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
      for (const path of all(names).filter((c) => c.commands.length === 0))
        for (const option of path.options.filter((o) => (o.required || o.optional) && !o.variadic)) {
          options++;
          const words = [...(path.parent === names ? [] : [path.parent!.name()]), path.name()];
          const output = await refused(repeated(register), ...words, option.long!, '1', option.long!, '2');
          expect([file, output]).toEqual([file, `${option.long} is given twice.`]);
          const spends = path.options.some(({ description }) => description.startsWith('spend without asking'));
          const fault = await runCommand(repeated(register), ...words, option.long!, '1', option.long!, '2').catch((e) => e);
          expect([file, fault.outcome]).toEqual([file, spends ? { state: 'not spent' } : undefined]);
          if (spends) spending++;
        }
    }
    expect(options).toBeGreaterThan(80);
    expect(spending).toBeGreaterThan(20);
  });

  it('an option that takes several values is not refused', async () => {
    shop = openWorkshop();
    const output = await runCommand(repeated(registerToken), 'token', 'make', shop.policyFile, '--role', 'analyst', '--for', 'ann', '--only', 'policy', '--only', 'policy', '--json'); // biome-ignore format: one line
    expect(JSON.parse(output).policies).toEqual(['policy', 'policy']);
  });
});

describe('an option that is not used', () => {
  it.each([
    ['--chart', ['--prior', '0.1', '--posterior', '0.3', '--chart', 'c.svg']],
    ['--query', ['--epsilon', '1', '--query', '{}']],
    ['--posterior', ['--epsilon', '1', '--posterior', '0.3']],
    ['--delta', ['policy.yaml', '--survey', '--delta', '0.1']],
  ])('epsilon refuses the unused option: %s', async (option, words) => {
    expect(await refused(registerEpsilon, 'epsilon', ...words)).toBe(`${option} is not used here.`);
    expect(existsSync('c.svg')).toBe(false);
  });

  it('release and plan refuse an unused option', async () => {
    shop = openWorkshop();
    for (const [name, register] of [['plan', registerPlan], ['release', registerRelease]] as const) // biome-ignore format: one line
      for (const option of ['--gamma', '--degree', '--mechanism', '--form'])
        expect(await refused(register, name, shop.policyFile, '--query', '{"kind": "count"}', option, '1')).toBe(
          `${option} goes with --pattern.`,
        );
  });

  it.each([
    ['--epsilon', ['--epsilon', '3', '--by', 'them']],
    ['--reason', ['verify', '--reason', 'why']],
    ['--by', ['amend', '--reason', 'why', '--by', 'them']],
    ['--made', ['restore', 'copy', '--made']],
    ['The argument after "verify"', ['verify', 'copy']],
    ['The argument after "show"', ['show', 'copy']],
  ])('ledger refuses the unused option: %s', async (option, words) => {
    shop = openWorkshop();
    expect(await refused(registerLedger, 'ledger', shop.policyFile, ...words)).toBe(`${option} is not used here.`);
  });

  it.each([
    ['--url', ['make', 'POLICY', '--role', 'analyst', '--for', 'ann', '--url', 'http://x']],
    ['--role', ['list', 'POLICY', '--role', 'steward']],
    ['--only', ['end', 'POLICY', 'abc', '--only', 'policy']],
    ['The argument after "list"', ['list', 'POLICY', 'abc']],
  ])('token refuses the unused option: %s', async (option, words) => {
    shop = openWorkshop();
    const args = words.map((word) => (word === 'POLICY' ? shop.policyFile : word));
    expect(await refused(registerToken, 'token', ...args)).toBe(`${option} is not used here.`);
  });

  it('--overwrite is refused where nothing is written', async () => {
    shop = openWorkshop();
    const alone = '--overwrite goes with --out.';
    expect(await refused(registerRelease, 'release', shop.policyFile, '--query', '{"kind": "count"}', '--overwrite')).toBe(alone);
    expect(await refused(registerEstimate, 'estimate', shop.policyFile, '--overwrite')).toBe(alone);
  });

  it('the delta is kept in the line for a policy', async () => {
    const words = ['epsilon', '--prior', '0.1', '--posterior', '0.3', '--delta', '1e-6'];
    const output = await runCommand(registerEpsilon, ...words);
    expect(output).toContain('budget: { belief: { prior: 0.1, posterior: 0.3 }, delta: 0.000001 }');
    expect(JSON.parse(await runCommand(registerEpsilon, ...words, '--json')).delta).toBe(1e-6);
  });
});

describe('a place that cannot be written to', () => {
  const paying = ['--epsilon', '0.1', '--yes'];
  it.each([
    [
      'release',
      registerRelease,
      ['release', 'POLICY', '--query', '{"kind": "histogram", "column": "party"}', ...paying, '--out'],
    ],
    [
      'release of an analysis',
      registerRelease,
      ['release', 'POLICY', '--kmeans', '{"columns": ["age"], "clusters": 2}', ...paying, '--out'],
    ],
    ['synth', registerSynth, ['synth', 'POLICY', ...paying, '--out']],
    ['learn columns', registerLearn, ['learn', 'columns', 'POLICY', ...paying, '--out']],
    [
      'learn columns --pairwise',
      registerLearn,
      ['learn', 'columns', 'POLICY', '--pairwise', '--least', '10', ...paying, '--out'],
    ],
    [
      'learn transitions',
      registerLearn,
      ['learn', 'transitions', 'POLICY', '--by', 'id', '--order', 'age', '--state', 'party', ...paying, '--out'],
    ],
  ] as const)('the place is refused before anything is spent: %s', async (_name, register, words) => {
    shop = openWorkshop(policyYaml({ extra: '' }), 200);
    mkdirSync(join(shop.folder, 'taken.csv', 'receipt.json'), { recursive: true });
    const before = readdirSync(shop.folder, { recursive: true }).length;
    const places = ['people.csv/below.csv', `${'x'.repeat(300)}.csv`, 'taken.csv'].map((name) => join(shop.folder, name));
    for (const place of places) {
      const args = [...words.map((w) => (w === 'POLICY' ? shop.policyFile : w)), place];
      expect(await refused(register, ...args, ...(_name === 'synth' ? ['--overwrite'] : []))).toMatch(
        /could not be written|already/,
      );
    }
    await using fugu = await open(shop.policyFile);
    expect((await fugu.spent()).budget.spent).toBe(0);
    expect(readdirSync(shop.folder, { recursive: true }).filter((name) => !String(name).includes('ledger')).length).toBe(before);
  });
});

describe('a folder that cannot hold the tables of a release', () => {
  const ask = (out: string, ...more: string[]) => refused(registerRelease, 'release', shop.policyFile, '--query', '{"kind": "histogram", "column": "party"}', '--epsilon', '0.1', '--yes', '--out', out, ...more); // biome-ignore format: one line
  const spent = async () => {
    await using fugu = await open(shop.policyFile);
    return (await fugu.spent()).budget.spent;
  };

  it.each([
    ['a folder has the name of a table', (out: string) => mkdirSync(join(out, 'party.csv'), { recursive: true }), 'party.csv'],
    [
      'the name of a table is a link into a folder that is not there',
      (out: string) => {
        mkdirSync(out);
        symlinkSync(join(out, 'nowhere', 'party.csv'), join(out, 'party.csv'));
      },
      'party.csv',
    ],
    ['it is a link to nothing', (out: string) => symlinkSync(`${out}-nowhere`, out), 'receipt.json'],
  ])('the folder is refused before anything is spent: %s', async (_, make, file) => {
    shop = openWorkshop(policyYaml(), 200);
    const out = join(shop.folder, 'out');
    make(out);
    expect(await ask(out)).toBe(`The file ${join(out, file)} could not be written: it, or its folder, may not be written to.`);
    expect(await spent()).toBe(0);
  });

  it('the fault names a missing folder as it was given', async () => {
    shop = openWorkshop(policyYaml(), 200);
    const out = join(shop.folder, 'people.csv', 'out', 'deep');
    expect(await ask(out)).toBe(`The file ${out} could not be written: it, or its folder, may not be written to.`);
    expect(await spent()).toBe(0);
  });

  it('the folder may hold tables and folders of others', async () => {
    shop = openWorkshop(policyYaml(), 200);
    const out = join(shop.folder, 'out');
    mkdirSync(join(out, 'older'), { recursive: true });
    shop.write('out/other.csv', 'a\n1\n');
    shop.write('out/party.csv', 'a\n1\n');
    expect(await ask(out)).toMatch(/^answered/);
  });
});

describe('the option token --only', () => {
  it('token --only takes known policies, and lists them otherwise', async () => {
    shop = openWorkshop();
    const make = (...only: string[]) => refused(registerToken, 'token', 'make', shop.policyFile, '--role', 'analyst', '--for', 'ann', '--only', ...only, '--json'); // biome-ignore format: one line
    expect(await make('nope')).toBe('No policy is known as "nope".');
    expect(await make('policy', 'nope')).toBe('No policy is known as "nope".');
    shop.write('tables.yaml', 'tables:\n  - {by: [party]}\n');
    expect(await make('tables')).toMatch(/tables\.yaml is no policy\.$/);
    const elsewhereMade = (policy: string) => refused(registerToken, 'token', 'make', join(shop.folder, policy), '--role', 'analyst', '--for', 'ann', '--only', 'typo'); // biome-ignore format: one line
    expect(await elsewhereMade('typo.yaml')).toMatch(/typo\.yaml is no policy\.$/);
    expect(await elsewhereMade('nowhere/typo.yaml')).toMatch(/cannot be listed\.$/);
    shop.write('second.yaml', policyYaml());
    expect(await make('policy', 'second')).toContain('"second"');
    const elsewhere = openWorkshop();
    expect(await make(elsewhere.write('third.yaml', policyYaml()))).toContain('"third"');
    elsewhere.remove();
  });
});
