import { afterEach, describe, expect, it } from 'vitest';
import { releaseKmeans } from '../src/analysis/learn/kmeans/kmeans.js';
import { releaseDegrees } from '../src/analysis/pattern/degrees/release.js';
import { releasePattern } from '../src/analysis/pattern/release.js';
import { rational } from '../src/base/exact/rational.js';
import { fromPairs } from '../src/privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../src/privacy/dependence/graph-amplifier.js';
import { nothingSpent, pureCost, spend } from '../src/privacy/mechanism/privacy-cost.js';
import { answersTo, everyRecord } from '../src/privacy/mechanism/record-class.js';
import type { ClassScope } from '../src/privacy/mechanism/sensitivity.js';
import { bindBatch } from '../src/query/bind.js';
import { chooseNoise } from '../src/release/accountant/choose.js';
import { guaranteeFor } from '../src/release/accountant/guarantee.js';
import { openAccount } from '../src/release/accountant/open-account.js';
import { releaseContextOf } from '../src/release/session/session.js';
import { amendTo } from './amended.js';
import { type PrivacySession, readPolicy } from './inside.js';
import { category, samplePolicy } from './sample-policy.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** Attempts to exceed the promise by other wordings, other declarations, or repeated requests. */
let shop: Workshop;
afterEach(() => shop?.remove());

const digest = async (yaml: string): Promise<string> => {
  shop = openWorkshop(yaml);
  const { digest } = await readPolicy(shop.policyFile);
  shop.remove();
  return digest;
};

describe('the terms of an account', () => {
  const answers = (more: string) =>
    policyYaml({ protect: '{ secret: answer }' }).replace('values: [dem, rep, other]', `values: [dem, rep, other]${more}`);

  it('the terms change when an answer is declared public, which releases it without noise', async () => {
    expect(await digest(answers(', public: true'))).not.toBe(await digest(answers('')));
    expect(await digest(answers(', public: false'))).toBe(await digest(answers('')));
  });

  it('the terms change when a relation is declared public under a secret that its tuples belong to', async () => {
    const relation = (more: string, protect = '{ secret: person, unit: id, maxRows: 1 }') =>
      policyYaml({
        protect,
        extra: `relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100${more} }\n`,
      });
    expect(await digest(relation(', private: false'))).not.toBe(await digest(relation('')));
    expect(await digest(relation(', private: false', '{ secret: row }'))).toBe(await digest(relation('', '{ secret: row }')));
  });

  it('the terms change when a belief with a delta becomes its epsilon, which promises less, and not without a delta', async () => {
    // The belief's own epsilon, written out as the policy rounds it.
    const belief = (delta: string) => policyYaml({ budget: `{ belief: { prior: 0.2, posterior: 0.5 }${delta} }` });
    shop = openWorkshop(belief(''));
    const { budget } = await readPolicy(shop.policyFile);
    shop.remove();
    const plain = (delta: string) => policyYaml({ budget: `{ epsilon: ${budget.epsilon.num}/${budget.epsilon.den}${delta} }` });
    expect(await digest(plain(''))).toBe(await digest(belief('')));
    expect(await digest(plain(', delta: 1e-6'))).not.toBe(await digest(belief(', delta: 1e-6')));
  });
});

describe('the promise of a plan', () => {
  // Rows as wholes under one assumption, answers one by one under another: two proofs for one account.
  const route = (name: string, scope: ClassScope, logOdds: number) =>
    graphAmplifier({
      name,
      graph: fromPairs(2, Uint32Array.of(0), Uint32Array.of(1), logOdds),
      scope,
      adversary: 'informed',
      reach: 'any',
      assumptions: [`what ${name} need`],
      method: name,
    });
  const policy = samplePolicy([category('party', ['dem', 'rep']), category('vote', ['yes', 'no'])], { secret: 'answer' });
  const account = openAccount(policy, [
    route('rows', (c) => c === everyRecord, 0),
    route('answers', (c) => c !== everyRecord, 0.1),
  ]);
  const histogram = (column: string) => bindBatch({ queries: [{ kind: 'histogram', column }] }, policy).measures;

  it('the plan fits only by the route whose promise it prints', () => {
    // Each answer has spent little, the row as a whole nearly everything.
    const spent = spend(
      nothingSpent,
      pureCost([[everyRecord, rational(9, 10)], [answersTo('party'), rational(9, 20)], [answersTo('vote'), rational(9, 20)]]), // biome-ignore format: one line
    );
    const plans = chooseNoise(histogram('party'), account, rational(1, 5), spent);
    expect(plans.map((p) => [p.route.amplifier.name, p.fits])).toEqual([['answers', true]]);
    // Counted by rows, 0.9 is used, not 0.45: a larger share may pay for that, and gets the remaining budget.
    const more = chooseNoise(histogram('party'), account, rational(1, 2), spent);
    expect(more.map((p) => [p.route.amplifier.name, p.fits])).toEqual([
      ['answers', true],
      ['rows', true],
    ]);
  });

  it('the plan prints the assumptions of every proof the account needs, its own first', () => {
    const [best] = chooseNoise(histogram('party'), account, rational(1, 5), nothingSpent);
    const { assumptions } = guaranteeFor(policy, account)(best!.route);
    expect(assumptions[0]).toBe(`what ${best!.route.amplifier.name} need`);
    expect([...assumptions].sort()).toEqual(['what answers need', 'what rows need']);
  });
});

describe('an amendment of the privacy unit', () => {
  it('the amendment may not change whose secret the spent costs are about', async () => {
    shop = openWorkshop();
    const session = await shop.session();
    const { ledger } = releaseContextOf(session);
    const amend = async (protect: string) =>
      amendTo(ledger, await readPolicy(shop.write('other.yaml', policyYaml({ protect }))), 'because');
    await session.release({ kind: 'count' }, { epsilon: '0.5' });
    for (const protect of ['{ secret: answer }', '{ secret: person, unit: id, maxRows: 2 }'])
      await expect(amend(protect)).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
    expect(await amend('{ secret: row, unit: id, adversary: uninformed }')).toMatchObject({
      before: 'epsilon 1, secret row, adversary informed; unit id; dependence none',
      after: 'epsilon 1, secret row, adversary uninformed; unit id; dependence none',
    });
    await session.close();
  });

  it('the amendment may not turn a person into another, nor into rows: a row that names somebody else changes two persons', async () => {
    shop = openWorkshop(policyYaml({ protect: '{ secret: person, unit: id, maxRows: 2 }' }));
    const session = await shop.session();
    const { ledger } = releaseContextOf(session);
    await session.release({ kind: 'count' }, { epsilon: '0.5' });
    const other = async (protect: string) => readPolicy(shop.write('other.yaml', policyYaml({ protect })));
    for (const protect of ['{ secret: person, unit: home, maxRows: 2 }', '{ secret: row }'])
      await expect(amendTo(ledger, await other(protect), 'x')).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
    await session.close();
  });
});

describe('an answer recorded under other domains', () => {
  it('the answer is not returned for the same words about other domains', async () => {
    const yaml = policyYaml();
    shop = openWorkshop(yaml);
    const ask = async (file: string) => {
      const session = await shop.session(file);
      const { tables, receipt } = await session.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.2' });
      const clusters = await releaseKmeans(session, { columns: ['age'], clusters: 2 }, { epsilon: '0.2' });
      await session.close();
      return { keys: tables[0]!.rows.map((r) => r.keys[0]), replayed: [receipt, clusters.receipt].map((r) => r.ledger.replayed) };
    };
    const swapped = shop.write(
      'swapped.yaml',
      yaml.replace('[dem, rep, other]', '[rep, dem, other]').replace('[17, 90]', '[17, 190]'),
    );
    expect((await ask(shop.policyFile)).replayed).toEqual([false, false]);
    expect((await ask(shop.policyFile)).replayed).toEqual([true, true]);
    expect(await ask(swapped)).toEqual({ keys: ['rep', 'dem', 'other', '(missing)'], replayed: [false, false] });
  });
});

describe('records left out by maxTies', () => {
  it.each([
    ['patterns', (session: PrivacySession, epsilon: string) => releasePattern(session, 'triangles of call', { epsilon })],
    ['degrees', (session: PrivacySession, epsilon: string) => releaseDegrees(session, { relation: 'call', degree: 5, epsilon })],
  ])('records left out by maxTies pay for %s of a relation, which does not leave them out', async (_, ask) => {
    shop = openWorkshop(
      policyYaml({
        protect: '{ secret: person, unit: id, maxRows: 1 }',
        dependence: '[{ kind: ties, relation: friend, oddsRatio: 2, maxTies: 2 }]',
        extra:
          'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true, private: false }\n  call: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n',
      }),
      60,
    );
    // p0 knows everybody: most of them are left out.
    shop.write('friends.csv', `a,b\n${Array.from({ length: 59 }, (_, k) => `p0,p${k + 1}`).join('\n')}\n`);
    const session = await shop.session();
    await session.release({ kind: 'count' }, { epsilon: '0.1' });
    const [some, everyone] = session.account.routes;
    const mark = some!.conditions[0]!.mark;
    const costs = async () => (await session.spent()).pure.perRecord;
    expect((await costs()).get(mark)).toEqual((await costs()).get(everyRecord));
    // By the bound for everybody the count takes more of the budget; a smaller request is refused with that reason.
    await expect(ask(session, '0.1')).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringContaining('Earlier releases count for more beside this question'),
    });
    const { receipt } = await ask(session, '0.8');
    expect(receipt.profile.perRecord[mark]).toBeUndefined();
    expect((await costs()).get(mark)).not.toEqual((await costs()).get(everyRecord));
    // From now on only the bound for everybody speaks about the account.
    const plan = await session.plan({ kind: 'histogram', column: 'party' }, { epsilon: '0.1' });
    expect(plan.records).toEqual({ used: some!.amplifier.leftOut!.used, leftOut: some!.amplifier.leftOut!.unused });
    expect(plan.route).toBe(everyone!.amplifier.method);
    await session.close();
  });
});

describe('costs reserved for an answer', () => {
  const policy = (columns: readonly string[], model: string) => `data: { source: people.csv }
protect: { secret: answer, adversary: uninformed }
budget: { epsilon: 1 }
population: town
ledger: ledger.db
dependence: [{ kind: factors, model: ${model} }]
columns:
${columns.map((c) => (c === 'party' ? '  party: { type: category, values: [dem, rep, other] }' : '  media: { type: category, values: [tv, web] }')).join('\n')}
`;
  const model = (ids: readonly string[]) =>
    JSON.stringify({
      records: ids.map((id) => ({ id, values: [0, 1] })),
      factors: ids.length > 1 ? [{ records: ids, oddsRatio: 1 }] : [],
    });

  it('the costs are kept when the answer is no longer declared', async () => {
    shop = openWorkshop(policy(['party', 'media'], 'two.json'));
    shop.write('two.json', model(['party', 'media']));
    shop.write('one.json', model(['media']));
    const both = await shop.session();
    await both.release({ kind: 'histogram', column: 'media' }, { epsilon: '0.001' });
    await both.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.99' });
    await both.close();
    const file = shop.write('less.yaml', policy(['media'], 'one.json'));
    const less = await shop.session(file);
    await amendTo(releaseContextOf(less).ledger, less.policy, 'party is asked no more');
    await expect(less.release({ kind: 'histogram', column: 'media' }, { epsilon: '0.9' })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
    expect(await less.privacyLoss()).toBeGreaterThan(0.9);
    await less.close();
  });
});
