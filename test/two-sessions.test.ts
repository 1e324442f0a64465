import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rational, toNumber } from '../src/base/exact/rational.js';
import type { Snapshot } from '../src/data/engine/engine.js';
import { releaseContextOf } from '../src/release/session/session.js';
import { costing } from './costing.js';
import type { Engine, Ledger, PrivacySession } from './inside.js';
import { createSession, openEngine, openLedger, readPolicy } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** Several sessions on one engine, each under its own policy: records left out by one do not affect another. */
const people = 60;
const hub = (known = people) => `a,b\n${Array.from({ length: known - 1 }, (_, k) => `p0,p${k + 1}`).join('\n')}\n`;
const rows = (more = '') =>
  `id,home,party,age,weight,media\n${Array.from({ length: people }, (_, i) => `p${i},h${i % 20},dem,30,1,tv\n`).join('')},h0,dem,30,1,tv\n${more}`;
const relation = 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n';

let shop: Workshop;
let engine: Engine;
let ledger: Ledger;
beforeEach(async () => {
  shop = openWorkshop(policyYaml({ extra: relation }));
  shop.write('people.csv', rows());
  shop.write('friends.csv', hub());
  engine = await openEngine(await readPolicy(shop.policyFile));
  ledger = await openLedger((await readPolicy(shop.policyFile)).ledger);
});
afterEach(async () => {
  await ledger.close();
  await engine.close();
  shop.remove();
});

let policies = 0;
async function open(
  dependence: string,
  { on = engine, ...more }: { on?: Engine; protect?: string; extra?: string } = {},
): Promise<PrivacySession> {
  const yaml = policyYaml({ dependence, budget: '{ epsilon: 1000000 }', extra: relation, ...more });
  const file = shop.write(`other-${++policies}.yaml`, yaml.replace('population: town', `population: town${policies}`));
  return createSession({ policy: await readPolicy(file), engine: on, ledger });
}
const maxTies = (most: number) => `[{ kind: ties, relation: friend, oddsRatio: 2, maxTies: ${most} }]`;
/** Hardly any noise: the counts are those of the session's rows. */
let count = 0;
const counted = async (session: PrivacySession): Promise<number> =>
  (
    await session.release(
      { kind: 'count', where: [{ column: 'age', op: '<=', value: 31 + (count++ % 50) }] },
      { epsilon: '10000' },
    )
  ).tables[0]!.rows[0]!.value!;
/** Promised number of records: the named records the session keeps, and the row without a name. */
const promised = async (session: PrivacySession): Promise<number> =>
  (await session.plan({ kind: 'count' })).records?.used ?? people + 1;

describe('sessions on one engine', () => {
  it('each session counts exactly the rows it promises, in any order of opening and querying', async () => {
    const two = await open(maxTies(2));
    const none = await open('none');
    const six = await open(maxTies(6));
    const homes = await open('[{ kind: groups, by: home }]');
    const again = await open(maxTies(2), { on: releaseContextOf(six).engine });
    const all = [two, none, six, homes, again];
    const uses = await Promise.all(all.map(promised));
    expect(uses[1]).toBe(people + 1);
    expect(uses[0]).toBeLessThan(uses[2]!);
    expect(uses[2]).toBeLessThan(people);
    expect(uses[4]).toBe(uses[0]);
    for (const order of [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [1, 1, 0, 0, 2]]) // biome-ignore format: one line
      for (const k of order) expect(await counted(all[k]!)).toBe(uses[k]);
    expect(await Promise.all(all.map(counted))).toEqual(uses);
    // The planted twin: what a session counts when another's rows are taken for the whole.
    const blind = { whole: releaseContextOf(six).engine } as Engine;
    expect(await counted(await open('none', { on: blind }))).not.toBe(people + 1);
  });

  it('each session keeps its own rules after the data changed', async () => {
    const two = await open(maxTies(2));
    const none = await open('none');
    const before = [await counted(two), await counted(none)];
    shop.write('people.csv', rows(`p${people},h9,dem,30,1,tv\n`));
    expect(await counted(none)).toBe(before[1]! + 1);
    await expect(counted(two)).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    const later = await open(maxTies(2));
    expect(await counted(later)).toBe(await promised(later));
    expect(await counted(none)).toBe(people + 2);
  });

  it('each session answers about the data whose ties it has seen, though another read newer data in the middle', async () => {
    const tied = await open('[{ kind: ties, relation: friend, oddsRatio: 2 }]');
    const other = await open('none');
    const request = {
      canonical: 'rows',
      label: 'rows',
      mechanisms: [costing(rational(1))],
      reading: {},
      execute: async (mine: Snapshot) => {
        shop.write('people.csv', rows('p99,h9,dem,30,1,tv\n'));
        shop.write('friends.csv', `${hub()}p0,p99\n`);
        expect(await counted(other)).toBe(people + 2);
        const ties = await mine.rows({ sql: 'SELECT count(*) FROM fugu_relation_friend', values: [] });
        return [(await mine.size()).open(), Number(ties.open()[0]![0])];
      },
    };
    expect((await tied.charge(request)).answer).toEqual([people + 1, 2 * (people - 1)]);
    // Newer ties need another plan.
    await expect(tied.charge({ ...request, canonical: 'again' })).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    expect(await counted(await open('none'))).toBe(people + 2);
  });
});

describe('an engine opened for another policy', () => {
  it('the engine is refused if it lacks data that this policy reads, and used otherwise', async () => {
    const declared = `  home: { type: category, values: [h1, h2] }\n${relation}`;
    const forgetful = await openEngine(await readPolicy(shop.write('coded.yaml', policyYaml({ extra: declared }))));
    const groups = '[{ kind: groups, by: home }]';
    const capacity = async (on: Engine) => toNumber((await open(groups, { on })).account.routes[0]!.pureCapacity);
    // Homes of three: four with the row without a name.
    expect(await capacity(engine)).toBeCloseTo(1_000_000 / 4, 3);
    await expect(capacity(forgetful)).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    await expect(
      open('none', { on: forgetful, extra: `  home: { type: category, values: [h1, h2, h3] }\n${relation}` }),
    ).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    // Of a number only the number is left: as a name or a code it must be read again.
    await expect(open('[{ kind: groups, by: age }]', { on: engine })).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    expect(await counted(await open('none', { on: forgetful }))).toBe(people + 1);
    expect(await counted(await open('none', { on: forgetful, extra: declared }))).toBe(people + 1);
    await forgetful.close();
  });

  it.each(['', ', symmetric: false'])('the engine is refused if its relation has other tuples (%s)', async (symmetric) => {
    const other = relation.replace(', symmetric: true', symmetric);
    await expect(open('none', { extra: other })).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    await expect(open('none', { extra: relation.replace('[a, b]', '[b, a]') })).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    await expect(open('none', { extra: relation.replace('friend:', 'kin:') })).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
  });
});
