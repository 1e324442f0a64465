import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Fault } from './inside.js';
import { openWorkshop, peopleCsv, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const faultOf = async (work: Promise<unknown>): Promise<Fault> => {
  try {
    await work;
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return error as Fault;
  }
  throw new Error('nothing was refused');
};

describe('a session', () => {
  it('a session answers with a share of all the options there are', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    const { tables } = await session.release({ kind: 'share', column: 'media', values: ['tv', 'web'] }, { epsilon: '0.5' });
    expect(tables[0]!.rows[0]!.high).toBe(1);
    await session.close();
  });

  it('a session plans many quantiles of one column in a moment', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    const queries = Array.from({ length: 2000 }, () => ({ kind: 'quantile', column: 'age', at: [0.5] }));
    const { heapUsed } = process.memoryUsage();
    const { measures } = await session.plan({ queries });
    expect(measures).toHaveLength(1);
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(200 * 2 ** 20);
    await session.close();
  });

  it('a session plans for free, releases for budget, and lands near the truth', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    const plan = await session.plan({ kind: 'histogram', column: 'party' }, { epsilon: '0.5' });
    expect(plan).toMatchObject({ epsilon: 0.5, fits: true, mechanism: 'laplace', budget: { spent: 0, remaining: 1 } });
    expect(plan.errors[0]!.halfWidth).toBeCloseTo((2 / 0.5) * Math.log(20), 0);
    const { tables, receipt } = await session.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.5' });
    expect(tables[0]!.rows.map((r) => r.keys[0])).toEqual(['dem', 'rep', 'other', '(missing)']);
    for (const row of tables[0]!.rows) expect(Math.abs(row.value! - 300)).toBeLessThan(80);
    expect(receipt.guarantee).toMatchObject({ certified: true, epsilon: 1, secret: 'row' });
    expect((await session.plan({ kind: 'count' })).budget).toMatchObject({ spent: 0.5, remaining: 0.5 });
    await session.close();
  });

  it('a session returns a recorded answer with its date, even if the data has changed since, and computes it anew on request', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    const first = await session.release({ kind: 'mean', column: 'age', by: ['party'] }, { epsilon: '0.4' });
    const again = await session.release({ by: ['party'], column: 'age', kind: 'mean' }, { epsilon: '0.4' });
    expect(again.receipt.ledger).toMatchObject({ entry: first.receipt.ledger.entry, replayed: true });
    expect(again.tables).toEqual(first.tables);
    await session.close();
    writeFileSync(join(shop.folder, 'people.csv'), peopleCsv(1201));
    const later = await shop.session();
    const mean = { kind: 'mean', column: 'age', by: ['party'] };
    const old = await later.release(mean, { epsilon: '0.4' });
    expect([old.tables, old.receipt]).toEqual([again.tables, again.receipt]);
    expect(old.receipt.at).toBe(first.receipt.at);
    const anew = await later.release(mean, { epsilon: '0.4', fresh: true });
    expect(anew.receipt.ledger).toMatchObject({ replayed: false });
    expect(anew.receipt.ledger.entry).toBeGreaterThan(first.receipt.ledger.entry);
    // From then on the newer answer is the recorded one.
    expect((await later.release(mean, { epsilon: '0.4' })).receipt).toMatchObject({
      at: anew.receipt.at,
      ledger: { entry: anew.receipt.ledger.entry, replayed: true },
    });
    await later.close();
  });

  it('a session refuses more than the budget with asked, spent and remaining, at no cost', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    await session.release({ kind: 'count' }, { epsilon: '0.75' });
    const fault = await faultOf(session.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.5' }));
    expect(fault.code).toBe('BUDGET_EXCEEDED');
    expect(fault.exit).toBe(3);
    expect(fault.details).toMatchObject({ spent: 0.75, remaining: 0.25 });
    await session.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.25' });
    await session.close();
  });

  it('a session gives a copied policy the same account, and refuses one that raises the budget', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    await session.release({ kind: 'count' }, { epsilon: '1' });
    await session.close();
    copyFileSync(shop.policyFile, join(shop.folder, 'copy.yaml'));
    const copy = await shop.session(join(shop.folder, 'copy.yaml'));
    expect((await faultOf(copy.release({ kind: 'histogram', column: 'party' }))).code).toBe('BUDGET_EXCEEDED');
    await copy.close();
    const raised = await shop.session(shop.write('raised.yaml', policyYaml({ budget: '{ epsilon: 9 }' })));
    expect((await faultOf(raised.release({ kind: 'histogram', column: 'party' }))).code).toBe('LEDGER_MISMATCH');
    await raised.close();
  });

  it('a session spends nothing on an invalid question', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    for (const [query, code] of [
      [{ kind: 'histogram', column: 'partly' }, 'COLUMN_UNKNOWN'],
      [{ kind: 'share', column: 'party', values: ['green'] }, 'VALUE_UNKNOWN'],
      [{ kind: 'guess' }, 'QUERY_INVALID'],
      [{ kind: 'mean', column: 'party' }, 'QUERY_INVALID'],
    ] as const)
      expect((await faultOf(session.release(query))).code).toBe(code);
    for (const epsilon of ['0', '-1', 'NaN', '1e400', 'x'])
      expect((await faultOf(session.release({ kind: 'count' }, { epsilon }))).code).toMatch(/BUDGET_INVALID|LIMIT_EXCEEDED/);
    expect((await session.plan({ kind: 'count' })).budget.spent).toBe(0);
    await session.close();
  });

  it('a session takes Gaussian noise for a wide batch when delta allows it, and accounts in zCDP', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 1, delta: 1e-6 }' }));
    const session = await shop.session();
    const queries = Array.from({ length: 60 }, (_, k) => ({
      kind: 'histogram',
      column: 'party',
      where: [{ column: 'age', op: '>', value: 20 + k }],
    }));
    const plan = await session.plan({ queries }, { epsilon: '1' });
    expect(plan.mechanism).toBe('gaussian');
    const { receipt } = await session.release({ queries }, { epsilon: '1' });
    expect(receipt.profile.noise).toBe('zcdp');
    expect(await session.privacyLoss()).toBeLessThanOrEqual(1);
    expect(await session.privacyLoss()).toBeGreaterThan(0.999);
    await session.close();
  });

  it('a session adds more noise when households are declared, and never less than for strangers', async () => {
    shop = openWorkshop();
    const scale = async (dependence: string) => {
      const session = await shop.session(
        shop.write(
          `${dependence.length}.yaml`,
          policyYaml({ dependence }).replace('population: town', `population: t${dependence.length}`),
        ),
      );
      const plan = await session.plan({ kind: 'histogram', column: 'party' }, { epsilon: '1' });
      await session.close();
      return plan.errors[0]!.halfWidth;
    };
    const strangers = await scale('none');
    const copies = await scale('[{ kind: groups, by: home }]');
    const alike = await scale('[{ kind: groups, by: home, oddsRatio: 4 }]');
    expect(copies / strangers).toBeCloseTo(3, 1);
    expect(alike).toBeGreaterThan(strangers);
    expect(alike).toBeLessThan(copies);
  });

  it('a session tidies counts: none negative, totals that agree', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    const { tables } = await session.release(
      {
        queries: [
          { kind: 'histogram', column: 'party' },
          { kind: 'crosstab', columns: ['party', 'age'] },
        ],
      },
      { epsilon: '0.05', tidy: true },
    );
    const totals = tables.map((t) => t.rows.reduce((s, r) => s + r.value!, 0));
    expect(totals[0]).toBe(totals[1]);
    for (const t of tables) for (const r of t.rows) expect(r.value).toBeGreaterThanOrEqual(0);
    await session.close();
  });
});
