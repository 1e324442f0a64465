import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toNumber } from '../src/base/exact/rational.js';
import { push } from '../src/privacy/dependence/graph/push.js';
import { answersTo, everyRecord, type RecordClass } from '../src/privacy/mechanism/record-class.js';
import { Fault } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** Every kind of dependence, from the text of a policy and files to the budget of one record. */
let shop: Workshop;
beforeEach(() => {
  shop = openWorkshop(policyYaml(), 12);
  shop.write('friends.csv', 'a,b\np0,p1\n');
});
afterEach(() => shop.remove());

const friends = 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n';
const kin = '  kin: { table: kin.csv, columns: [x, y], domain: 100 }\n';
interface PolicyParts {
  readonly protect?: string;
  readonly extra?: string;
  /** Instead of the columns of the workshop. */
  readonly columns?: string;
}
let policies = 0;
const open = (dependence: string, { protect, extra = friends, columns }: PolicyParts = {}) => {
  const whole = policyYaml({ dependence, extra, ...(protect && { protect }) });
  const yaml = (columns === undefined ? whole : whole.replace(/columns:\n( .*\n)*/, `columns:\n${columns}`)).replace(
    'population: town',
    `population: t${++policies}`,
  );
  return shop.session(shop.write(`policy${policies}.yaml`, yaml));
};
/** The base cost one record may spend at epsilon 1, by the best route. */
async function base(dependence: string, parts: PolicyParts = {}, record: RecordClass = everyRecord): Promise<number> {
  const session = await open(dependence, parts);
  const best = Math.max(...session.account.routes.filter((r) => r.amplifier.scope(record)).map((r) => toNumber(r.pureCapacity)));
  await session.close();
  return best;
}
const fault = async (dependence: string, parts: PolicyParts = {}): Promise<Fault> => {
  const error = await open(dependence, parts).then(
    (session) => session.close().then(() => new Error('nothing was refused')),
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(Fault);
  expect((error as Fault).hint.length).toBeGreaterThan(10);
  return error as Fault;
};
const persons = { protect: '{ secret: person, unit: id, maxRows: 5 }' };
const twoValued = (...names: readonly string[]) =>
  names.map((name) => `  ${name}: { type: category, values: [0, 1] }\n`).join('');
const answers = { protect: '{ secret: answer }', columns: twoValued('party', 'age', 'weight', 'media') };

describe('ties of kind: groups', () => {
  it('groups share the budget among copies, less among similar people, least through a hidden type', async () => {
    expect(await base('[{ kind: groups, by: home }]')).toBeCloseTo(1 / 3, 9);
    expect(await base('[{ kind: groups, by: home, oddsRatio: 1 }]')).toBeCloseTo(1, 9);
    const alike = await base('[{ kind: groups, by: home, oddsRatio: 9 }]');
    const hidden = await base('[{ kind: groups, by: home, oddsRatio: 9, hidden: true }]');
    expect(alike).toBeGreaterThan(1 / 3);
    expect(hidden).toBeGreaterThan(alike);
    const d = Math.log(9);
    expect(hidden + push(2 * push(hidden, d), d)).toBeCloseTo(1, 6);
  });

  it('groups tie rows that share any of several columns', async () => {
    shop.write(
      'people.csv',
      'id,home,street,party,age,weight,media\na,h1,s1,dem,20,1,tv\nb,h1,s2,dem,20,1,tv\nc,h2,s2,rep,20,1,tv\nd,,,rep,20,1,tv\n',
    );
    expect(await base('[{ kind: groups, by: home }]')).toBeCloseTo(1 / 2, 9);
    expect(await base('[{ kind: groups, by: [home, street] }]')).toBeCloseTo(1 / 3, 9);
    expect(await base('[{ kind: groups, by: [home, street], oddsRatio: 4 }]')).toBeGreaterThan(1 / 3);
  });

  it('groups take a public bound instead of the actual groups, and hold the data to it', async () => {
    expect(await base('[{ kind: groups, by: home, maxSize: 5 }]')).toBeCloseTo(1 / 5, 9);
    expect(await base('[{ kind: groups, by: home, maxSize: 40 }]')).toBeCloseTo(1 / 40, 9);
    expect(await fault('[{ kind: groups, by: home, maxSize: 2 }]')).toMatchObject({ code: 'DOMAIN_EXCEEDED' });
    expect(await fault('[{ kind: groups, by: [home, party], maxSize: 9 }]')).toMatchObject({ code: 'POLICY_INVALID' });
    shop.write('friends.csv', 'a,b\np0,p1\n');
    const both = '[{ kind: groups, by: home, maxSize: 5 }, { kind: ties, relation: friend }]';
    expect((await fault(both)).message).toMatch(/maxSize/);
  });

  it('groups join the groups that the rows of one person name', async () => {
    shop.write(
      'people.csv',
      'id,home,party,age,weight,media\na,h1,dem,20,1,tv\na,h2,dem,20,1,tv\nb,h1,dem,20,1,tv\nc,h2,rep,20,1,tv\n',
    );
    expect(await base('[{ kind: groups, by: home }]', persons)).toBeCloseTo(1 / 3, 9);
  });

  it('groups need their column', async () => {
    expect(await fault('[{ kind: groups, by: household }]')).toMatchObject({ code: 'COLUMN_UNKNOWN' });
    expect(await fault('[{ kind: groups, by: home, oddsRatio: 0.5 }]')).toMatchObject({ code: 'POLICY_INVALID' });
  });
});

describe('ties of kind: ties', () => {
  it('two friends are tied by the declared odds ratio, once, in either direction and however often they are listed', async () => {
    shop.write('friends.csv', 'a,b\np0,p1\np1,p0\np0,p1\np2,p2\n');
    const e = await base('[{ kind: ties, relation: friend, oddsRatio: 9 }]');
    expect(e + push(e, Math.log(9))).toBeCloseTo(1, 6);
    expect(await base('[{ kind: ties, relation: friend }]')).toBeCloseTo(1 / 2, 9);
  });

  it('each tie takes its own odds ratio, and one without a readable strength counts as a copy', async () => {
    const withOdds = '[{ kind: ties, relation: friend, oddsColumn: strength }]';
    shop.write('friends.csv', 'a,b,strength\np0,p1,9\np2,p3,1.5\n');
    const e = await base(withOdds);
    expect(e + push(e, Math.log(9))).toBeCloseTo(1, 6);
    shop.write('friends.csv', 'a,b,strength\np0,p1,1.5\np1,p0,9\n');
    expect(await base(withOdds)).toBeCloseTo(e, 6);
    for (const unreadable of ['', 'strong', 'inf', 'NaN']) {
      shop.write('friends.csv', `a,b,strength\np0,p1,${unreadable}\n`);
      expect(await base(withOdds)).toBeCloseTo(1 / 2, 9);
    }
    shop.write('friends.csv', 'a,b,strength\np0,p1,0.5\n');
    expect(await fault(withOdds)).toMatchObject({ code: 'DATA_MALFORMED' });
    expect(await fault('[{ kind: ties, relation: friend, oddsColumn: other }]')).toMatchObject({ code: 'COLUMN_UNKNOWN' });
  });

  it('ties join persons, however many rows they have', async () => {
    shop.write(
      'people.csv',
      'id,home,party,age,weight,media\na,h1,dem,20,1,tv\na,h2,dem,20,1,tv\nb,h1,dem,20,1,tv\nc,h2,rep,20,1,tv\n',
    );
    shop.write('friends.csv', 'a,b\na,b\nb,c\n');
    expect(await base('[{ kind: ties, relation: friend }]', persons)).toBeCloseTo(1 / 3, 9);
    const twice = await fault('[{ kind: ties, relation: friend }]');
    expect(twice).toMatchObject({ code: 'DATA_MALFORMED' });
    expect(twice.message).toMatch(/several rows/);
  });

  it('ends that are not in the data, a missing unit, an unknown relation and a missing table are refused', async () => {
    shop.write('friends.csv', 'a,b\np0,nobody-knows-me\n');
    const stranger = await fault('[{ kind: ties, relation: friend }]');
    expect(stranger).toMatchObject({ code: 'DATA_MALFORMED' });
    expect(JSON.stringify(stranger)).not.toMatch(/nobody/);
    expect(await fault('[{ kind: ties, relation: friend }]', { protect: '{ secret: row }' })).toMatchObject({
      code: 'POLICY_INVALID',
    });
    expect(await fault('[{ kind: ties, relation: fiend }]')).toMatchObject({ code: 'POLICY_INVALID' });
    expect(
      await fault('[{ kind: ties, relation: friend }]', { extra: friends.replace('friends.csv', 'nowhere.csv') }),
    ).toMatchObject({ code: 'DATA_NOT_FOUND' });
  });

  it('ties reach friends of friends unless direct reach is assumed, which requires an uninformed attacker', async () => {
    shop.write('friends.csv', 'a,b\np0,p1\np1,p2\np2,p3\n');
    const direct = '[{ kind: ties, relation: friend, oddsRatio: 9, reach: direct }]';
    const uninformed = { protect: '{ secret: row, unit: id, adversary: uninformed }' };
    const e = await base(direct, uninformed);
    expect(e + 2 * push(e, Math.log(9))).toBeCloseTo(1, 6);
    expect(await base('[{ kind: ties, relation: friend, oddsRatio: 9 }]', uninformed)).toBeLessThan(e);
    expect((await fault(direct)).message).toMatch(/uninformed/);
    const mixed = '[{ kind: ties, relation: friend, reach: direct }, { kind: groups, by: home }]';
    expect((await fault(mixed, uninformed)).message).toMatch(/every declared tie/);
  });
});

describe('ties of kind: sequence', () => {
  const week = (text: string) => shop.write('people.csv', `id,home,party,age,weight,media,week\n${text}`);
  const rows = (times: readonly string[], who = 'ann') => times.map((t) => `${who},h,dem,20,1,tv,${t}\n`).join('');
  const chain = '[{ kind: sequence, by: id, order: week, state: party, transition: weekly.json }]';
  const steps = { protect: '{ secret: step }', extra: '' };
  const stay = (p: number) => [0, 1, 2].map((a) => [0, 1, 2].map((b) => (a === b ? p : (1 - p) / 2)));
  beforeEach(() => {
    week(rows(['1', '2', '10']) + rows(['2026-01-02', '2026-01-01'], 'bob') + rows(['1'], ''));
    shop.write('weekly.json', JSON.stringify({ transition: stay(0.6) }));
  });

  it('a sequence ties each step to the next in the order of numbers or dates', async () => {
    const e = await base(chain, steps);
    const d = 2 * Math.log(0.6 / 0.2);
    // The middle one of three leaks to both sides.
    expect(e + 2 * push(e, d)).toBeCloseTo(1, 6);
  });

  it('a sequence is one record when the person is the secret', async () => {
    expect(await base(chain, { ...persons, extra: '' })).toBeCloseTo(1, 9);
  });

  it('a sequence takes the strongest of a set of matrices, and a state that never changes as a copy', async () => {
    const one = await base(chain, steps);
    shop.write('weekly.json', JSON.stringify({ transitions: [stay(0.4), stay(0.6)] }));
    expect(await base(chain, steps)).toBeCloseTo(one, 12);
    shop.write('weekly.json', JSON.stringify(stay(1)));
    expect(await base(chain, steps)).toBeCloseTo(1 / 3, 9);
  });

  it('a sequence refuses invalid matrices, and states they do not contain', async () => {
    for (const wrong of [
      [[0.5, 0.5]],
      [
        [0.5, 0.4],
        [1, 0],
      ],
      { transitions: [] },
      { transition: 'weekly' },
      [
        [1.5, -0.5],
        [0, 1],
      ],
    ]) {
      shop.write('weekly.json', JSON.stringify(wrong));
      expect(await fault(chain, steps)).toMatchObject({ code: 'MODEL_INVALID' });
    }
    shop.write('weekly.json', '{ transition');
    expect(await fault(chain, steps)).toMatchObject({ code: 'MODEL_INVALID' });
    shop.write('weekly.json', '[[0.5, 0.5], [0.5, 0.5]]');
    expect((await fault(chain, steps)).message).toMatch(/3 values.* 2 states/);
    expect(await fault(chain.replace('weekly.json', 'daily.json'), steps)).toMatchObject({ code: 'POLICY_INVALID' });
  });

  it('a sequence refuses steps that share a time or have none', async () => {
    for (const times of [
      ['1', '1'],
      ['1', ''],
      ['1', '1.0'],
    ]) {
      week(rows(times));
      expect(await fault(chain, steps)).toMatchObject({ code: 'DATA_MALFORMED' });
    }
  });
});

describe('ties of kind: gaussian', () => {
  /** Ages run from 17 to 90: 73 years. */
  const year = 1 / 73 ** 2;
  const fileLaw = (more: object = {}) =>
    shop.write(
      'q.json',
      JSON.stringify({
        records: ['p0', 'p1', 'p7'],
        precision: [
          [2, -4 * year, 0],
          [-4 * year, 2, 0],
          [0, 0, 1],
        ],
        bounds: [17, 90],
        ...more,
      }),
    );
  const declared = '[{ kind: gaussian, precision: q.json }]';

  it('gaussian ties join records by the entry times both widths', async () => {
    fileLaw();
    const e = await base(declared);
    expect(e + push(e, 4)).toBeCloseTo(1, 6);
    fileLaw({
      bounds: [
        [17, 90],
        [17 - 73, 90],
        [17, 90],
      ],
    });
    const wider = await base(declared);
    expect(wider + push(wider, 8)).toBeCloseTo(1, 6);
  });

  const numbers = '  age: { type: integer, bounds: [0, 2] }\n  weight: { type: weight, bounds: [1, 3] }\n';
  const between = {
    records: ['age', 'weight'],
    precision: [
      [2, -1],
      [-1, 2],
    ],
    bounds: [
      [0, 2],
      [1, 3],
    ],
  };

  it('gaussian ties join columns when answers are the secret, and the promise states that no number lies outside', async () => {
    fileLaw(between);
    const parts = { protect: '{ secret: answer }', columns: numbers };
    const e = await base(declared, parts, answersTo('age'));
    expect(e + push(e, 4)).toBeCloseTo(1, 6);
    const session = await open(declared, parts);
    const { guarantee } = await session.plan({ kind: 'mean', column: 'age' });
    expect(guarantee.assumptions.join(' ')).toMatch(/no number lies outside these, not even one that releases pull/);
    await session.close();
  });

  it('gaussian ties must cover every number that a release can read', async () => {
    const parts = { protect: '{ secret: answer }', columns: numbers };
    for (const bounds of [
      [
        [0, 1.5],
        [1, 3],
      ],
      [
        [0, 2],
        [1.5, 3],
      ],
      [0, 2],
    ]) {
      fileLaw({ ...between, bounds });
      expect((await fault(declared, parts)).message).toMatch(/is about less than the numbers of/);
    }
    fileLaw({ bounds: [18, 90] });
    expect((await fault(declared)).message).toMatch(/less than the numbers of "age" \(17 to 90\)/);
    fileLaw({ ...between, records: ['age', 'party'] });
    const coded = { ...parts, columns: `${numbers}  party: { type: category, values: [0, 1] }\n` };
    expect((await fault(declared, coded)).message).toMatch(/"party".* codes/);
  });

  it('gaussian ties must name the number of a record, and a record must have one', async () => {
    const several = { columns: '  age: { type: integer, bounds: [0, 2] }\n  weight: { type: integer, bounds: [0, 9] }\n' };
    fileLaw({ bounds: [0, 9] });
    expect((await fault(declared, several)).message).toMatch(/which number/);
    fileLaw({ bounds: [0, 9], column: 'party' });
    expect((await fault(declared, several)).message).toMatch(/which number/);
    fileLaw({ bounds: [0, 9], column: 'weight' });
    expect(await base(declared, several)).toBeGreaterThan(0.9);
    fileLaw();
    expect((await fault(declared, persons)).message).toMatch(/several rows/);
  });

  it('gaussian ties refuse an invalid distribution of these records', async () => {
    for (const wrong of [
      {
        precision: [
          [2, -1, 0],
          [1, 2, 0],
          [0, 0, 1],
        ],
      },
      {
        precision: [
          [2, -1],
          [-1, 2],
        ],
      },
      { records: ['p0', 'p1', 'p99'] },
      { records: ['p0', 'p1', 'p0'] },
      { bounds: [2, 2] },
      { bounds: [[0, 1]] },
      { bounds: null },
    ]) {
      fileLaw(wrong);
      expect(await fault(declared)).toMatchObject({ code: 'MODEL_INVALID' });
    }
  });
});

describe('ties of kind: factors', () => {
  const declared = '[{ kind: factors, model: model.json }]';
  const model = (ids: readonly string[]) =>
    shop.write(
      'model.json',
      JSON.stringify({
        records: ids.map((id) => ({ id, values: [0, 1] })),
        factors: [
          { records: [ids[0], ids[1]], oddsRatio: 4 },
          {
            records: [ids[1], ids[2]],
            table: [
              [3, 1],
              [1, 3],
            ],
          },
        ],
      }),
    );

  it('factors tie the rows whose records they name', async () => {
    model(['p4', 'p9', 'p2']);
    const e = await base(declared);
    expect(e + push(e, Math.log(4)) + push(e, Math.log(9))).toBeCloseTo(1, 6);
  });

  it('factors tie columns when answers are the secret', async () => {
    model(['party', 'age', 'media']);
    const parts = { ...answers, columns: twoValued('party', 'age', 'media') };
    const e = await base(declared, parts, answersTo('age'));
    expect(e + push(e, Math.log(4)) + push(e, Math.log(9))).toBeCloseTo(1, 6);
    expect((await fault(declared, answers)).message).toMatch(/"weight"/);
  });

  it('factors must have tables over the values of the columns; a bare odds ratio fits any', async () => {
    model(['party', 'age', 'media']);
    const declare = (party: string, age: string) => ({
      ...answers,
      columns: `  party: ${party}\n  age: ${age}\n  media: { type: category, values: [0, 1] }\n`,
    });
    const wide = '{ type: integer, bounds: [0, 9] }';
    const two = '{ type: integer, bounds: [0, 1] }';
    expect((await fault(declared, declare(two, wide))).message).toMatch(/nothing about some numbers of the column "age"/);
    expect((await fault(declared, declare(two, '{ type: category, values: [0, 2] }'))).message).toMatch(/the value "1"/);
    expect((await fault(declared, declare(two, '{ type: multi, values: [0, 1] }'))).message).toMatch(/multi-select/);
    // party is in no table
    const e = await base(declared, declare(wide, two), answersTo('age'));
    expect(e + push(e, Math.log(4)) + push(e, Math.log(9))).toBeCloseTo(1, 6);
  });

  it('factors refuse names that are not in the data, and files that are missing or not JSON', async () => {
    model(['p4', 'p9', 'p99']);
    expect(await fault(declared)).toMatchObject({ code: 'MODEL_INVALID' });
    shop.write('model.json', '[');
    expect((await fault(declared)).exit).toBe(2);
    expect(await fault('[{ kind: factors, model: none.json }]')).toMatchObject({ code: 'POLICY_INVALID' });
  });
});

describe('ties of kind: columns', () => {
  const declared = '[{ kind: columns, network: net.json }]';
  const network = (names: readonly string[]) =>
    shop.write(
      'net.json',
      JSON.stringify({
        format: 'fugu-network/1',
        columns: names.map((name, k) => ({
          name,
          values: ['0', '1'],
          parents: k === 1 ? [names[0]] : [],
          table: k === 1 ? [0.75, 0.25, 0.25, 0.75] : [0.5, 0.5],
        })),
      }),
    );

  it('a column network ties the answers of one person when answers are the secret, and nothing when rows are', async () => {
    network(['party', 'age', 'weight', 'media']);
    const e = await base(declared, answers, answersTo('age'));
    expect(e + push(e, Math.log(9))).toBeCloseTo(1, 6);
    expect(await base(declared)).toBeCloseTo(1, 9);
  });

  it('column networks must cover every column, alone or together', async () => {
    network(['party', 'age', 'weight']);
    expect((await fault(declared, answers)).message).toMatch(/"media"/);
    shop.write(
      'more.bif',
      'network more {\n}\nvariable media {\n  type discrete [ 2 ] { 1, 0 };\n}\nprobability ( media ) {\n  table 0.5, 0.5;\n}\n',
    );
    expect(
      await base('[{ kind: columns, network: net.json }, { kind: columns, network: more.bif }]', answers, answersTo('age')),
    ).toBeGreaterThan(0.5);
  });

  it.each([
    ['a value the column does not have', '{ type: category, values: [0, 2] }', /the value "1", which it does not have/],
    ['fewer values than the column has', '{ type: category, values: [0, 1, 2] }', /nothing about the value "2"/],
    ['fewer numbers than the column has', '{ type: integer, bounds: [0, 2] }', /nothing about some numbers/],
    ['numbers the column does not have', '{ type: number, bounds: [0, 1], step: 0.25 }', /leave a gap/],
    ['single options of a multi-select column', '{ type: multi, values: [0, 1] }', /sets of options/],
    ['a public column', '{ type: category, values: [0, 1], public: true }', /"age", which is public/],
  ])('a column network is refused with %s', async (_, age, message) => {
    network(['party', 'age']);
    const parts = { ...answers, columns: `  party: { type: category, values: [1, 0] }\n  age: ${age}\n` };
    const refused = await fault(declared, parts);
    expect(refused.code).toBe('MODEL_INVALID');
    expect(refused.message).toMatch(message);
  });

  it('a column network may name what its values stand for, and then covers no more than that', async () => {
    network(['party', 'age']);
    const mapped = (levels: unknown) => {
      const text = JSON.parse(readFileSync(`${shop.folder}/net.json`, 'utf8'));
      text.columns[1].levels = levels;
      shop.write('net.json', JSON.stringify(text));
    };
    const parts = {
      protect: '{ secret: answer, adversary: uninformed }',
      columns: '  party: { type: category, values: [0, 1] }\n  age: { type: integer, bounds: [0, 99] }\n',
    };
    mapped([[{ from: '0', to: '49' }, null], [{ from: '50', to: '99' }]]);
    const session = await open(declared, parts);
    const { guarantee } = await session.plan({ kind: 'histogram', column: 'age' });
    expect(guarantee.assumptions.join(' ')).toMatch(/know "age" by levels only/);
    expect(guarantee.assumptions.join(' ')).toMatch(/Everybody answers "party":/);
    const routes = async (query: object) => (await session.plan(query)).candidates.map((c) => c.route);
    const younger = { column: 'age', op: '>=', value: 50 };
    expect(await routes({ kind: 'count', where: [younger] })).toContain('columns');
    expect(await routes({ kind: 'count', where: [{ ...younger, value: 51 }] })).not.toContain('columns');
    expect(await routes({ kind: 'count', where: [{ column: 'age', op: '<', value: 50 }] })).not.toContain('columns');
    await session.close();
    expect((await fault(declared, { ...parts, protect: '{ secret: answer }' })).message).toMatch(/by levels only/);
    for (const wrong of [
      [[{ from: '0', to: '49' }], [{ from: '49', to: '99' }]],
      [[{ from: '0', to: '49' }], [{ from: '60', to: '99' }]],
      [[{ from: '0', to: '49' }], [{ from: '50', to: '100' }]],
      [
        [{ from: '0', to: '49' }, null],
        [{ from: '50', to: '99' }, null],
      ],
      [[{ from: '0', to: '99' }]],
      [['0'], ['some']],
    ]) {
      mapped(wrong);
      expect(await fault(declared, parts)).toMatchObject({ code: 'MODEL_INVALID' });
    }
  });
});

describe('several kinds of ties together', () => {
  it('several kinds leak at least as much as each alone, and at most as one group', async () => {
    shop.write('friends.csv', 'a,b\np0,p3\np3,p6\n');
    shop.write('kin.csv', 'x,y\np1,p0\n');
    const homes = '{ kind: groups, by: home, oddsRatio: 4 }';
    const ties = '{ kind: ties, relation: friend, oddsRatio: 9 }';
    const family = '{ kind: ties, relation: kin, oddsRatio: 2 }';
    const parts = { extra: friends + kin };
    const all = await base(`[${homes}, ${ties}, ${family}]`, parts);
    for (const one of [homes, ties, family]) expect(all).toBeLessThan(await base(`[${one}]`, parts));
    expect(all).toBeGreaterThan(1 / 9);
    const session = await open(`[${homes}, ${ties}, ${family}]`, parts);
    const { guarantee, whatIf } = await session.plan({ kind: 'count' });
    for (const words of [/home/, /"friend".* 9/, /"kin".* 2/]) expect(guarantee.assumptions.join(' ')).toMatch(words);
    expect(whatIf.map((w) => w.leakage > 1)).toEqual([true, true, true]);
    await session.close();
  });

  it('several kinds add their strengths where they tie the same two records', async () => {
    shop.write('friends.csv', 'a,b\np0,p3\n');
    shop.write('kin.csv', 'x,y\np3,p0\n');
    const e = await base('[{ kind: ties, relation: friend, oddsRatio: 3 }, { kind: ties, relation: kin, oddsRatio: 3 }]', {
      extra: friends + kin,
    });
    expect(e + push(e, Math.log(9))).toBeCloseTo(1, 6);
  });

  it('several kinds coarsen to rows when answers are the secret and people are tied', async () => {
    shop.write('friends.csv', 'a,b\np0,p3\n');
    const e = await base('[{ kind: ties, relation: friend, oddsRatio: 9 }]', { protect: '{ secret: answer, unit: id }' });
    expect(e + push(e, Math.log(9))).toBeCloseTo(1, 6);
  });

  it.each(['columns', 'factors'])(
    'the promise covers no answers alone when people are tied, though kind: %s ties the answers',
    async (kind) => {
      const names = ['party', 'age', 'weight', 'media'];
      shop.write('friends.csv', 'a,b\np0,p3\n');
      shop.write(
        'net.json',
        JSON.stringify({
          format: 'fugu-network/1',
          columns: names.map((name) => ({ name, values: ['0', '1'], parents: [], table: [0.5, 0.5] })),
        }),
      );
      shop.write(
        'model.json',
        JSON.stringify({
          records: names.map((id) => ({ id, values: [0, 1] })),
          factors: [{ records: ['party', 'media'], oddsRatio: 4 }],
        }),
      );
      const people = '{ kind: ties, relation: friend, oddsRatio: 9 }';
      const inside = { columns: '{ kind: columns, network: net.json }', factors: '{ kind: factors, model: model.json }' }[kind];
      const parts = { ...answers, protect: '{ secret: answer, unit: id }' };
      const spoken = await open(`[${inside}]`, parts);
      expect(spoken.account.routes.some((r) => r.amplifier.scope(answersTo('age')))).toBe(true);
      const [alone, both] = [await open(`[${people}]`, parts), await open(`[${people}, ${inside}]`, parts)];
      expect(both.account.routes.every((r) => r.amplifier.scope(everyRecord))).toBe(true);
      const noise = async (session: typeof both) => (await session.plan({ kind: 'histogram', column: 'age' })).measures[0]!.noise;
      expect(await noise(both)).toEqual(await noise(alone));
      for (const session of [spoken, alone, both]) await session.close();
    },
  );
});
