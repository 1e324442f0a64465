import { afterEach, describe, expect, it } from 'vitest';
import { type AnyKind, kinds } from '../src/app/api/kinds.js';
import { checkPolicy, open } from '../src/index.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** Persons of several rows under pairs: values move along pairs, the number of rows stays, and the rows used depend on nothing that moves. */
let shop: Workshop;
afterEach(() => shop?.remove());

const protect = (maxRows: number) =>
  `{ secret: person, unit: id, maxRows: ${maxRows}, pairs: { age: { within: 5, missing: apart }, same: [party] } }`;
type Row = readonly [who: string, party: string, age: number | ''];
const fileOf = (rows: readonly Row[]) =>
  `id,home,party,age,weight,media\n${rows.map(([who, party, age]) => `${who},h,${party},${age},1,tv`).join('\n')}\n`;
const rows: readonly Row[] = [
  ...Array.from({ length: 40 }, (_, i): Row => [`p${i % 20}`, i < 20 ? 'dem' : 'rep', 20 + i]),
  ['many', 'other', 40],
  ['many', 'other', 41],
  ['many', 'dem', 42],
];
const tableOf = async (file: readonly Row[], policy: string) => {
  shop = openWorkshop(policy);
  shop.write('people.csv', fileOf(file));
  await using fugu = await open(shop.policyFile);
  const { tables } = await fugu.release({ kind: 'histogram', column: 'party' }, { epsilon: 0.2 });
  shop.remove();
  return tables[0]!.rows.map(({ value }) => value);
};

describe('pairs of values in the rows of a person', () => {
  it('counts that no pair changes stay exact, and persons with too many rows are left out', async () => {
    expect(await tableOf(rows, policyYaml({ protect: protect(2) }))).toEqual([20, 20, 0, 0]);
    expect(await tableOf(rows, policyYaml({ protect: protect(3) }))).toEqual([21, 20, 2, 0]);
    expect(await tableOf(rows, policyYaml({ protect: protect(1) }))).toEqual([0, 0, 0, 0]);
  });

  it('the choice of rows discloses nothing about a pair: ages that change leave every exact table unchanged', async () => {
    const moved = rows.map(([who, party, age], i): Row => [who, party, Number(age) + (i % 6)]);
    for (const maxRows of [2, 3])
      expect(await tableOf(moved, policyYaml({ protect: protect(maxRows) }))).toEqual(
        await tableOf(rows, policyYaml({ protect: protect(maxRows) })),
      );
  });

  it('the noise covers as many steps as a person has rows, and a question per person counts in full', async () => {
    const widthOf = async (policy: string, question: object) => {
      shop = openWorkshop(policy);
      shop.write('people.csv', fileOf(rows));
      await using fugu = await open(shop.policyFile);
      const plan = await fugu.plan(question as { kind: 'sum'; column: 'age' }, { epsilon: 0.5 });
      shop.remove();
      return [plan.errors[0]!.halfWidth, plan.guarantee.sentences.join(' ')] as const;
    };
    const sum = { kind: 'sum', column: 'age' };
    const [near, words] = await widthOf(policyYaml({ protect: protect(2) }), sum);
    const [row] = await widthOf(
      policyYaml({ protect: '{ secret: row, pairs: { age: { within: 5, missing: apart }, same: [party] } }' }),
      sum,
    );
    const [plain] = await widthOf(policyYaml({ protect: '{ secret: person, unit: id, maxRows: 2 }' }), sum);
    expect(near / row).toBeCloseTo(2, 1);
    // 90 of a row that may be missing against 5.
    expect(plain / near).toBeCloseTo(18, 0);
    expect(words).toContain('the rows of one person replaced by as many others');
    const perPerson = { sql: 'SELECT AVG(age) FROM (SELECT id, SUM(age) AS age FROM people GROUP BY id) AS each' };
    const [seen] = await widthOf(policyYaml({ protect: protect(2) }), perPerson);
    expect(seen).toBe((await widthOf(policyYaml({ protect: '{ secret: person, unit: id, maxRows: 2 }' }), perPerson))[0]);
  });

  it('the promise states in words that the number of rows of a person may be learned', async () => {
    shop = openWorkshop(policyYaml({ protect: protect(2) }));
    const { explanation } = (await checkPolicy(shop.policyFile)) as unknown as { explanation: { text: string }[] };
    const text = explanation.map((line) => line.text).join('\n');
    expect(text).toContain('may learn: how many rows a person has');
    expect(text).toContain('whoever has more is left out');
  });

  it('an analysis does not need persons who are left out: it is answered, or refused before anything is reserved', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 50 }', protect: protect(1) }));
    shop.write('people.csv', fileOf([...rows, ...Array.from({ length: 30 }, (_, i): Row => [`q${i}`, 'rep', 20 + i])]));
    const session = await shop.session();
    const ask = async (name: 'synth' | 'network' | 'spread' | 'classify' | 'kmeans', question: object) => {
      const kind = (await kinds[name]()) as unknown as AnyKind;
      const before = (await session.entries()).length;
      const found = (await kind.release(session, question as never, { epsilon: '5' }).catch((error) => error)) as {
        code?: string;
        result?: { rows?: number };
      };
      return [found.code ?? 'told', (await session.entries()).length - before, found.result?.rows] as const;
    };
    const refused = ['QUERY_UNSUPPORTED', 0, undefined];
    for (const mode of ['aim', 'mst']) {
      const [summary, booked, drawn] = await ask('synth', { synth: { columns: ['party', 'age'], mode } });
      expect([summary, booked]).toEqual(['told', 1]);
      // Thirty of fifty-one persons have one row; noisy tables disclose how many there seem to be.
      expect(drawn).toBeLessThanOrEqual(51);
    }
    expect(await ask('synth', { synth: { columns: ['party', 'age'], mode: 'privbayes' } })).toEqual(refused);
    expect(await ask('network', { network: {} })).toEqual(refused);
    expect(await ask('spread', { spread: { least: 10 } })).toEqual(refused);
    const chosen = { label: 'party', positive: ['dem'], features: ['age'], select: { keep: 1, share: 0.2 } };
    expect(await ask('classify', { classify: chosen })).toEqual(refused);
    expect(await ask('kmeans', { kmeans: { columns: ['age'], clusters: 2 } })).toEqual(['told', 1, undefined]);
    await session.close();
  });
});
