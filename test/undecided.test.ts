import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { registerCheckCommand as registerCheck } from '../src/app/cli/check.js';
import { amendTerms, checkPolicy, confirmPolicy, draftPolicy, Fault, open } from '../src/index.js';
import { runCommand } from './command.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());
const fault = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as Fault,
  );

describe('a declaration of dependence that is undecided', () => {
  it('an undecided dependence blocks plans, releases and amendments like an unconfirmed column, with a hint', async () => {
    shop = openWorkshop(policyYaml({ dependence: 'undecided' }), 60);
    const found = await fault(open(shop.policyFile));
    expect(found).toBeInstanceOf(Fault);
    expect(found).toMatchObject({ code: 'POLICY_UNCONFIRMED', message: expect.stringContaining('undecided') as string });
    expect(found!.hint).toMatch(/dependence: none.*dependence: \[\{kind: groups, by: COLUMN, oddsRatio: inf\}\]/);
    expect(found!.place?.line).toBe(
      readFileSync(shop.policyFile, 'utf8')
        .split('\n')
        .findIndex((l) => l.startsWith('dependence')) + 1,
    );
    expect(await fault(amendTerms(shop.policyFile, { reason: 'x' }))).toBeInstanceOf(Fault);
    const checked = await checkPolicy(shop.policyFile);
    expect(checked).toMatchObject({ ready: false, undecided: true });
    expect(await runCommand(registerCheck, 'check', shop.policyFile)).toMatch(/Not ready: say whether records know each other/);
  });

  it('undecided terms cannot open or amend an account', async () => {
    shop = openWorkshop(policyYaml(), 60);
    const none = (await checkPolicy(shop.policyFile)).digest;
    shop.write('policy.yaml', policyYaml({ dependence: 'undecided' }));
    expect((await checkPolicy(shop.policyFile)).digest).not.toBe(none);
  });

  it('a draft ends undecided until init or confirm decides', async () => {
    shop = openWorkshop(policyYaml(), 90);
    const data = `${shop.folder}/people.csv`;
    const drafted = await draftPolicy(data, { out: `${shop.folder}/a.yaml` });
    expect(drafted.undecided).toBe(true);
    expect(drafted.groups.map((g) => g.name)).toContain('home');
    expect((await confirmPolicy(drafted.policy, { columns: 'all' })).undecided).toBe(true);
    expect(await fault(open(drafted.policy))).toMatchObject({ code: 'POLICY_UNCONFIRMED' });
    const confirmed = await confirmPolicy(drafted.policy, { columns: [], dependence: { by: 'home', oddsRatio: '4' } });
    expect(confirmed.undecided).toBe(false);
    expect(readFileSync(drafted.policy, 'utf8')).toContain('dependence: [{kind: groups, by: home, oddsRatio: 4}]');
    await using fugu = await open(drafted.policy);
    expect((await fugu.plan({ kind: 'count' })).fits).toBe(true);
    const draft = await draftPolicy(data, { out: `${shop.folder}/b.yaml`, dependence: 'none' });
    expect(draft.undecided).toBe(false);
  });

  it('confirm leaves earlier decisions unchanged', async () => {
    shop = openWorkshop(policyYaml(), 30);
    const before = readFileSync(shop.policyFile, 'utf8');
    await confirmPolicy(shop.policyFile, { columns: 'all', dependence: { by: 'home' } });
    expect(readFileSync(shop.policyFile, 'utf8')).toBe(before);
  });

  it('"all" does not accept values that look like written text; by name they are accepted', async () => {
    const values = Array.from({ length: 9 }, (_, i) => `"my opinion number ${i} is that it is all too much"`).join(', ');
    shop = openWorkshop(
      policyYaml().replace('columns:\n', `columns:\n  home: { type: category, values: [${values}] }\n`) +
        'unconfirmed: [home, party]\n',
      30,
    );
    const all = await confirmPolicy(shop.policyFile, { columns: 'all' });
    expect(all).toMatchObject({ confirmed: ['party'], unconfirmed: ['home'], freeText: ['home'] });
    expect(await confirmPolicy(shop.policyFile, { columns: ['home'] })).toMatchObject({ unconfirmed: [], freeText: [] });
  });
});

it('confirm reports that a policy without declarations has nothing to decide', async () => {
  shop = openWorkshop(`${policyYaml().split('\ncolumns:')[0]}\n`, 60);
  const fugu = await open(shop.policyFile);
  const found = await fault(fugu.plan({ survey: true }));
  await fugu.close();
  expect(found).toMatchObject({ code: 'QUERY_INVALID', message: 'The policy declares no column to ask about.' });
});
