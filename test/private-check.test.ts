import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { registerCheckCommand } from '../src/app/cli/check.js';
import { checkPolicy } from '../src/index.js';
import { runCommand } from './command.js';
import { openWorkshop, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const yaml = `data: { source: survey.csv }
protect: { secret: row }
budget: { epsilon: 1 }
dependence: [{ kind: groups, by: home, oddsRatio: 4 }]
columns:
  party: { type: category, values: [Dem, Rep, Ind, Green], missing: [refused] }
  media: { type: multi, values: [tv, web] }
  age: { type: integer, bounds: [18, 60] }
`;
const rows = 1000;
const party = (i: number) => (i < 373 ? 'Indep' : i < 400 ? 'refused' : i < 410 ? '' : ['Dem', 'Rep', 'Rep '][i % 3]);
const csv = `home,party,media,age\n${Array.from(
  { length: rows },
  (_, i) =>
    `h${i < 900 ? i >> 1 : 450 + ((i - 900) >> 2)},${party(i)},${['tv', 'tv;radio', 'web', ''][i % 4]},${i % 100 === 5 ? 'many' : i % 100}`,
).join('\n')}\n`;

const open = () => {
  shop = openWorkshop(yaml, 1);
  shop.write('survey.csv', csv);
};
/** Every file with its bytes and its time. */
const everything = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => [
      name,
      statSync(join(folder, name)).mtimeMs,
      statSync(join(folder, name)).isFile() && readFileSync(join(folder, name), 'utf8'),
    ]);

describe('the private check, for the steward alone', () => {
  it('the check counts rows with undeclared codes, unused codes, clamped rows, and groups by size', async () => {
    open();
    const { private: found } = await checkPolicy(shop.policyFile, { private: true });
    const of = (name: string) => found!.columns.find((c) => c.column === name)!;
    expect(of('party')).toMatchObject({
      hidden: 373,
      undeclared: [{ code: 'Indep', rows: 373 }],
      unseen: ['Ind', 'Green'],
      missing: 37,
    });
    expect(of('media')).toMatchObject({ hidden: 250, undeclared: [{ code: 'radio', rows: 250 }], unseen: [] });
    expect(of('age')).toMatchObject({ hidden: 10, undeclared: [{ code: 'many', rows: 10 }], below: 170, above: 390 });
    expect(found).toMatchObject({
      rows,
      groups: [{ column: 'home', groups: 475, largest: 4, sizes: [{ size: 2, groups: 450 }, { size: 4, groups: 25 }], nameless: 0 }], // biome-ignore format: one line
    });
  });

  it('the check runs only on request, states that it is private, and is written nowhere', async () => {
    open();
    const before = everything(shop.folder);
    expect((await checkPolicy(shop.policyFile)).private).toBeUndefined();
    expect(await runCommand(registerCheckCommand, 'check', shop.policyFile)).not.toMatch(/Indep|PRIVATE/);
    const text = await runCommand(registerCheckCommand, 'check', shop.policyFile, '--private');
    expect(text).toMatch(/PRIVATE: exact figures/);
    expect(text).toMatch(/party\s+373\s+Indep \(373\)/);
    const json = JSON.parse(await runCommand(registerCheckCommand, 'check', shop.policyFile, '--private', '--json'));
    expect(json.private.columns[0].hidden).toBe(373);
    expect(everything(shop.folder)).toEqual(before);
  });

  it.each([
    ['', 1],
    [', pairs: { same: [x] }', 3],
  ])(
    'the check counts the excess rows of a person, or all of their rows where pairs are declared (%s)',
    async (pairs, beyond) => {
      shop = openWorkshop(
        `data: { source: visits.csv }\nprotect: { secret: person, unit: who, maxRows: 2${pairs} }\nbudget: { epsilon: 1 }\ndependence: none\ncolumns: { x: { type: category, values: [1] } }\n`,
        1,
      );
      shop.write('visits.csv', `who,x\na,1\na,1\na,1\nb,1\n,1\n`);
      expect((await checkPolicy(shop.policyFile, { private: true })).private!.unit).toMatchObject({
        groups: 2,
        largest: 3,
        beyond,
        cut: 1,
        nameless: 1,
      });
    },
  );

  it('the check counts rows hidden by the declarations of other tables, too', async () => {
    shop = openWorkshop(
      `data: { source: people.csv }
protect: { secret: person, unit: who, maxRows: 1 }
budget: { epsilon: 1 }
dependence: none
columns: { x: { type: category, values: [1] } }
tables:
  visits: { source: visits.csv, unit: who, maxRows: 2, columns: { kind: { type: category, values: [acute] }, cost: { type: integer, bounds: [0, 50] } } }
  towns: { source: towns.csv, key: town, public: true, columns: { size: { type: category, values: [small] } } }
`,
      1,
    );
    shop.write('people.csv', 'who,x\na,1\nb,1\n');
    shop.write('visits.csv', 'who,kind,cost\na,acute,10\na,dental,90\na,acute,20\nb,acute,5\n');
    shop.write('towns.csv', 'town,size\nt1,small\nt2,large\n');
    const { tables } = (await checkPolicy(shop.policyFile, { private: true })).private!;
    expect(tables!.map(({ table, rows }) => [table, rows])).toEqual([['visits', 4], ['towns', 2]]); // biome-ignore format: one line
    expect(tables![0]).toMatchObject({
      columns: [
        { hidden: 1, undeclared: [{ code: 'dental', rows: 1 }] },
        { below: 0, above: 1 },
      ],
      unit: { column: 'who', groups: 2, largest: 3, beyond: 1, cut: 1 },
    });
    expect(tables![1]).toMatchObject({ columns: [{ hidden: 1, undeclared: [{ code: 'large', rows: 1 }] }] });
    expect(await runCommand(registerCheckCommand, 'check', shop.policyFile, '--private')).toMatch(
      /Table visits\n4 rows in all[\s\S]*dental \(1\)/,
    );
  });

  it('the check reads dates as releases do', async () => {
    shop = openWorkshop(
      'data: { source: days.csv }\nprotect: { secret: row }\nbudget: { epsilon: 1 }\ndependence: none\ncolumns: { day: { type: date, bounds: [2024-01-01, 2024-12-31] } }\n',
      1,
    );
    const days = ['2024-02-29', '2024-02-30', '2023-12-31', '2025-01-01T08:00', '2024-05-06 07:00', '06.05.2024', ''];
    shop.write('days.csv', `day,n\n${days.map((day, i) => `${day},${i}`).join('\n')}\n`);
    const { private: found, explanation } = await checkPolicy(shop.policyFile, { private: true });
    expect(found!.columns[0]).toMatchObject({
      missing: 1,
      hidden: 2,
      undeclared: [{ code: '06.05.2024' }, { code: '2024-02-30' }],
      below: 1,
      above: 1,
    });
    expect(explanation[0]!.text).toContain('(1 of dates)');
  });

  it('the check names the declared code that another spelling most likely means', async () => {
    shop = openWorkshop('', 1);
    shop.write(
      'policy.yaml',
      yaml.replace('[Dem, Rep, Ind, Green]', '[Dem, New Left, "1", "1.5"]').replace(/dependence: .*/, 'dependence: none'),
    );
    const cells = ['dem', 'DEM', 'new_left', '01', '"1,5"', '1.50', '"1,0"', '1.0', 'Green'];
    shop.write('survey.csv', `party,media,age\n${cells.map((cell) => `${cell},"1,0",20`).join('\n')}\n`);
    const { private: found } = await checkPolicy(shop.policyFile, { private: true });
    const party = found!.columns.find((c) => c.column === 'party')!;
    expect(Object.fromEntries(party.undeclared.map(({ code, declaredAs }) => [code, declaredAs]))).toEqual({
      dem: 'Dem',
      DEM: 'Dem',
      new_left: 'New Left',
      '01': '1',
      '1,5': '1.5',
      '1.50': '1.5',
      Green: undefined,
    });
    expect(await runCommand(registerCheckCommand, 'check', shop.policyFile, '--private')).toContain('01 (1; declared: 1)');
  });
});
