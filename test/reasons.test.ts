import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { mostReason } from '../src/app/api/reason.js';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { open } from '../src/index.js';
import { runCommand } from './command.js';
import { registerIn } from './register-of.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const tooLong = 'x'.repeat(mostReason + 1);
const paying = ['--epsilon', '0.1', '--yes'];
/** Arguments of each command that takes a reason for a second budget. */
const asked: Readonly<Record<string, readonly string[]>> = {
  plan: ['POLICY', '--query', '{"kind": "count"}'],
  release: ['POLICY', '--query', '{"kind": "count"}', ...paying],
  stream: ['POLICY', '--every', '1', '--order', 'week', '--query', '{"kind": "count"}', ...paying],
  synth: ['POLICY', '--out', 'OUT.csv', ...paying],
  serve: ['POLICY', '--port', '0'],
  ledger: ['POLICY', 'enter', '--epsilon', '0.1', '--reason', 'by the census', '--by', 'them'],
  'learn columns': ['POLICY', '--out', 'OUT.json', ...paying],
  'learn ties': ['POLICY', '--relation', 'friend', '--column', 'party', ...paying],
  'learn transitions': ['POLICY', '--out', 'OUT.json', '--by', 'id', '--order', 'age', '--state', 'party', ...paying],
  'learn keys': ['POLICY', '--column', 'city', ...paying],
  'learn bounds': ['POLICY', '--column', 'city', ...paying],
  'learn rows': ['POLICY', '--table', 'visits', ...paying],
};

const commandFiles = readdirSync(join(import.meta.dirname, '..', 'src', 'app', 'cli')).filter(
  (f) => f.endsWith('.ts') && !f.includes('.test.') && f !== 'main.ts',
);
const spent = async () => {
  await using fugu = await open(shop.policyFile);
  return (await fugu.spent()).budget.spent;
};
const refused = (register: (program: Command) => void, ...words: string[]): Promise<string> =>
  runCommand(register, ...words).then(
    (text) => `answered: ${text}`,
    (error: unknown) => (error as Error).message,
  );
const placed = (words: readonly string[]) =>
  words.map((w) => w.replace('POLICY', shop.policyFile).replace('OUT', join(shop.folder, 'out')));

describe('a reason that is longer than the chain permits', () => {
  it('every command that has --new-budget refuses the reason, before anything is spent', async () => {
    shop = openWorkshop(
      policyYaml({
        protect: '{ secret: person, unit: id, maxRows: 2 }',
        extra: 'tables:\n  visits: { source: visits.csv, unit: id, maxRows: 3 }\n',
      }),
      60,
    );
    shop.write('visits.csv', 'id,city\np1,here\n');
    let found = 0;
    for (const file of commandFiles) {
      const register = await registerIn(file.replace(/\.ts$/, ''));
      if (!register) continue;
      const names = new Command();
      register(names);
      const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
      for (const each of all(names).filter((c) => c.options.some(({ long }) => long === '--new-budget'))) {
        const path = [...(each.parent === names ? [] : [each.parent!.name()]), each.name()];
        const words = placed([...path, ...asked[path.join(' ')]!]);
        const told = await refused(register, ...words, '--new-budget', tooLong);
        expect([path, told]).toEqual([path, '--new-budget has more than 1,000 characters.']);
        found++;
      }
    }
    expect(found).toBe(Object.keys(asked).length);
    expect(await spent()).toBe(0);
  });

  it.each(['amend', 'enter', 'same-data', 'recover', 'restore'])('ledger %s refuses the reason', async (action) => {
    shop = openWorkshop(policyYaml(), 60);
    const more = action === 'enter' ? ['--epsilon', '0.1', '--by', 'them'] : action === 'restore' ? ['copy'] : [];
    const words = ['ledger', shop.policyFile, action, ...more, '--reason', tooLong];
    expect(await refused(registerLedger, ...words)).toBe('--reason has more than 1,000 characters.');
    expect(await spent()).toBe(0);
  });

  it('the refused reason is one character longer than the longest permitted one', async () => {
    shop = openWorkshop(policyYaml(), 60);
    const words = placed(['release', ...asked.release!]);
    expect(await refused(registerRelease, ...words, '--new-budget', tooLong.slice(1))).toMatch(/^answered/);
  });
});
