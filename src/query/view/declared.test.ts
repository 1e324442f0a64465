import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { category, samplePolicy } from '../../../test/sample-policy.js';
import { smallDatabase } from '../../../test/tables-of-persons.js';
import type { Policy } from '../../policy/policy.js';
import { bindBatch } from '../bind.js';
import { countCells } from '../count/count.js';
import { parseBatch } from '../parse.js';

const kinds = ['a', 'b', 'c'];
const person = samplePolicy([category('Kind', kinds)], {
  secret: 'person',
  unit: 'person',
  maxRows: 1,
  adversary: 'informed',
});
const policy: Policy = {
  ...person,
  tables: new Map([
    [
      'visits',
      {
        name: 'visits',
        unit: 'person',
        links: [],
        maxRows: 3,
        public: false,
        columns: new Map([['kind', category('kind', kinds)]]),
      },
    ],
  ]),
};

let database: Awaited<ReturnType<typeof smallDatabase>>;
beforeAll(async () => {
  database = await smallDatabase();
});
afterAll(() => database.close());

describe('columns of several tables', () => {
  it('columns that differ in case only stay distinct where a database ignores case', async () => {
    const from = { table: 'visits', join: [{ table: 'data', on: ['person'] }] };
    const probe = bindBatch(parseBatch({ kind: 'count', from }), policy);
    const [visited, own] = ['visits', 'data'].map(
      (as) => [...probe.measures[0]!.countedView!.policy.columns.keys()].find((name) => name.startsWith(`${as}.`)) ?? '',
    );
    const questions = [own!, visited!].map((by) => ({ kind: 'distinct', column: 'person', by: [by], from }));
    const { measures } = bindBatch(parseBatch(questions), policy);
    const text = (name: string) => ({ name, type: 'text' }) as const;
    const tables = new Map([
      ['data', { columns: [text('person'), text('Kind')], rows: [['p', 'c']] }],
      ['visits', { columns: [text('person'), text('kind')], rows: ['a', 'b', 'c'].map((kind) => ['p', kind]) }],
    ]);
    const counted = await countCells(database.pinned(tables), policy, measures);
    expect(counted.map((cells) => cells.open().map(Number))).toEqual([
      [0, 0, 1, 0],
      [1, 1, 1, 0],
    ]);
  });

  it.each([
    [{ 'data.Kind': { kind: 'count' } }],
    [{ most: { kind: 'count' }, Most: { kind: 'count' } }],
    [{ fugu_place_0: { kind: 'count' } }],
  ])('features whose names collide with others, or are reserved, are refused: %j', (features) => {
    const from = {
      table: 'visits',
      join: [
        { table: 'data', on: ['person'] },
        { perPerson: { from: 'visits', features }, as: 'each', on: ['person'] },
      ],
    };
    expect(() => bindBatch(parseBatch({ kind: 'count', from }), policy)).toThrow(/one name|is kept/);
  });
});
