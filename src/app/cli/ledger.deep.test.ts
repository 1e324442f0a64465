import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { openWorkshop, policyYaml, type Workshop } from '../../../test/workshop.js';
import type { Spending } from '../api/ledger.js';
import { leakageText, registerLedgerCommand } from './ledger.js';

let shop: Workshop;
beforeEach(async () => {
  shop = openWorkshop();
  const session = await shop.session();
  await session.release({ kind: 'count' }, { epsilon: '0.25', label: 'first' });
  await session.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.5' });
  await session.close();
});
afterEach(() => shop.remove());
const run = (...words: string[]) => runCommand(registerLedgerCommand, 'ledger', shop.policyFile, ...words);

describe('the command fugu ledger', () => {
  it('fugu ledger shows spent and remaining budget, and the entries', async () => {
    const shown = JSON.parse(await run('--json'));
    expect(shown).toMatchObject({ population: 'town', agrees: true, budget: { total: 1, spent: 0.75, remaining: 0.25 } });
    expect(shown.entries.map((e: { label: string; settled: boolean }) => [e.label, e.settled])[0]).toEqual(['first', true]);
    expect(await run()).toMatch(/Spent 0\.75 of 1, remaining 0\.25/);
  });

  it('fugu ledger shows a remaining budget of zero if all but a negligible part is spent', async () => {
    const session = await shop.session();
    await session.release({ kind: 'count', by: ['party'] }, { epsilon: '0.2499999999' });
    await session.close();
    expect(await run()).toMatch(/Spent 1 of 1, remaining 0 \(/);
  });

  it('fugu ledger explains a privacy loss above the spent budget, but only if the difference shows in the printed digits', async () => {
    const spending = JSON.parse(await run('--json')) as Spending;
    const summary = (spent: number, gained: number) =>
      leakageText({ ...spending, gained, budget: { ...spending.budget, spent } });
    expect(summary(0.5, 0.7)).toMatch(/first releases reveal most; within the budget it never exceeds 1\./);
    expect(summary(0.69829, 0.69831)).toBe('Privacy loss of one record so far: at most 0.6983 (epsilon).');
  });

  it('fugu ledger shows the terms as a policy writes them', async () => {
    shop.write('policy.yaml', policyYaml({ dependence: '[{ kind: groups, by: party, oddsRatio: 4 }]' }));
    expect(await run()).toContain('dependence {kind: groups, by: [party], hidden: false, oddsRatio: 4}');
  });

  it('fugu ledger verifies the chain', async () => {
    expect(JSON.parse(await run('verify', '--json'))).toMatchObject({ ok: true, entries: 2 });
    expect(await run('verify')).toMatch(/The chain verifies: 2 entries/);
  });

  it('fugu ledger amends the terms only with a reason, and keeps the spent budget', async () => {
    shop.write('policy.yaml', policyYaml({ budget: '{ epsilon: 2 }' }));
    expect(await run()).toMatch(/declares other terms/);
    await expect(run('amend')).rejects.toMatchObject({ code: 'USAGE' });
    expect(await run('amend', '--reason', 'the board agreed')).toMatch(/before: epsilon 1.*\n.*now: +epsilon 2/);
    const shown = JSON.parse(await run('--json'));
    expect(shown).toMatchObject({ agrees: true, budget: { total: 2, spent: 0.75 } });
    expect(JSON.parse(await run('verify', '--json')).ok).toBe(true);
  });

  it('fugu ledger rebuilds a missing index from the chain file, and requires a reason to recover a missing chain file', async () => {
    for (const end of ['', '-wal', '-shm']) rmSync(join(shop.folder, `ledger.db${end}`), { force: true });
    expect(JSON.parse(await run('--json'))).toMatchObject({ budget: { spent: 0.75 }, entries: [{ settled: false }, {}] });
    expect(await run()).toMatch(/text lost/);
    rmSync(join(shop.folder, 'ledger.db.chain'));
    await expect(run()).rejects.toMatchObject({ code: 'LEDGER_CORRUPT', hint: expect.stringMatching(/recover --reason/) });
    await expect(run('recover')).rejects.toMatchObject({ code: 'USAGE' });
    expect(await run('recover', '--reason', 'the disk was changed')).toMatch(/Rebuilt from the index: 2 entries.*\n.*lost/);
    expect(JSON.parse(await run('--json'))).toMatchObject({ budget: { spent: 0.75 } });
    const session = await shop.session();
    await expect(session.release({ kind: 'count' }, { epsilon: '0.1' })).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' });
    await run('amend', '--reason', 'nothing was released since');
    await session.release({ kind: 'count' }, { epsilon: '0.1' });
    await session.close();
  });

  it('fugu ledger backs up into one file, and restores recorded answers from it', async () => {
    const file = join(shop.folder, 'copy.txt');
    expect(JSON.parse(await run('backup', file, '--json'))).toMatchObject({ links: 5, answers: 2 });
    await expect(run('backup', file)).rejects.toMatchObject({ code: 'READ_ONLY' });
    await expect(run('backup')).rejects.toMatchObject({ code: 'USAGE' });
    for (const end of ['', '-wal', '-shm']) rmSync(join(shop.folder, `ledger.db${end}`), { force: true });
    expect(await run('restore', file)).toMatch(/2 recorded answers brought back/);
    expect(JSON.parse(await run('--json')).entries).toMatchObject([{ settled: true }, { settled: true }]);
  });

  it('fugu ledger does not take a missing ledger for an empty one', async () => {
    for (const end of ['', '-wal', '-shm', '.chain']) rmSync(join(shop.folder, `ledger.db${end}`), { force: true });
    await expect(run('verify')).rejects.toMatchObject({ code: 'DATA_NOT_FOUND' });
    await expect(run('burn')).rejects.toMatchObject({ code: 'USAGE' });
  });
});
