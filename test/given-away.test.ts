import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, describe, expect, it } from 'vitest';
import { releaseKmeans } from '../src/analysis/learn/kmeans/kmeans.js';
import { releasePattern } from '../src/analysis/pattern/release.js';
import { enterSpending } from '../src/app/api/enter.js';
import { open } from '../src/app/api/fugu.js';
import { amendTerms } from '../src/app/api/ledger.js';
import { emptyPure } from '../src/privacy/mechanism/privacy-cost.js';
import { amendTo } from './amended.js';
import { openLedger, readPolicy } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** Public data that was released exactly cannot become secret afterwards. */
let shop: Workshop;
afterEach(() => shop?.remove());

const answers = (open: boolean, secret = 'answer') =>
  policyYaml({ protect: `{ secret: ${secret} }` }).replace('[dem, rep, other]', `[dem, rep, other], public: ${open}`);
const amended = async (yaml: string): Promise<string> => {
  const policy = await readPolicy(shop.write('policy.yaml', yaml));
  const ledger = await openLedger(policy.ledger);
  try {
    await amendTo(ledger, policy, 'because');
    return 'amended';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  } finally {
    await ledger.close();
  }
};
const released = async (yaml: string, ...queries: (object | readonly [query: object, epsilon: string])[]) => {
  shop?.remove();
  shop = openWorkshop(yaml, 40);
  const session = await shop.session();
  for (const question of queries) {
    const [query, epsilon] = Array.isArray(question) ? question : [question, '0.1'];
    await session.release(query, { epsilon });
  }
  await session.close();
};
const refusal = /^LEDGER_MISMATCH: Entry \d+ was released at no cost/;
const party = { kind: 'histogram', column: 'party' };
const age = { kind: 'histogram', column: 'age' };

describe('an amendment from answers to rows', () => {
  it('the amendment is refused after a public column was released exactly', async () => {
    await released(answers(true), age, party);
    expect(await amended(answers(true, 'row'))).toMatch(refusal);
    expect(await amended(answers(true, 'step').replace('secret: step', 'secret: row, unit: id'))).toMatch(refusal);
  });

  it('the amendment is refused after the rows were counted exactly', async () => {
    await released(answers(true), { kind: 'count' });
    expect(await amended(answers(true, 'row'))).toMatch(refusal);
  });

  it('the amendment is possible as long as every release paid for the row as a whole', async () => {
    await released(answers(true), age, { kind: 'mean', column: 'age', by: ['party'] });
    // The mean over ages by party: its counts and sums move with ages, so that rows paid.
    expect(await amended(answers(true, 'row'))).toBe('amended');
  });

  it('an amendment may change the budget after any release', async () => {
    await released(answers(true), party, { kind: 'count' });
    expect(await amended(answers(true).replace('epsilon: 1', 'epsilon: 2'))).toBe('amended');
  });
});

describe('a public column', () => {
  it('a public column cannot become secret once it was released, alone or as a key or a filter of a paid release', async () => {
    const queries = [
      party,
      { kind: 'mean', column: 'age', by: ['party'] },
      { kind: 'count', where: [{ column: 'party', op: '=', value: 'dem' }] },
    ];
    for (const query of queries) {
      await released(answers(true), query);
      expect(await amended(answers(false)), JSON.stringify(query)).toMatch(refusal);
    }
  });

  it('a public column cannot become secret after an analysis that states only its cost per row: nothing was reserved for its answers', async () => {
    const yaml = (open: boolean) =>
      policyYaml({ protect: '{ secret: answer }' }).replace('[17, 90]', `[17, 90], public: ${open}`);
    shop = openWorkshop(yaml(true), 40);
    const session = await shop.session();
    await releaseKmeans(session, { columns: ['age'], clusters: 2, variant: 'grid' }, { epsilon: '0.1' });
    await session.close();
    expect(await amended(yaml(false))).toMatch(refusal);
    expect(await amended(yaml(true).replace('epsilon: 1', 'epsilon: 2'))).toBe('amended');
  });

  it('a public column can become secret while no release has relied on it', async () => {
    await released(answers(true), age);
    expect(await amended(answers(false))).toBe('amended');
  });
});

describe('a public relation', () => {
  const ties = (open: boolean) =>
    policyYaml({
      protect: '{ secret: edge }',
      extra: `relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 50, private: ${!open} }\n  call: { table: calls.csv, columns: [a, b], domain: 50 }\n`,
    });
  const question = async (text: string): Promise<void> => {
    shop?.remove();
    shop = openWorkshop(ties(true), 40);
    for (const table of ['friends.csv', 'calls.csv']) shop.write(table, 'a,b\np1,p2\np2,p3\np3,p1\n');
    const session = await shop.session();
    await releasePattern(session, text, { epsilon: '0.1' });
    await session.close();
  };

  it('a public relation cannot become private once a pattern has read it without paying for its tuples', async () => {
    await question('q(x, y) :- friend(x, y), call(x, y)');
    expect(await amended(ties(false))).toMatch(refusal);
    await question('q(x, y) :- call(x, y)');
    expect(await amended(ties(false))).toBe('amended');
  });
});

describe('an entry whose record of exact releases was removed', () => {
  it('the amendment stops, because the chain does not verify', async () => {
    // Not the latest entry, which every amendment looks at.
    await released(answers(true), party, age);
    const file = new Database(join(shop.folder, 'ledger.db'));
    const { changes } = file
      .prepare('UPDATE link SET body = replace(body, \'"relied":["rows","column party"],\', \'\') WHERE sequence = 2')
      .run();
    file.close();
    expect(changes).toBe(1);
    expect(await amended(answers(true).replace('epsilon: 1', 'epsilon: 2'))).toMatch(/^LEDGER_CORRUPT/);
  });
});

describe('an entry without a record of exact releases', () => {
  it('the entry counts as having released nothing exactly', async () => {
    await released(answers(true), age);
    const policy = await readPolicy(shop.policyFile);
    const ledger = await openLedger(policy.ledger);
    const [known] = await ledger.entries('town');
    await ledger.reserve({
      population: 'town',
      terms: { digest: policy.digest, summary: 'whatever' },
      analyst: 'earlier',
      key: known!.key,
      label: 'from before',
      profile: emptyPure,
      admit: () => undefined,
    });
    await ledger.close();
    expect(await amended(answers(true, 'row'))).toMatch(refusal);
  });
});

describe('an amendment after which one of several public columns is no longer distinguished', () => {
  const rows = (party: string, age: string) =>
    policyYaml({ protect: '{ secret: row }' })
      .replace('[dem, rep, other]', `[dem, rep, other]${party}`)
      .replace('[17, 90]', `[17, 90]${age}`);
  const open = ', public: true';
  const ofThirty = [{ column: 'age', op: '=', value: 30 }];
  const byParty = { kind: 'count', by: ['party'], where: ofThirty };
  /** All of the budget for those who agree in both columns: their rows move one cell. */
  const spentAll = (query: object) => released(rows(open, open), [query, '1']);
  const broken = /lost epsilon 2 so far, and they promise 1/;
  const twice = (terms: string) => terms.replace('epsilon: 1 ', 'epsilon: 2 ');
  const lossBefore = async (): Promise<number> => {
    const session = await shop.session();
    const loss = await session.privacyLoss();
    await session.close();
    return loss;
  };

  it.each([
    ['a secret again', rows('', open)],
    ['read otherwise', rows(open, open).replace('[dem, rep, other]', '[dem, other]')],
  ])('a record that changes the column counts in full: %s', async (_, terms) => {
    await spentAll(byParty);
    expect(await lossBefore()).toBe(1);
    expect(await amended(terms)).toMatch(broken);
    expect(await amended(twice(terms))).toBe('amended');
    expect(await lossBefore()).toBe(2);
    // With no public column left, everybody pays for both cells; by party alone a row keeps its place.
    expect(await amended(twice(rows('', '')))).toBe('amended');
    expect(await lossBefore()).toBe(2);
    expect(await amended(rows(open, ''))).toBe('amended');
    expect(await lossBefore()).toBe(1);
  });

  it('a record counts in full even if letters are read differently: two values now missing were different before', async () => {
    await spentAll(byParty);
    const terms = rows(open, open).replace('people.csv', 'people.csv, encoding: windows-1252');
    expect(await amended(terms)).toMatch(broken);
    expect(await amended(twice(terms))).toBe('amended');
    expect(await lossBefore()).toBe(2);
  });

  it('a record counts in full even if the column stays public, in steps without a reserved cost', async () => {
    await spentAll({ kind: 'count', by: ['age'], where: [{ column: 'party', op: '=', value: 'dem' }] });
    expect(await lossBefore()).toBe(1);
    const terms = rows(open, open).replace('[17, 90]', '[17, 91], step: 2');
    expect(await amended(terms)).toMatch(broken);
    expect(await amended(twice(terms))).toBe('amended');
    expect(await lossBefore()).toBe(2);
    const session = await shop.session();
    await expect(session.release({ kind: 'count' }, { epsilon: '0.01' })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await session.close();
  });

  it('the amendment leaves costs of tables that did not use the column unchanged', async () => {
    await spentAll({ kind: 'histogram', column: 'media', where: ofThirty });
    expect(await amended(rows('', open))).toBe('amended');
    expect(await lossBefore()).toBe(1);
  });
});

describe('ties with a public column', () => {
  const rowsWith = (week: number) => `id,home,week,party\np0,h0,2,dem\np1,h1,1,rep\np2,h0,${week},rep\np3,h1,3,rep\n`;
  const policyOf = (isPublic: boolean) => `data: { source: people.csv }
population: town
ledger: ledger.db
protect: { secret: row, unit: id }
budget: { epsilon: 1 }
dependence: [{ kind: groups, by: home, oddsRatio: inf }]
columns:
  week: { type: integer, bounds: [0, 3]${isPublic ? ', public: true' : ''} }
  party: { type: category, values: [dem, rep] }
`;
  const count = {
    kind: 'count',
    where: [
      { column: 'week', op: '=', value: 2 },
      { column: 'party', op: '=', value: 'dem' },
    ],
  } as const;

  it('the noise discloses the steps of tied records, so they cannot become secret afterwards', async () => {
    const scales: unknown[] = [];
    for (const week of [2, 3]) {
      shop = openWorkshop(policyOf(true));
      shop.write('people.csv', rowsWith(week));
      const fugu = await open(shop.policyFile);
      const { receipt } = await fugu.release(count, { epsilon: 0.3 });
      scales.push(receipt.measures[0]!.noise);
      await fugu.close();
      shop.write('policy.yaml', policyOf(false));
      await expect(amendTerms(shop.policyFile, { reason: 'the council decided' })).rejects.toMatchObject({
        code: 'LEDGER_MISMATCH',
        message: expect.stringContaining('step in week'),
      });
      shop.remove();
    }
    expect(scales[0]).not.toEqual(scales[1]);
  });

  it('a refusal discloses them too: after an entered cost they cannot become secret', async () => {
    const refusals: unknown[] = [];
    for (const week of [2, 3]) {
      shop = openWorkshop(policyOf(true));
      shop.write('people.csv', rowsWith(week));
      const fugu = await open(shop.policyFile);
      await enterSpending(shop.policyFile, { epsilon: '0.3', by: 'the census', reason: 'their table' });
      const refused = await fugu.release(count, { epsilon: 0.6 }).catch((error) => error.code);
      refusals.push(typeof refused === 'string' ? refused : 'released');
      await fugu.close();
      shop.write('policy.yaml', policyOf(false));
      await expect(amendTerms(shop.policyFile, { reason: 'the council decided' })).rejects.toMatchObject({
        code: 'LEDGER_MISMATCH',
        message: expect.stringContaining('step in week'),
      });
      shop.remove();
    }
    expect(refusals).toHaveLength(2);
  });
});
