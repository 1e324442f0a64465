import { afterEach, describe, expect, it } from 'vitest';
import { releasePattern } from '../src/analysis/pattern/release.js';
import { one } from '../src/base/exact/rational.js';
import type { Engine, Snapshot } from '../src/data/engine/engine.js';
import { Payment } from '../src/privacy/mechanism/payment.js';
import { nothingSpent } from '../src/privacy/mechanism/privacy-cost.js';
import { cryptoBits } from '../src/privacy/noise/bits.js';
import { bindBatch } from '../src/query/bind.js';
import { noisyCells } from '../src/query/count/noisy-cells.js';
import { parseBatch } from '../src/query/parse.js';
import { chooseNoise } from '../src/release/accountant/choose.js';
import { drawNoise } from '../src/release/session/batch.js';
import { PrivacySession, releaseContextOf } from '../src/release/session/session.js';
import { forgetful, remembering } from './statistical/again.js';
import { deltaAt } from './statistical/delta.js';
import { auditOutputs, type Output } from './statistical/statistical.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/**
 * The auditor on whole releases, each with the whole budget, for every secret and kind of tie. A ledger that forgets and an engine that remembers let one
 * session answer thousands of times; policy, ties, calibration, noise and post-processing are the product's own.
 */
let shops: Workshop[] = [];
afterEach(() => {
  for (const shop of shops) shop.remove();
  shops = [];
});

/** Made once per data set, then used for one release after another. */
type Ask = (session: PrivacySession) => () => Promise<readonly number[]>;

/** Binding and choosing the noise see no data, so they are done once; counting and noise are repeated. */
const batch =
  (queries: unknown, read: (noisy: readonly (readonly number[])[]) => readonly number[], mechanism = 'laplace'): Ask =>
  (session) => {
    const { policy, account, engine } = releaseContextOf(session);
    const { rows } = engine as Engine & { readonly rows: Snapshot };
    const bound = bindBatch(parseBatch(queries), policy);
    const [best] = chooseNoise(bound.measures, account, one, nothingSpent);
    expect(best).toMatchObject({ kind: mechanism, fits: true });
    return async () => {
      const drawn = drawNoise(best!.mechanisms, new Payment(best!.mechanisms));
      const { measures } = await noisyCells(rows, policy, bound.measures, drawn);
      return read(measures.map(({ values }) => values!.map(Number)));
    };
  };
/** An endless supply of releases about one data set. */
async function released(yaml: string, csv: string, ask: Ask, files: Record<string, string> = {}): Promise<() => Promise<Output>> {
  const shop = openWorkshop(yaml);
  shops.push(shop);
  shop.write('people.csv', csv);
  for (const [name, text] of Object.entries(files)) shop.write(name, text);
  const opened = await shop.session();
  const session = new PrivacySession({
    ...releaseContextOf(opened),
    engine: await remembering(releaseContextOf(opened).engine),
    ledger: forgetful,
  });
  return ask(session);
}
/** Difference of the first two cells: the best statistic for a person who moves from one to the other. */
const lead = { name: 'lead', of: (o: readonly number[]) => o[0]! - (o[1] ?? 0) };
const draw = async (world: () => Promise<Output>, samples: number): Promise<Output[]> => {
  const seen: Output[] = [];
  for (let k = 0; k < samples; k++) seen.push(await world());
  return seen;
};
const audit = async (worlds: readonly (() => Promise<Output>)[], samples: number): Promise<number> =>
  auditOutputs(await draw(worlds[0]!, samples), await draw(worlds[1]!, samples), { features: [lead] }).epsilon;

/** The attacker's world: the others' answers are drawn from the model, given the first person's answer. */
const mixture =
  (worlds: readonly (() => Promise<Output>)[], probabilities: readonly number[]): (() => Promise<Output>) =>
  () => {
    let left = cryptoBits.below(2 ** 48) / 2 ** 48;
    const k = probabilities.findIndex((p) => {
      left -= p;
      return left < 0;
    });
    return worlds[k < 0 ? worlds.length - 1 : k]!();
  };

const samples = 8000;
const csvOf = (rows: readonly { id?: string; home?: string; party: string; age?: number }[]): string =>
  `id,home,party,age,weight,media\n${rows.map(({ id, home, party, age }, i) => `${id ?? `p${i}`},${home ?? `h${i}`},${party},${age ?? 30},1,tv`).join('\n')}\n`;
const others = Array.from({ length: 12 }, (_, i) => ({ id: `q${i}`, home: `g${i}`, party: ['dem', 'rep', 'other'][i % 3]! }));
const valuesOf = (noisy: readonly (readonly number[])[]) => noisy.flat();
const parties = batch({ kind: 'histogram', column: 'party' }, valuesOf);

describe('the statistical auditor, by secret', () => {
  const person = (party: string) => csvOf([...Array.from({ length: 5 }, () => ({ id: 'ann', party })), ...others]);

  it('the auditor finds no more than epsilon, and a good part of it, about a person with more rows than count', async () => {
    const policy = policyYaml({ protect: '{ secret: person, unit: id, maxRows: 3 }' });
    const found = await audit(await Promise.all(['dem', 'rep'].map((p) => released(policy, person(p), parties))), samples);
    expect(found).toBeLessThanOrEqual(1);
    expect(found).toBeGreaterThan(0.2);
  });

  it('the auditor detects a person who was taken for a row', async () => {
    const found = await audit(await Promise.all(['dem', 'rep'].map((p) => released(policyYaml(), person(p), parties))), samples);
    expect(found).toBeGreaterThan(1.3);
  });

  it('the auditor finds no more than epsilon, and a good part of it, about one answer', async () => {
    const policy = policyYaml({ protect: '{ secret: answer }' });
    const worlds = ['dem', 'rep'].map((party) => released(policy, csvOf([{ party }, ...others]), parties));
    const found = await audit(await Promise.all(worlds), samples);
    expect(found).toBeLessThanOrEqual(1);
    expect(found).toBeGreaterThan(0.2);
  });
});

/** Homes of three in which every two members agree with odds ratio 9 given the third: an Ising model with weight 3 for each agreement. */
const threeOf = (dems: number) => csvOf([...[0, 1, 2].map((k) => ({ home: 'h', party: k < dems ? 'dem' : 'rep' })), ...others]);
const given = (first: 0 | 1): number[] => {
  // Number of the other two who answer dem.
  const weight = [0, 1, 2].map((k) => {
    const votes = [first, ...[0, 1].map((i) => (i < k ? 1 : 0))];
    let agreements = 0;
    for (let i = 0; i < 3; i++) for (let j = 0; j < i; j++) if (votes[i] === votes[j]) agreements++;
    return (k === 1 ? 2 : 1) * 3 ** agreements;
  });
  const total = weight.reduce((a, b) => a + b, 0);
  return weight.map((w) => w / total);
};
async function homeWorlds(dependence: string, budget: string, ask: Ask): Promise<(() => Promise<Output>)[]> {
  const policy = policyYaml({ dependence, budget });
  const by = await Promise.all([0, 1, 2, 3].map((dems) => released(policy, threeOf(dems), ask)));
  return [mixture(by.slice(1), given(1)), mixture(by.slice(0, 3), given(0))];
}
const dems = batch({ kind: 'count', where: [{ column: 'party', op: '=', value: 'dem' }] }, valuesOf);

describe('the statistical auditor, by tie', () => {
  it('the auditor finds no more than epsilon about a member of a home that follows its declared odds ratio, and much of it', async () => {
    const worlds = await homeWorlds('[{ kind: groups, by: home, oddsRatio: 9 }]', '{ epsilon: 1 }', dems);
    const found = await audit(worlds, samples);
    expect(found).toBeLessThanOrEqual(1);
    expect(found).toBeGreaterThan(0.2);
  });

  it('the auditor detects the same home undeclared', async () => {
    expect(await audit(await homeWorlds('none', '{ epsilon: 1 }', dems), samples)).toBeGreaterThan(1.1);
  });

  it('the auditor finds no more than epsilon about somebody with many friends of whom maxTies uses few', async () => {
    const friends = 24;
    const policy = policyYaml({
      dependence: '[{ kind: ties, relation: friend, oddsRatio: 4, maxTies: 2 }]',
      extra: 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n',
    });
    const files = { 'friends.csv': `a,b\n${Array.from({ length: friends }, (_, k) => `p0,p${k + 1}`).join('\n')}\n` };
    // Everyone answers like the hub, as far as a release that uses few of them can show: the strongest possible tie.
    const worlds = ['dem', 'rep'].map((own) =>
      [0, 1].map((all) =>
        released(
          policy,
          csvOf(Array.from({ length: friends + 1 }, (_, k) => ({ party: k === 0 ? own : all ? 'dem' : 'rep' }))),
          parties,
          files,
        ),
      ),
    );
    const [a, b] = await Promise.all(worlds.map((list) => Promise.all(list)));
    // With an odds ratio of 4 a friend agrees two times in three; agreement of all used ones is more than the model allows.
    const found = await audit([mixture(a!, [1 / 3, 2 / 3]), mixture(b!, [2 / 3, 1 / 3])], samples);
    expect(found).toBeLessThanOrEqual(1);
    expect(found).toBeGreaterThan(0.01);
  });
});

describe('the statistical auditor under delta', () => {
  const [epsilon, delta] = [0.5, 0.02];
  const deltaOf = async (worlds: readonly (() => Promise<Output>)[], size: number): Promise<number> => {
    const [a, b] = (await Promise.all(worlds.map((world) => draw(world, size)))).map((list) =>
      list.map((o) => (o as number[])[0]!),
    );
    return deltaAt(epsilon, a!, b!);
  };
  /** So many questions that Gaussian noise is chosen; one of them is the count of dem. */
  const survey = batch(
    [
      { kind: 'histogram', column: 'party' },
      ...Array.from({ length: 11 }, (_, k) => ({
        kind: 'histogram',
        column: 'party',
        where: [{ column: 'age', op: '<=', value: 31 + k }],
      })),
    ],
    // All twelve tables hold the same counts, so an attacker would use the mean.
    (noisy) => [noisy.reduce((sum, counts) => sum + counts[0]! - counts[1]!, 0) / noisy.length],
    'gaussian',
  );

  it('the auditor finds no more than (epsilon, delta) about a home of three with Gaussian noise', async () => {
    const worlds = await homeWorlds(
      '[{ kind: groups, by: home, oddsRatio: 9 }]',
      `{ epsilon: ${epsilon}, delta: ${delta} }`,
      survey,
    );
    expect(await deltaOf(worlds, samples / 2)).toBeLessThanOrEqual(delta);
  });

  it('the auditor detects an undeclared home of copies, and not a declared one', async () => {
    const copies = async (dependence: string) =>
      deltaOf(
        await Promise.all(
          [3, 0].map((n) =>
            released(policyYaml({ dependence, budget: `{ epsilon: ${epsilon}, delta: ${delta} }` }), threeOf(n), survey),
          ),
        ),
        samples / 2,
      );
    expect(await copies('none')).toBeGreaterThan(delta);
    expect(await copies('[{ kind: groups, by: home }]')).toBeLessThanOrEqual(delta);
  });
});

describe('the statistical auditor on relations', () => {
  it('the auditor finds no more than epsilon about one tie in a triangle count, and a part of it', async () => {
    const policy = policyYaml({
      protect: '{ secret: edge }',
      budget: '{ epsilon: 3 }',
      extra: 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 9, symmetric: true }\n',
    });
    // Five people who all know each other, with and without one tie.
    const ties = ['a,b', 'a,c', 'a,d', 'a,e', 'b,c', 'b,d', 'b,e', 'c,d', 'c,e', 'd,e'];
    const ask: Ask = (session) => async () => [
      Number((await releasePattern(session, 'triangles', { epsilon: '3' })).result.value),
    ];
    const worlds = [ties, ties.slice(1)].map((list) =>
      released(policy, csvOf(others), ask, { 'friends.csv': `a,b\n${list.join('\n')}\n` }),
    );
    const found = await audit(await Promise.all(worlds), samples / 5);
    expect(found).toBeLessThanOrEqual(3);
    expect(found).toBeGreaterThan(0.3);
  });
});
