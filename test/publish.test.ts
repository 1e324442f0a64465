import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { registerAttackCommand as registerAttack } from '../src/app/cli/attack.js';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { fileName } from '../src/app/report/published-folder.js';
import { runCommand } from './command.js';
import { unzippedFiles } from './unzipped.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const histogram = '{"kind": "histogram", "column": "party"}';
const release = (...words: string[]) => runCommand(registerRelease, 'release', shop.policyFile, '--epsilon', '0.2', ...words);
const textsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !name.endsWith('.xlsx'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));

describe('the folder of a release', () => {
  it('the folder has tables with percentages, a workbook and a data package that names them all', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 4 }' }), 400);
    const out = join(shop.folder, 'out');
    await release('--query', histogram, '--out', out);
    expect(readdirSync(out).sort()).toEqual(['datapackage.json', 'party.csv', 'receipt.json', 'report.html', 'tables.xlsx']);
    const { resources, privacy } = JSON.parse(readFileSync(join(out, 'datapackage.json'), 'utf8'));
    const [head, ...rows] = readFileSync(join(out, 'party.csv'), 'utf8').trimEnd().split('\n');
    expect(resources[0].schema.fields.map((f: { name: string }) => f.name)).toEqual(head!.split(','));
    expect(head).toContain('percent');
    const percents = rows.map((row) => Number(row.split(',')[head!.split(',').indexOf('percent')])).slice(0, -1);
    expect(percents.reduce((a, b) => a + b)).toBeCloseTo(100, 6);
    expect(privacy).toMatchObject({ certified: true, epsilon: 4 });
  });

  it('the page, the workbook and the data package mark each table that is mostly noise', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 4 }' }), 60);
    const out = join(shop.folder, 'out');
    const queries = JSON.stringify([
      { kind: 'histogram', column: 'party' },
      { kind: 'mean', column: 'age' },
    ]);
    await release('--query', queries, '--out', out);
    const warning = /Mostly noise: the 95 % error of each number is ±\d+, more than a tenth of the records there are, about 60\./;
    const [, party, age] = readFileSync(join(out, 'report.html'), 'utf8').split('<figure');
    expect(party).toMatch(warning);
    expect(age).not.toMatch(/Mostly noise/);
    const { resources } = JSON.parse(readFileSync(join(out, 'datapackage.json'), 'utf8'));
    expect(resources[0].warning).toMatch(warning);
    expect(resources[1].warning).toBeUndefined();
    expect(unzippedFiles(readFileSync(join(out, 'tables.xlsx'))).get('xl/worksheets/sheet2.xml')).toMatch(warning);
    // A recorded answer carries it, too; an answer with little noise does not.
    const again = join(shop.folder, 'again');
    await release('--query', queries, '--out', again);
    expect(readFileSync(join(again, 'report.html'), 'utf8')).toMatch(warning);
    const calm = join(shop.folder, 'calm');
    await runCommand(registerRelease, 'release', shop.policyFile, '--epsilon', '3', '--query', histogram, '--out', calm);
    for (const text of textsIn(calm)) expect(text).not.toMatch(/Mostly noise/);
  });

  it('the folder shows no path, and names the population by its title', async () => {
    const yaml = policyYaml({ budget: '{ epsilon: 4 }' }).replace(/^population:.*\n/m, '');
    shop = openWorkshop(yaml, 400);
    await release('--query', histogram, '--out', join(shop.folder, 'plain'));
    shop.write('policy.yaml', `title: Town survey 2026\n${yaml}`);
    await release('--query', '{"kind": "count"}', '--out', join(shop.folder, 'titled'));
    for (const folder of ['plain', 'titled'])
      for (const text of textsIn(join(shop.folder, folder))) expect(text).not.toContain(shop.folder);
    expect(readFileSync(join(shop.folder, 'titled', 'report.html'), 'utf8')).toContain('Town survey 2026');
  });

  it('output for programs shows no path either: receipts name none', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 4 }' }).replace(/^population:.*\n/m, ''), 60);
    const output = await release('--query', histogram, '--json');
    expect(output).not.toContain(shop.folder);
    expect(JSON.parse(output).receipt.population).toBe('people');
    const question = '{"columns": ["age"], "clusters": 2}';
    expect(await release('--kmeans', question, '--json')).not.toContain(shop.folder);
  });

  it('file names take letters of every script, one for each table, none too long or a device', () => {
    const names = ['возраст', '性別', 'Größe (cm)', 'عمر', 'ปีเกิด', '!!!'];
    expect(names.map((name, k) => fileName(name, k, names.length))).toEqual([
      '1-возраст',
      '2-性別',
      '3-größe-cm',
      '4-عمر',
      '5-ปีเกิด',
      '6-answer',
    ]);
    expect(['!!!', 'CON', 'lpt1', '性別', 'a/../b', '\u202egnp.exe\u0000'].map((name) => fileName(name, 0, 1))).toEqual([
      'answer',
      'answer-con',
      'answer-lpt1',
      '性別',
      'a-b',
      'u202egnp-exe-u0000',
    ]);
    for (const letter of ['語', 'ß', '𝒳', 'e\u0301']) {
      const long = Array.from({ length: 3 }, (_, k) => `${fileName(letter.repeat(500), k, 3)}.csv`);
      for (const name of long) expect(Buffer.byteLength(name)).toBeLessThan(140);
      expect(new Set(long).size).toBe(3);
      expect(long[0]).not.toContain('\ufffd');
    }
  });

  it('the folder holds one release: a second is refused before it is paid for, or replaces the first', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 4 }' }), 400);
    const out = join(shop.folder, 'out');
    await release('--query', histogram, '--out', out);
    shop.write('out/notes.txt', 'mine');
    await expect(release('--query', '{"kind": "count"}', '--out', out)).rejects.toMatchObject({ code: 'USAGE' });
    await release('--query', '{"kind": "count"}', '--out', out, '--overwrite');
    const { budget } = JSON.parse(await runCommand(registerLedger, 'ledger', shop.policyFile, '--json'));
    expect(budget.spent).toBeCloseTo(0.4, 9);
    expect(readdirSync(out).sort()).toEqual([
      'count.csv',
      'datapackage.json',
      'notes.txt',
      'receipt.json',
      'report.html',
      'tables.xlsx',
    ]);
  });

  it("files of another data package are never taken for the release's own", async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 4 }' }), 60);
    const theirs = JSON.stringify({ resources: [{ path: 'interviews.csv' }] });
    const out = join(shop.folder, 'out');
    mkdirSync(out);
    shop.write('out/datapackage.json', theirs);
    shop.write('out/interviews.csv', 'mine');
    for (const words of [[], ['--overwrite']])
      await expect(release('--query', histogram, '--out', out, ...words)).rejects.toMatchObject({ code: 'USAGE' });
    const { budget } = JSON.parse(await runCommand(registerLedger, 'ledger', shop.policyFile, '--json'));
    expect(budget.spent).toBe(0);
    shop.write('out/receipt.json', '{}');
    await release('--query', histogram, '--out', out, '--overwrite');
    expect(readFileSync(join(out, 'interviews.csv'), 'utf8')).toBe('mine');
  });

  it('the folder has no attack page, which is private', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 4 }' }), 60);
    const out = join(shop.folder, 'out');
    await release('--query', histogram, '--out', out);
    const { page } = JSON.parse(await runCommand(registerAttack, 'attack', shop.policyFile, '--release', out, '--json'));
    expect(page).toBe(join(shop.folder, 'private', 'attack-party.html'));
    expect(statSync(page).mode & 0o077).toBe(0);
    expect(existsSync(join(out, 'attack.html'))).toBe(false);
  });
});
