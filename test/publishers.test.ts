import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { amendTerms, enterSpending, open, verifyLedger } from '../src/index.js';
import { runCommand } from './command.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** Several publishers, several data sets, one population. */
let shop: Workshop;
let elsewhere: string | undefined;
afterEach(() => {
  shop?.remove();
  if (elsewhere) rmSync(elsewhere, { recursive: true, force: true });
  elsewhere = undefined;
});

const party = { kind: 'histogram', column: 'party' } as const;
const release = async (epsilon: number, file = shop.policyFile, query: object = party) => {
  await using fugu = await open(file);
  return await fugu.release(query as typeof party, { epsilon });
};
const spending = async (file = shop.policyFile) => {
  await using fugu = await open(file);
  return { ...(await fugu.spent()), plan: (await fugu.plan(party, { epsilon: 0.01 })).budget, entries: await fugu.entries() };
};
const refused = (work: Promise<unknown>) => work.then(() => undefined, (error: unknown) => error as { code: string; message: string; hint: string }); // biome-ignore format: one line

describe('costs of another publisher', () => {
  it('the cost is entered as a number, stays, and leaves less for everybody', async () => {
    shop = openWorkshop();
    const done = await enterSpending(shop.policyFile, { epsilon: '0.4', by: 'the census', reason: 'table 3' });
    expect([done.budget.spent, done.budget.remaining, done.label]).toEqual([0.4, 0.6, 'by the census: table 3']);
    const { others, plan, entries } = await spending();
    expect([others, plan.remaining, entries[0]!.entered, entries[0]!.settled]).toEqual([
      { entered: 0.4, setAside: 0 },
      0.6,
      true,
      true,
    ]);
    expect((await verifyLedger(shop.policyFile)).ok).toBe(true);
    expect(await refused(release(0.7))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await release(0.6);
    // The same number again is another release of theirs.
    expect(await refused(enterSpending(shop.policyFile, { epsilon: '0.4', by: 'the census', reason: 'table 3' }))).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      hint: expect.stringContaining('--over'),
    });
    expect((await spending()).entries).toHaveLength(2);
  });

  it('a cost above the budget is entered on request, and nothing is released afterwards', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1 }' }), 240);
    await release(0.5);
    const done = await enterSpending(shop.policyFile, { epsilon: 0.75, reason: 'they did', over: true });
    expect([done.over, done.budget.remaining]).toEqual([true, 0]);
    const { over, gained: loss } = await spending();
    expect([over, loss]).toEqual([true, 1.25]);
    expect(await refused(release(0.01, shop.policyFile, { kind: 'count' }))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    // A recorded answer is returned again, and a larger budget continues from the amount spent.
    expect((await release(0.5)).receipt.ledger.replayed).toBe(true);
    shop.write('policy.yaml', policyYaml({ budget: '{ epsilon: 2 }' }));
    await amendTerms(shop.policyFile, { reason: 'the council agreed' });
    expect((await spending()).budget.remaining).toBe(0.75);
  });

  it('the cost is entered by the receipt of their release, once', async () => {
    shop = openWorkshop();
    elsewhere = mkdtempSync(join(tmpdir(), 'fugu-other-'));
    writeFileSync(join(elsewhere, 'people.csv'), readFileSync(join(shop.folder, 'people.csv')));
    const theirs = join(elsewhere, 'policy.yaml');
    writeFileSync(theirs, policyYaml().replace('population: town', 'population: office'));
    const { receipt } = await release(0.3, theirs);
    const file = shop.write('receipt.json', JSON.stringify(receipt));
    const output = await runCommand(
      registerLedger,
      'ledger',
      shop.policyFile,
      'enter',
      file,
      '--records-per-person',
      '1',
      '--reason',
      'their table',
    );
    expect(output).toMatch(/Entered as entry 2: by office, .*remaining .*0\.7/s);
    expect(await enterSpending(shop.policyFile, { receipt, recordsPerPerson: 1, reason: 'again' })).toMatchObject({
      already: true,
      ledger: { entry: 2 },
    });
    expect((await spending()).entries).toHaveLength(1);
    expect((await spending()).budget.spent).toBeCloseTo(0.3, 12);
    const tuple = { ...receipt, privacyUnit: { ...receipt.privacyUnit, secret: 'edge' } };
    expect(
      (await refused(enterSpending(shop.policyFile, { receipt: tuple, recordsPerPerson: 1, reason: 'x' })))!.message,
    ).toContain('another secret');
    const pairs = { ...receipt, guarantee: { ...receipt.guarantee, pairs: ['age'] } };
    expect(
      (await refused(enterSpending(shop.policyFile, { receipt: pairs, recordsPerPerson: 1, reason: 'x' })))!.message,
    ).toContain('pairs of values');
    const nothing = { ...receipt, profile: { noise: 'pure', perRecord: {} } };
    expect(
      (await refused(enterSpending(shop.policyFile, { receipt: nothing, recordsPerPerson: 1, reason: 'x' })))!.message,
    ).toContain('public there');
    expect((await refused(enterSpending(shop.policyFile, { reason: 'x' })))!.message).toBe('What was spent is not said.');
    expect((await refused(enterSpending(shop.policyFile, { receipt: { a: 1 }, reason: 'x' })))!.message).toContain('no receipt');
  });

  it('the cost is not counted again if the receipt is of this very account', async () => {
    shop = openWorkshop();
    const { receipt } = await release(0.3);
    const file = shop.write('receipt.json', JSON.stringify(receipt));
    const output = await runCommand(
      registerLedger,
      'ledger',
      shop.policyFile,
      'enter',
      file,
      '--records-per-person',
      '1',
      '--reason',
      'by mistake',
    );
    expect(output).toMatch(/Entered before, as entry 2: .* Nothing was changed\.\nSpent 0\.3 of 1, remaining 0\.7/);
    expect((await spending()).entries).toHaveLength(1);
  });

  it('a receipt with an exact part is not entered, because that part was public there', async () => {
    shop = openWorkshop(policyYaml({ protect: '{ secret: answer }' }), 60);
    elsewhere = mkdtempSync(join(tmpdir(), 'fugu-other-'));
    writeFileSync(join(elsewhere, 'people.csv'), readFileSync(join(shop.folder, 'people.csv')));
    const theirs = join(elsewhere, 'policy.yaml');
    const yaml = policyYaml({ protect: '{ secret: answer }' }).replace('population: town', 'population: office');
    writeFileSync(theirs, yaml.replace('[dem, rep, other]', '[dem, rep, other], public: true'));
    const age = { kind: 'histogram', column: 'age' };
    const { receipt: both } = await release(0.3, theirs, { queries: [party, age] });
    const x = { recordsPerPerson: 1, reason: 'x' };
    expect((await refused(enterSpending(shop.policyFile, { receipt: both, ...x })))?.message).toContain(
      'takes for public what is a secret here (column party)',
    );
    // The same holds if the receipt does not list its public columns.
    const silent = { ...both, privacyUnit: { ...both.privacyUnit, relied: [], public: [] } };
    expect((await refused(enterSpending(shop.policyFile, { receipt: silent, ...x })))?.message).toContain('without noise');
    writeFileSync(theirs, yaml.replace('population: office', 'population: bureau'));
    const { receipt: one } = await release(0.3, theirs, { queries: [{ kind: 'count' }, age] });
    expect((await enterSpending(shop.policyFile, { receipt: one, recordsPerPerson: 1, reason: 'x' })).budget.spent).toBeCloseTo(
      0.3,
      12,
    );
  });

  it('the cost counts over ties, and for all records that change at once under known totals', async () => {
    shop = openWorkshop(policyYaml({ dependence: '[{ kind: groups, by: home }]' }));
    const tied = await enterSpending(shop.policyFile, { epsilon: '0.1', reason: 'x' });
    // Three of a home are copies of each other.
    expect(tied.budget.spent).toBeCloseTo(0.3, 9);
    shop.remove();
    shop = openWorkshop(policyYaml({ extra: 'known: [{ margin: party }]\n' }));
    const known = await enterSpending(shop.policyFile, { epsilon: '0.1', reason: 'x' });
    expect(known.budget.spent).toBeCloseTo(0.4, 9);
  });

  it('the cost covers all answers of a person: no column becomes a secret afterwards that it was not reserved for', async () => {
    const joint = (records: readonly string[]) =>
      JSON.stringify({ records, precision: records.map((_, i) => records.map((__, j) => (i === j ? 1 : 0))), bounds: [0, 3] });
    const terms = (last: string, model: string) =>
      `data: { source: people.csv }\nprotect: { secret: answer }\nbudget: { epsilon: 1 }\npopulation: town\nledger: ledger.db\ndependence: [{ kind: gaussian, precision: ${model} }]\ncolumns:\n  age: { type: integer, bounds: [0, 3] }\n${last}`;
    const weight = '  weight: { type: integer, bounds: [0, 3] }\n';
    shop = openWorkshop(terms('', 'one.json'), 60);
    shop.write('one.json', joint(['age']));
    shop.write('two.json', joint(['age', 'weight']));
    await enterSpending(shop.policyFile, { epsilon: 0.75, reason: 'their table' });
    const stays = shop.write('stays.yaml', terms('', 'one.json').replace('epsilon: 1', 'epsilon: 2'));
    const more = shop.write('more.yaml', terms(weight, 'two.json'));
    expect(await refused(amendTerms(more, { reason: 'one more' }))).toMatchObject({
      code: 'LEDGER_MISMATCH',
      message: expect.stringContaining('Entry 2 is a release by others'),
    });
    expect(await refused(amendTerms(stays, { reason: 'more budget' }))).toBeUndefined();
  });

  it('a cost in zCDP goes with a budget that has a delta', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1, delta: 1e-6 }' }));
    const done = await enterSpending(shop.policyFile, { rho: '0.002', reason: 'x' });
    expect(done.budget.spent).toBeGreaterThan(0.05);
    shop.remove();
    shop = openWorkshop();
    expect(await refused(enterSpending(shop.policyFile, { rho: '0.002', reason: 'x' }))).toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
  });
});

describe('publishers who do not report their costs', () => {
  it('a part of the budget is set aside for them, in plans, releases and totals', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1, others: { epsilon: 0.4 } }' }));
    const { plan, others, budget } = await spending();
    expect([plan.spent, plan.remaining, others, budget.remaining]).toEqual([0.4, 0.6, { entered: 0, setAside: 0.4 }, 0.6]);
    expect(await refused(release(0.7))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    const { receipt } = await release(0.6);
    expect(receipt.guarantee.sentences.join(' ')).toContain(
      'All releases include those of others about the same people, up to epsilon 0.4 per record',
    );
    expect(await refused(release(0.01, shop.policyFile, { kind: 'count' }))).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    shop.write('policy.yaml', policyYaml());
    expect(await refused(release(0.3, shop.policyFile, { kind: 'count' }))).toMatchObject({ code: 'LEDGER_MISMATCH' });
    await amendTerms(shop.policyFile, { reason: 'they say now what they spend' });
    expect((await spending()).budget.remaining).toBeCloseTo(0.4, 9);
  });
});

describe('one population in several data sets', () => {
  it('the population has one account: spending under one policy counts for others, for every table', async () => {
    shop = openWorkshop(policyYaml(), 240);
    shop.write('visits.csv', 'id,ward\np1,a\np2,b\np3,a\n');
    const visits = shop.write(
      'visits.yaml',
      'data: { source: visits.csv }\nprotect: { secret: row, unit: id }\nbudget: { epsilon: 1 }\npopulation: town\nledger: ledger.db\ndependence: none\ncolumns:\n  ward: { type: category, values: [a, b] }\n',
    );
    await release(0.5);
    await using fugu = await open(visits);
    expect((await fugu.spent()).budget.remaining).toBe(0.5);
    expect(await refused(fugu.release({ kind: 'histogram', column: 'ward' }, { epsilon: 0.6 }))).toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
    await fugu.release({ kind: 'histogram', column: 'ward' }, { epsilon: 0.5 });
    expect((await spending()).budget.remaining).toBe(0);
  });
});
