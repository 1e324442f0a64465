import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { amendTerms, type EnterOptions, enterSpending, type Fault, open } from '../src/index.js';
import { runCommand } from './command.js';

/** Two publishers, each in a folder of their own: a receipt of one is entered into the account of the other. */
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Terms {
  readonly protect?: string;
  readonly budget?: string;
  readonly dependence?: string;
  /** Added to the column `week`. */
  readonly week?: string;
  readonly ward?: string;
}
const policyText = ({ protect, budget, dependence, week = '', ward = '' }: Terms): string => `data: { source: visits.csv }
protect: ${protect ?? '{ secret: person, unit: person, maxRows: 3 }'}
budget: ${budget ?? '{ epsilon: 1 }'}
population: town
ledger: ledger.db
dependence: ${dependence ?? 'none'}
columns:
  ward: { type: category, values: [a, b]${ward} }
  week: { type: integer, bounds: [0, 3]${week} }
`;
/** Forty people with three visits each. */
const visits = `visit,person,ward,week\n${Array.from({ length: 120 }, (_, i) => `v${i},p${Math.floor(i / 3)},${'ab'[i % 2]},${i % 3}`).join('\n')}\n`;
function publisher(terms: Terms = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-publisher-'));
  folders.push(folder);
  writeFileSync(join(folder, 'visits.csv'), visits);
  writeFileSync(join(folder, 'policy.yaml'), policyText(terms));
  return join(folder, 'policy.yaml');
}
const ward = { kind: 'histogram', column: 'ward' };
async function receiptOf(policy: string, epsilon = 0.3, query: object = ward) {
  await using fugu = await open(policy);
  return (await fugu.release(query as { kind: 'count' }, { epsilon })).receipt;
}
type Receipt = Awaited<ReturnType<typeof receiptOf>>;
const entered = (policy: string, receipt: unknown, more: Partial<EnterOptions> = {}) =>
  enterSpending(policy, { receipt, reason: 'their table', ...more });
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'entered',
    (error: Error) => error.message,
  );

const visit = '{ secret: person, unit: visit, maxRows: 1 }';
const row = '{ secret: row }';

describe('a receipt', () => {
  it('a receipt states its privacy unit, contribution bound, neighbouring data sets, public columns and ties', async () => {
    const theirs = publisher({ protect: '{ secret: row, unit: visit }', week: ', public: true', dependence: '[{ kind: groups, by: person, maxUsed: 2 }]' }); // biome-ignore format: one line
    expect((await receiptOf(theirs)).privacyUnit).toEqual({
      secret: 'row',
      column: 'visit',
      record: 'one row',
      maxRows: 1,
      neighbours: 'replace',
      public: ['week'],
      ties: ['person'],
      relied: ['step in week'],
    });
    expect((await receiptOf(publisher())).privacyUnit).toMatchObject({
      secret: 'person',
      column: 'person',
      record: 'all rows with one "person", of which at most 3 are used',
      maxRows: 3,
    });
  });
});

describe('the receipt of another publisher', () => {
  it.each<[string, Terms, Terms]>([
    ['whose unit is a visit where ours is a person', { protect: visit }, {}],
    ['about rows where ours are rows, of which one person may have several there', { protect: row }, { protect: row }],
    ['about persons under the same column name, which may name something else', {}, {}],
  ])(
    'a receipt is refused until a steward states the number of their records per person: a receipt %s',
    async (_, theirs, ours) => {
      const receipt = await receiptOf(publisher(theirs));
      const policy = publisher(ours);
      expect(await messageOf(entered(policy, receipt))).toContain('not how many of them are one person here');
      await using fugu = await open(policy);
      expect(await fugu.entries()).toEqual([]);
    },
  );

  it.each<[string, Terms, Terms, string]>([
    ['compares data in another way', { protect: '{ secret: row, neighbours: add-remove }' }, { protect: row }, 'another way'],
    [
      'compares data in another way, here',
      { protect: row },
      { protect: '{ secret: row, neighbours: add-remove }' },
      'another way',
    ],
    ['has a public column that is a secret here', { protect: row, week: ', public: true' }, { protect: row }, 'step in week'],
    ['reads answers at no cost that are secret here', { protect: '{ secret: answer }', ward: ', public: true' }, { protect: '{ secret: answer }' }, 'takes for public'], // biome-ignore format: one line
    ['has ties that nobody declared here', { protect: '{ secret: row, unit: visit }', dependence: '[{ kind: groups, by: person }]' }, { protect: row }, 'tied by "person"'], // biome-ignore format: one line
    [
      'protects pairs of values',
      { protect: '{ secret: row, pairs: { week: { within: 1 } } }' },
      { protect: row },
      'pairs of values',
    ],
  ])('a receipt is refused with any such statement if it %s', async (_, theirs, ours, expected) => {
    const query = theirs.ward ? { queries: [ward, { kind: 'histogram', column: 'week' }] } : ward;
    const receipt = await receiptOf(publisher(theirs), 0.3, query);
    expect(await messageOf(entered(publisher(ours), receipt, { recordsPerPerson: 1 }))).toContain(expected);
  });

  it('a receipt with an exact number of rows is refused if one person has several of them', async () => {
    const answers = { protect: '{ secret: answer }' };
    const receipt = await receiptOf(publisher(answers), 0.3, { queries: [{ kind: 'count' }, ward] });
    expect(await messageOf(entered(publisher(answers), receipt, { recordsPerPerson: 3 }))).toContain('without noise');
    expect(await messageOf(entered(publisher(answers), receipt, { recordsPerPerson: 1 }))).toBe('entered');
  });
});

describe('a receipt with a declared number of records per person', () => {
  it.each([1, 2, 3])('a person pays %i times the epsilon of one record', async (recordsPerPerson) => {
    const receipt = await receiptOf(publisher({ protect: visit }), 0.3);
    const policy = publisher();
    const { budget, label } = await entered(policy, receipt, { recordsPerPerson });
    expect(budget.spent).toBeCloseTo(0.3 * recordsPerPerson, 12);
    expect(label).toContain(`(${recordsPerPerson} of their records each)`);
  });

  it('a person pays the square of that number in zCDP', async () => {
    const budget = '{ epsilon: 1, delta: 1e-6 }';
    const given = await receiptOf(publisher({ protect: visit }), 0.3);
    const receipt = { ...given, profile: { noise: 'zcdp', perRecord: { '*': '1/1000' } } };
    const policy = publisher({ budget });
    await entered(policy, receipt, { recordsPerPerson: 3 });
    await using fugu = await open(policy);
    expect((await fugu.entries())[0]!.profile).toEqual({ noise: 'zcdp', perRecord: expect.objectContaining({ '*': '9/1000' }) });
  });

  it('a receipt that states a rho is refused in plain words if the budget has no delta', async () => {
    const given = await receiptOf(publisher({ protect: visit }), 0.3);
    const receipt = { ...given, profile: { noise: 'zcdp', perRecord: { '*': '1/1000' } } };
    const policy = publisher();
    const fault = (await entered(policy, receipt, { recordsPerPerson: 1 }).catch((error: unknown) => error)) as Fault;
    expect(fault).toMatchObject({ code: 'BUDGET_EXCEEDED', outcome: { state: 'not spent' }, details: {} });
    expect(fault.message).toBe('This cost is a rho of zCDP, and this budget has no delta: no rho can be counted in it.');
    expect(fault.hint).toMatch(/--over.*a budget with a delta/);
    // It can be entered as spent, and counts once the budget has a delta.
    expect(await entered(policy, receipt, { recordsPerPerson: 1, over: true })).toMatchObject({ over: true });
    writeFileSync(policy, policyText({ budget: '{ epsilon: 1, delta: 1e-6 }' }));
    expect((await amendTerms(policy, { reason: 'a delta' })).privacyLoss).toBeLessThan(1);
  });

  it('a receipt is refused if it exceeds the budget', async () => {
    const receipt = await receiptOf(publisher({ protect: visit }), 0.4);
    expect(await messageOf(entered(publisher(), receipt, { recordsPerPerson: 3 }))).toContain('The budget does not allow this');
  });

  it('a receipt counts once, and cannot be entered again at a higher bound', async () => {
    const receipt = await receiptOf(publisher({ protect: visit }), 0.1);
    const policy = publisher();
    const first = await entered(policy, receipt, { recordsPerPerson: 2 });
    expect(await entered(policy, receipt, { recordsPerPerson: 2 })).toMatchObject({ already: true, ledger: first.ledger });
    expect(await messageOf(entered(policy, receipt, { recordsPerPerson: 3 }))).toContain('at a lower cost than it has now');
    await using fugu = await open(policy);
    expect((await fugu.spent()).budget.spent).toBeCloseTo(0.2, 12);
  });

  it('a column that the receipt took for public stays public: no later amendment makes it secret', async () => {
    const terms = { protect: row, week: ', public: true' };
    const receipt = await receiptOf(publisher(terms));
    const policy = publisher(terms);
    await entered(policy, receipt, { recordsPerPerson: 1 });
    writeFileSync(policy, policyText({ protect: row }));
    expect(await messageOf(amendTerms(policy, { reason: 'week is a secret after all' }))).toContain('step in week');
  });

  it('the command line reads the bound as a whole number', async () => {
    const theirs = publisher({ protect: visit });
    const file = join(theirs, '..', 'receipt.json');
    writeFileSync(file, JSON.stringify(await receiptOf(theirs)));
    const policy = publisher();
    const enter = (...more: string[]) =>
      runCommand(registerLedger, 'ledger', policy, 'enter', file, '--reason', 'their table', ...more);
    expect(await messageOf(enter())).toContain('all rows with one "visit"');
    expect(await messageOf(enter('--records-per-person', '0'))).toContain('must be a whole number');
    expect(await messageOf(enter('--records-per-person', '1.5'))).toContain('must be a whole number');
    expect(await enter('--records-per-person', '3')).toMatch(/Spent 0\.9 of 1, remaining .*0\.1/);
  });

  it('the bound is refused for costs that are entered as a number', async () => {
    expect(await messageOf(enterSpending(publisher(), { epsilon: 0.1, recordsPerPerson: 3, reason: 'x' }))).toContain(
      'said of a receipt',
    );
  });
});

describe('a receipt of version 0.2, which has no privacy unit', () => {
  const older = ({ privacyUnit: _, ...receipt }: Receipt) => receipt;

  it('the receipt is entered if the steward states the bound and its text shows that nothing was public or tied', async () => {
    const receipt = older(await receiptOf(publisher({ protect: row })));
    const policy = publisher();
    expect(await messageOf(entered(policy, receipt))).toContain('of version 0.2');
    expect((await entered(policy, receipt, { recordsPerPerson: 3 })).budget.spent).toBeCloseTo(0.9, 12);
  });

  it.each<[string, Terms]>([
    ['answers', { protect: '{ secret: answer }' }],
    ['public columns', { protect: row, week: ', public: true' }],
    ['ties', { protect: '{ secret: row, unit: visit }', dependence: '[{ kind: groups, by: person }]' }],
  ])('the receipt is refused if it cannot show what was public: with %s', async (_, theirs) => {
    const receipt = older(await receiptOf(publisher(theirs)));
    expect(await messageOf(entered(publisher({ protect: row }), receipt, { recordsPerPerson: 1 }))).toContain(
      'does not list what',
    );
  });
});
