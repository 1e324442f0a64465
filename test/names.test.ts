import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, describe, expect, it } from 'vitest';
import { releaseDegrees } from '../src/analysis/pattern/degrees/release.js';
import { releasePattern } from '../src/analysis/pattern/release.js';
import { toNumber } from '../src/base/exact/rational.js';
import type { PrivacySession } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** One person, one name: whatever a release rests on, and however the files spell it. */
let shop: Workshop;
afterEach(() => shop?.remove());

const friend = 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n';
const header = 'id,home,party,age,weight,media';
const quoted = (cell: string) => `"${cell}"`;

describe('a person whose name is spelt in two ways', () => {
  const [friends, oddsRatio] = [15, 4];
  /** The hub has one row under each spelling, and fifteen friends under each. */
  const scaleFor = async (other: string): Promise<number> => {
    shop = openWorkshop(
      policyYaml({
        protect: '{ secret: person, unit: id, maxRows: 1 }',
        dependence: `[{ kind: ties, relation: friend, oddsRatio: ${oddsRatio} }]`,
        extra: friend,
      }),
    );
    const people = ['x', other, ...Array.from({ length: 2 * friends }, (_, k) => `y${k}`)];
    shop.write('people.csv', `${header}\n${people.map((id) => `${quoted(id)},,dem,30,1,tv\n`).join('')}`);
    const ties = Array.from({ length: 2 * friends }, (_, k) => `${quoted(k < friends ? 'x' : other)},y${k}\n`);
    shop.write('friends.csv', `a,b\n${ties.join('')}`);
    const session = await shop.session();
    const plan = await session.plan({ kind: 'count', where: [{ column: 'party', op: '=', value: 'dem' }] }, { epsilon: '1' });
    await session.close();
    shop.remove();
    const { noise } = plan.measures[0]!;
    if (noise.kind !== 'laplace') throw new Error('not Laplace noise');
    return Number(noise.scale.split('/')[0]) / Number(noise.scale.split('/')[1] ?? 1);
  };

  /** Exact privacy loss of the hub: its friends agree with it by the declared odds ratio, independently of one another. */
  const lossAt = (scale: number): number => {
    const agree = Math.sqrt(oddsRatio) / (1 + Math.sqrt(oddsRatio));
    const n = 2 * friends;
    const probability = (p: number) => {
      let weights = [1];
      for (let k = 0; k < n; k++)
        weights = Array.from({ length: k + 2 }, (_, j) => (weights[j] ?? 0) * (1 - p) + (weights[j - 1] ?? 0) * p);
      return weights;
    };
    const [yes, no] = [probability(agree), probability(1 - agree)];
    const seen = (weights: readonly number[], own: number, o: number) =>
      weights.reduce((sum, w, j) => sum + w * Math.exp(-Math.abs(o - j - own) / scale), 0);
    let worst = 0;
    for (let o = -5; o <= n + 6; o++) worst = Math.max(worst, Math.abs(Math.log(seen(yes, 1, o) / seen(no, 0, o))));
    return worst;
  };

  it.each(['x\t', '\u00a0x', 'x\u200b'])(
    'the release keeps the promise (%j), which two persons of half the ties would break',
    async (other) => {
      const loss = lossAt(await scaleFor(other));
      expect(loss).toBeLessThanOrEqual(1);
      expect(loss).toBeGreaterThan(0.9);
    },
  );

  it('the privacy loss would be 1.83 times the promise if they were two persons', async () => {
    // The planted twin: another person, as the second spelling once was taken for one.
    expect(lossAt(await scaleFor('w'))).toBeCloseTo(1.83, 2);
  });
});

describe('releases over names in several spellings', () => {
  const people = 24;
  /** Some spellings of a number that names a person. */
  const spellings = [(n: number) => `${n}`, (n: number) => `${n}.0`, (n: number) => ` ${n}\t`, (n: number) => `+${n}`, (n: number) => `${n}\u00a0`]; // biome-ignore format: one line
  const plainly = (n: number) => `${n}`;
  let turn = 0;
  const oddly = (n: number) => spellings[turn++ % spellings.length]!(n);

  const write = (spell: (n: number) => string) => {
    turn = 0;
    const name = (n: number) => quoted(spell(n));
    const rows = Array.from({ length: 2 * people }, (_, r) => {
      const id = r % people;
      return `${name(id)},${name(Math.floor(id / 8))},${['dem', 'rep', 'other'][r % 3]},${20 + r},1,tv`;
    });
    shop.write('people.csv', `${header}\n${rows.join('\n')}\n`);
    // 0 knows everybody.
    shop.write('friends.csv', `a,b\n${Array.from({ length: people - 1 }, (_, k) => `${name(0)},${name(k + 1)}`).join('\n')}\n`);
    shop.write('weekly.json', JSON.stringify([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])); // biome-ignore format: one line
    const [zero, one, two, three] = [0, 1, 2, 3].map(spell);
    const records = [zero, one].map((id) => ({ id, values: [0, 1] }));
    shop.write('model.json', JSON.stringify({ records, factors: [{ records: [zero, one], oddsRatio: 5 }] }));
    shop.write('gauss.json', JSON.stringify({ records: [two, three], precision: [[2, -1], [-1, 2]], column: 'age', bounds: [17, 90] })); // biome-ignore format: one line
  };
  const person = '{ secret: person, unit: id, maxRows: 2 }';
  const kinds: readonly (readonly [kind: string, protect: string, dependence: string])[] = [
    ['groups', person, '[{ kind: groups, by: home, oddsRatio: 3 }]'],
    ['groups of rows', '{ secret: row }', '[{ kind: groups, by: [home, id], oddsRatio: 3 }]'],
    ['ties', person, '[{ kind: ties, relation: friend, oddsRatio: 2 }]'],
    ['maxTies', person, '[{ kind: ties, relation: friend, oddsRatio: 2, maxTies: 4 }]'],
    ['sequence', '{ secret: step }', '[{ kind: sequence, by: id, order: age, state: party, transition: weekly.json }]'],
    ['factors', person, '[{ kind: factors, model: model.json }]'],
    ['gaussian', '{ secret: person, unit: id, maxRows: 1 }', '[{ kind: gaussian, precision: gauss.json }]'],
  ];

  /** Basis of the noise, and the counts when there is hardly any noise. */
  const outcome = async (protect: string, dependence: string, spell: (n: number) => string) => {
    shop = openWorkshop(policyYaml({ protect, dependence, budget: '{ epsilon: 1000000 }', extra: friend }));
    write(spell);
    const session = await shop.session();
    const capacities = session.account.routes.map((r) => toNumber(r.pureCapacity));
    const { tables, receipt } = await session.release({ kind: 'histogram', column: 'party' }, { epsilon: '1000000' });
    await session.close();
    shop.remove();
    return { capacities, records: receipt.records, counts: tables[0]!.rows.map((row) => row.value) };
  };

  it.each(kinds)('releases with %s are the same for every spelling of names', async (_kind, protect, dependence) => {
    const plain = await outcome(protect, dependence, plainly);
    expect(await outcome(protect, dependence, oddly)).toEqual(plain);
    // The planted twin: zeros in front are no spelling, so every name occurs once.
    const separate = await outcome(protect, dependence, (n) => `${'0'.repeat(turn++)}${n}`).catch(() => undefined);
    expect(separate).not.toEqual(plain);
  });

  it('releases refuse a model that names one record twice, by two spellings', async () => {
    shop = openWorkshop(policyYaml({ protect: person, dependence: '[{ kind: factors, model: twice.json }]' }));
    write(plainly);
    const records = ['1', '1.0'].map((id) => ({ id, values: [0, 1] }));
    shop.write('twice.json', JSON.stringify({ records, factors: [{ records: ['1', '1.0'], oddsRatio: 5 }] }));
    await expect(shop.session()).rejects.toThrow(/names a record twice/);
  });
});

describe('a relation whose columns are stored in different types', () => {
  const open = async (tuples: string): Promise<PrivacySession & { close(): Promise<void> }> => {
    shop = openWorkshop();
    const path = `${shop.folder}/people.duckdb`;
    const instance = await DuckDBInstance.create(path);
    const connection = await instance.connect();
    for (const sql of [
      'CREATE TABLE people AS SELECT 1 AS id, 30 AS age',
      'CREATE TABLE calls (a INTEGER, b VARCHAR, w DOUBLE)',
      `INSERT INTO calls VALUES ${tuples}`,
      'CREATE TABLE ties AS SELECT * FROM calls',
      'CREATE TABLE weights AS SELECT * FROM calls',
    ])
      await connection.run(sql);
    connection.closeSync();
    instance.closeSync();
    return shop.session(
      shop.write(
        'calls.yaml',
        `data: { source: people.duckdb, table: people }
population: calls
ledger: ledger.db
protect: { secret: edge }
budget: { epsilon: 1000000 }
columns: { age: { type: integer, bounds: [0, 99] } }
relations:
  call: { table: calls, columns: [a, b], domain: 9 }
  tie: { table: ties, columns: [a, b], domain: 9, symmetric: true }
  weighed: { table: weights, columns: [b, w], domain: 9 }
dependence: none
`,
      ),
    );
  };
  const ask = async (session: PrivacySession, text: string) =>
    Number((await releasePattern(session, text, { epsilon: '1000', mechanism: 'laplace' })).result.value);

  it.each(["(1, '2', 2), (2, '3', 1.0)", "(1, '2', 2), (2, '3', 1.0), (3, 'no number', 'nan')"])(
    'the relation is counted with any tuples: %s',
    async (tuples) => {
      const session = await open(tuples);
      expect(await ask(session, 'q(x, y, z) :- call(x, y), call(y, z)')).toBe(tuples.includes('no') ? 2 : 1);
      expect(await ask(session, 'q(x, y) :- call(x, y), x != y')).toBe(tuples.includes('no') ? 3 : 2);
      // A double joins an integer and a text.
      expect(await ask(session, 'q(x, y, z) :- call(x, y), weighed(y, x), call(y, z)')).toBe(0);
      expect(await ask(session, 'q(x, y) :- weighed(x, y), call(y, x)')).toBe(0);
      expect(await ask(session, "q(y) :- call(' 1.0', y)")).toBe(1);
      expect(await ask(session, '2-paths of tie')).toBe(tuples.includes('no') ? 2 : 1);
      const { result } = await releaseDegrees(session, { relation: 'tie', degree: 4, epsilon: '1000' });
      expect(result.counts).toEqual(tuples.includes('no') ? [5, 2, 2, 0, 0] : [6, 2, 1, 0, 0]);
      await session.close();
    },
  );
});
