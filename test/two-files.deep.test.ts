import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { parseRational, toNumber } from '../src/base/exact/rational.js';
import { amendTerms, declareSameData, enterSpending, open } from '../src/index.js';
import { runCommand } from './command.js';
import { faultOf } from './fault.js';
import { openLedger, readPolicy } from './inside.js';

/** Two tables about the same people in one account: a person in both loses no more than promised. */
let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-two-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const homes = 30;
/** Homes of three who answer alike; B holds one of each home. */
const peopleOf = (each: number): string =>
  `id,home,party\n${Array.from({ length: homes * each }, (_, i) => {
    const home = Math.floor(i / each);
    return `p${home}-${i % each},h${home},${home % 2 === 0 ? 'dem' : 'rep'}`;
  }).join('\n')}\n`;
const tiedHomes = '[{ kind: groups, by: home, oddsRatio: inf }]';

interface Written {
  readonly data?: string;
  readonly dependence?: string;
  readonly budget?: string;
  readonly population?: string;
  readonly more?: string;
}
function policy(name: string, { data = `source: ${name}.csv`, dependence = tiedHomes, ...written }: Written = {}): string {
  const { budget = '{ epsilon: 1 }', population = 'population: town\n', more = '' } = written;
  const file = at(`${name}.yaml`);
  writeFileSync(
    file,
    `data: { ${data} }\nprotect: { secret: row, unit: id }\nbudget: ${budget}\n${population}ledger: ledger.db\ndependence: ${dependence}\n${more}columns: { party: { type: category, values: [dem, rep] } }\n`,
  );
  return file;
}
function twoFiles(written: Written = {}): readonly [string, string] {
  writeFileSync(at('A.csv'), peopleOf(3));
  writeFileSync(at('B.csv'), peopleOf(1));
  return [policy('A', written), policy('B', written)];
}

const histogram = { kind: 'histogram', column: 'party' } as const;
/** Privacy loss of a whole home in one release: each member moves two cells by one, under Laplace noise. */
async function lossOf(file: string, { members, epsilon, fresh = true }: { members: number; epsilon: string; fresh?: boolean }) {
  await using fugu = await open(file);
  const { receipt } = await fugu.release(histogram, { epsilon, fresh });
  const { noise } = receipt.measures[0]!;
  if (noise.kind !== 'laplace') throw new Error(noise.kind);
  return (2 * members) / toNumber(parseRational(noise.scale));
}
const spentOf = async (file: string) => {
  await using fugu = await open(file);
  return await fugu.spent();
};

describe('two files of one population with ties', () => {
  it('the second file is refused, at no cost, because the first has ties that it does not hold', async () => {
    const [a, b] = twoFiles();
    const loss = await lossOf(a, { members: 3, epsilon: '1' });
    expect(loss).toBeLessThanOrEqual(1 + 1e-9);
    const fault = await faultOf(lossOf(b, { members: 1, epsilon: '0.66' }));
    expect(fault).toMatchObject({ code: 'BUDGET_EXCEEDED', outcome: { state: 'not spent' } });
    expect(fault.message).toBe('This account has spent on another file or table, whose ties are not known here.');
    expect(fault.hint).toMatch(/population of their own/);
    await using fugu = await open(a);
    expect((await fugu.entries()).length).toBe(1);
  });

  it('the file with the ties is refused once the other one has spent, and a plan says so', async () => {
    const [a, b] = twoFiles();
    await lossOf(b, { members: 1, epsilon: '0.5' });
    await using fugu = await open(a);
    const plan = (await fugu.plan(histogram, { epsilon: '0.1' })) as { fits: boolean; refusal?: string };
    expect(plan).toMatchObject({ fits: false, refusal: expect.stringMatching(/another file or table/) });
    expect(await faultOf(fugu.release(histogram, { epsilon: '0.1' }))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it.each([
    [
      ['A', '1'],
      ['B', '0.66'],
      ['A', '0.1'],
    ],
    [
      ['A', '0.5'],
      ['B', '0.8'],
      ['A', '0.5'],
    ],
    [
      ['B', '0.3'],
      ['A', '0.9'],
      ['B', '0.6'],
    ],
  ] as const)('a home loses no more than the budget in any admitted releases of %j, %j and %j', async (...requests) => {
    const [a, b] = twoFiles();
    let lost = 0;
    for (const [which, epsilon] of requests)
      lost += await lossOf(which === 'A' ? a : b, { members: which === 'A' ? 3 : 1, epsilon }).catch(() => 0);
    expect(lost).toBeGreaterThan(0.5);
    expect(lost).toBeLessThanOrEqual(1 + 1e-9);
  });

  it('recorded answers stay free after the other file has spent', async () => {
    const [a] = twoFiles();
    await lossOf(a, { members: 3, epsilon: '0.5', fresh: false });
    await spendUnmarked(a, '1/10');
    expect(await lossOf(a, { members: 3, epsilon: '0.5', fresh: false })).toBeGreaterThan(0);
    expect(await faultOf(lossOf(a, { members: 3, epsilon: '0.1' }))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('costs of other publishers that were entered for one file are not covered by the ties of the other', async () => {
    const [a, b] = twoFiles();
    await enterSpending(a, { epsilon: '0.1', reason: 'the census' });
    await lossOf(a, { members: 3, epsilon: '0.2' });
    expect(await faultOf(lossOf(b, { members: 1, epsilon: '0.1' }))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('ties that are declared after two files have spent cover neither', async () => {
    const [a, b] = twoFiles({ dependence: 'none' });
    await lossOf(a, { members: 1, epsilon: '0.1' });
    await lossOf(b, { members: 1, epsilon: '0.1' });
    policy('A');
    await amendTerms(a, { reason: 'homes answer alike' }).catch(() => undefined);
    expect((await faultOf(lossOf(a, { members: 3, epsilon: '0.01' }))).code).toMatch(/BUDGET_EXCEEDED|LEDGER_MISMATCH/);
  });

  it('the ledger prints no bound by the ties of one file once another has spent', async () => {
    const [a, b] = twoFiles();
    await lossOf(a, { members: 3, epsilon: '0.5' });
    expect(await spentOf(b)).toMatchObject({
      gained: Number.POSITIVE_INFINITY,
      elsewhere: expect.stringMatching(/ties are not known here/),
      budget: { remaining: 0 },
    });
    expect(await runCommand(registerLedger, 'ledger', b)).toMatch(/Privacy loss of one record so far: not bounded/);
    expect(await runCommand(registerLedger, 'ledger', a)).toMatch(/so far: at most 0\.5/);
  });

  it('two relation files of ties are two sources of ties, even in an account named after its data', async () => {
    writeFileSync(at('A.csv'), peopleOf(3));
    writeFileSync(at('few.csv'), 'x,y\np0-0,p0-1\n');
    writeFileSync(at('many.csv'), 'x,y\np0-0,p0-1\np0-0,p0-2\np0-0,p1-0\n');
    const ties = (file: string): Written => ({
      population: '',
      dependence: '[{ kind: ties, relation: friend, oddsRatio: 4 }]',
      more: `relations: { friend: { table: ${file}, columns: [x, y], domain: 90, symmetric: true } }\n`,
    });
    const a = policy('A', ties('many.csv'));
    await lossOf(a, { members: 1, epsilon: '0.5' });
    await lossOf(a, { members: 1, epsilon: '0.1' });
    policy('A', ties('few.csv'));
    expect(await faultOf(lossOf(a, { members: 1, epsilon: '0.1' }))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('two tables of one database are two sources, even in an account named after the database', async () => {
    const instance = await DuckDBInstance.create(at('town.duckdb'));
    const connection = await instance.connect();
    writeFileSync(at('A.csv'), peopleOf(3));
    writeFileSync(at('B.csv'), peopleOf(1));
    for (const name of ['A', 'B']) await connection.run(`CREATE TABLE ${name} AS FROM read_csv('${at(`${name}.csv`)}')`);
    connection.closeSync();
    instance.closeSync();
    const [a, b] = ['A', 'B'].map((table) => policy(table, { data: `source: town.duckdb, table: ${table}`, population: '' }));
    await lossOf(a!, { members: 3, epsilon: '0.5' });
    expect(await faultOf(lossOf(b!, { members: 1, epsilon: '0.1' }))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await lossOf(a!, { members: 3, epsilon: '0.1' });
  });
});

describe('two files of one population without ties', () => {
  it('costs add up per person', async () => {
    const [a, b] = twoFiles({ dependence: 'none' });
    await lossOf(a, { members: 1, epsilon: '0.5' });
    await lossOf(b, { members: 1, epsilon: '0.4' });
    expect((await spentOf(a)).budget.spent).toBeCloseTo(0.9);
    expect((await spentOf(b)).gained).toBeCloseTo(0.9);
    expect(await faultOf(lossOf(b, { members: 1, epsilon: '0.2' }))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });
});

describe('two files with a public column', () => {
  function twoWeeks(population = 'population: town\n'): readonly [string, string] {
    const rows = (own: number) => Array.from({ length: 40 }, (_, i) => `p${i},${(own + i) % 2},dem`).join('\n');
    return (['A', 'B'] as const).map((name, k) => {
      writeFileSync(at(`${name}.csv`), `id,week,party\n${rows(k)}\n`);
      const file = at(`${name}.yaml`);
      writeFileSync(
        file,
        `data: { source: ${name}.csv }\nprotect: { secret: row, unit: id }\nbudget: { epsilon: 1 }\n${population}ledger: ledger.db\ndependence: none\ncolumns:\n  week: { type: integer, bounds: [0, 3], public: true }\n  party: { type: category, values: [dem, rep] }\n`,
      );
      return file;
    }) as unknown as readonly [string, string];
  }
  const ask = async (file: string, k: number, epsilon = '1') => {
    await using fugu = await open(file);
    const where = [{ column: 'week', op: '=', value: k }];
    return await fugu.release({ ...histogram, where }, { epsilon, fresh: true });
  };

  it('a person in week 0 of one file and week 1 of the other pays for both', async () => {
    const [a, b] = twoWeeks();
    await ask(a, 0);
    expect(await faultOf(ask(b, 1))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    // No person has two weeks within one file.
    await ask(a, 1);
    expect(await faultOf(ask(a, 1, '0.1'))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('the costs of a week of one file count for every week of the other', async () => {
    const [a, b] = twoWeeks();
    await ask(a, 0, '0.5');
    await ask(b, 1, '0.5');
    expect((await spentOf(b)).gained).toBeCloseTo(1);
    expect(await faultOf(ask(b, 1, '0.1'))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    expect(await faultOf(ask(a, 0, '0.1'))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('costs of unknown weeks count in full, and the refusal states it; nobody has spent too much', async () => {
    const [a, b] = twoWeeks();
    await ask(b, 0, '0.6');
    await ask(b, 1, '1');
    const inFull = 'costs on another file or table count for every value of the public columns here';
    const rowsOfWeek = { kind: 'count', where: [{ column: 'week', op: '=', value: 1 }] } as const;
    await using fugu = await open(a);
    for (const [query, epsilon] of [
      [histogram, '0.3'],
      [rowsOfWeek, '0.3'],
      [{ ...histogram, where: rowsOfWeek.where }, '1'],
    ] as const) {
      const fault = await faultOf(fugu.release(query, { epsilon }));
      expect(fault).toMatchObject({ code: 'BUDGET_EXCEEDED', details: { remaining: 0, total: 1 } });
      expect(fault.message).toMatch(new RegExp(`^The budget does not allow this: ${inFull}, spent 1\\.6 of 1, remaining 0 `));
      expect(fault.message).not.toMatch(/exceeded|asked/);
      const { refusal, guarantee } = await fugu.plan(query, { epsilon });
      expect(refusal).toBe(fault.message);
      expect(guarantee.certified).toBe(false);
      expect(guarantee.sentences[0]).toBe(`This promise cannot be shown here: ${inFull}, epsilon 1.6 in all.`);
    }
    expect((await spentOf(a)).over).toBeUndefined();
    expect((await spentOf(b)).over).toBeUndefined();
    // A request refused after costs of both files states its own cost, the spent amount and the remaining one.
    const [c, d] = twoWeeks('population: other\n');
    await ask(d, 0, '0.6');
    expect((await faultOf(ask(c, 0, '0.5'))).message).toContain('requested 0.5, spent 0.6 of 1, remaining 0.4');
  });

  it('slices of version 0.2 count in full until the steward declares that they are of this data, and then once', async () => {
    const [a] = twoWeeks();
    const stored = { '*': '1', 'sliced:week#NAME': '1', 'slice:week#NAME:0': '1' };
    await spendAsBefore(a, stored);
    expect(await faultOf(ask(a, 1))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    expect((await declareSameData(a, { reason: 'one file' })).entries.length).toBeGreaterThan(0);
    expect((await declareSameData(a, { reason: 'again' })).entries).toEqual([]);
    await ask(a, 1);
    expect(await faultOf(ask(a, 0, '0.1'))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });
});

describe('accounts of version 0.2', () => {
  it('an account named by the steward is refused until its data is declared, on record', async () => {
    const [a] = twoFiles();
    await spendUnmarked(a, '1/10');
    const fault = await faultOf(lossOf(a, { members: 3, epsilon: '0.1' }));
    expect(fault.message).toMatch(/not on record/);
    expect(fault.hint).toMatch(/same-data --reason/);
    expect(await runCommand(registerLedger, 'ledger', a, 'same-data', '--reason', 'there was one file')).toMatch(/Declared/);
    expect(await runCommand(registerLedger, 'ledger', a, 'same-data', '--reason', 'again')).toMatch(/Nothing to declare/);
    const { gained: loss } = await spentOf(a);
    expect(loss).toBeCloseTo(0.3);
    await lossOf(a, { members: 3, epsilon: '0.5' });
    expect(await runCommand(registerLedger, 'ledger', a)).toMatch(/same data: there was one file/);
    const ledger = await openLedger(at('ledger.db'));
    expect((await ledger.verify()).ok).toBe(true);
    await ledger.close();
  });

  it('data can be declared before terms with ties are taken over', async () => {
    const [a] = twoFiles({ dependence: 'none' });
    await spendUnmarked(a, '1/10');
    policy('A');
    await declareSameData(a, { reason: 'one file' });
    await amendTerms(a, { reason: 'homes answer alike' });
    expect((await spentOf(a)).gained).toBeCloseTo(0.3);
    expect(await lossOf(a, { members: 3, epsilon: '0.5' })).toBeCloseTo(0.5);
  });

  it('an account named after its own file goes on', async () => {
    const [a] = twoFiles({ population: '' });
    await spendUnmarked(a, '1/10');
    await lossOf(a, { members: 3, epsilon: '0.5' });
    expect((await spentOf(a)).gained).toBeCloseTo(0.8);
  });

  it('a policy that writes the name of another file is not that file', async () => {
    const [a] = twoFiles({ population: '' });
    await lossOf(a, { members: 3, epsilon: '0.5' });
    const { population } = await readPolicy(a);
    const b = policy('B', { population: `population: ${JSON.stringify(population)}\n` });
    expect((await faultOf(lossOf(b, { members: 1, epsilon: '0.1' }))).message).toMatch(/not on record/);
    await lossOf(a, { members: 3, epsilon: '0.1' });
  });

  it('a false name that has spent is no part of what the file covers', async () => {
    const [a] = twoFiles({ population: '' });
    const { population } = await readPolicy(a);
    const b = policy('B', { population: `population: ${JSON.stringify(population)}\n` });
    await lossOf(b, { members: 1, epsilon: '0.1' });
    expect(await faultOf(lossOf(a, { members: 3, epsilon: '0.1' }))).toMatchObject({
      message: 'This account has spent on another file or table, whose ties are not known here.',
    });
  });
});

describe('data that moves', () => {
  it('a folder moved as a whole goes on; a renamed file goes on once that is declared', async () => {
    mkdirSync(at('town'));
    writeFileSync(at('town', 'A.csv'), peopleOf(3));
    const text = (source: string) =>
      `data: { source: ${source} }\nprotect: { secret: row, unit: id }\nbudget: { epsilon: 1 }\npopulation: town\nledger: ledger.db\ndependence: ${tiedHomes}\ncolumns: { party: { type: category, values: [dem, rep] } }\n`;
    writeFileSync(at('town', 'policy.yaml'), text('A.csv'));
    await lossOf(at('town', 'policy.yaml'), { members: 3, epsilon: '0.3' });
    renameSync(at('town'), at('city'));
    await lossOf(at('city', 'policy.yaml'), { members: 3, epsilon: '0.2' });
    renameSync(at('city', 'A.csv'), at('city', 'C.csv'));
    writeFileSync(at('city', 'policy.yaml'), text('C.csv'));
    expect(await faultOf(lossOf(at('city', 'policy.yaml'), { members: 3, epsilon: '0.1' }))).toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
    await declareSameData(at('city', 'policy.yaml'), { reason: 'renamed' });
    await lossOf(at('city', 'policy.yaml'), { members: 3, epsilon: '0.1' });
    expect((await spentOf(at('city', 'policy.yaml'))).gained).toBeCloseTo(0.6);
    await using fugu = await open(at('city', 'policy.yaml'));
    const listed = (await fugu.entries()).filter(({ label }) => !label.startsWith('same data'));
    for (const [k, epsilon] of [0.3, 0.2, 0.1].entries()) expect(listed[k]?.epsilon).toBeCloseTo(epsilon);
  });
});

/** Reserves a cost as version 0.2 did: without its data. `NAME` stands for the digest of the reading. */
async function spendAsBefore(file: string, stored: Readonly<Record<string, string>>): Promise<void> {
  const [{ namesBefore }, { fromStored }, { termsOf }] = await Promise.all([
    import('../src/data/ties/slicings.js'),
    import('../src/privacy/mechanism/privacy-cost.js'),
    import('../src/release/accountant/open-account.js'),
  ]);
  const read = await readPolicy(file);
  const before = [...namesBefore(read).values()][0]?.split('#')[1] ?? '';
  const perRecord = Object.fromEntries(Object.entries(stored).map(([name, cost]) => [name.replace('NAME', before), cost]));
  const ledger = await openLedger(read.ledger);
  await ledger.reserve({
    population: read.population,
    terms: termsOf(read),
    analyst: 'somebody',
    key: 'before',
    label: 'before',
    profile: fromStored({ noise: 'pure', perRecord }),
    admit: () => undefined,
  });
  await ledger.close();
}
const spendUnmarked = (file: string, cost: string) => spendAsBefore(file, { '*': cost });
