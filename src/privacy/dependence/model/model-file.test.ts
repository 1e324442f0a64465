import { describe, expect, it } from 'vitest';
import { Fault } from '../../../base/errors.js';
import { oneCopy } from './chain-model.js';
import { readModel } from './model-file.js';

const fault = (document: unknown): Fault => {
  try {
    readModel(typeof document === 'string' ? document : JSON.stringify(document), 'm.json');
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no fault');
};
const two = [
  { id: 'a', values: [0, 1] },
  { id: 'b', values: [0, 1, 2] },
];

describe('a model file', () => {
  it('the reader accepts records, nested tables in C order, odds ratios and single-record weights', () => {
    const model = readModel(
      JSON.stringify({
        records: two,
        factors: [
          {
            records: ['a', 'b'],
            table: [
              [1, 2, 3],
              [4, 5, 6],
            ],
          },
          { records: ['b', 'a'], oddsRatio: 'inf' },
          { records: ['a'], table: [0.5, 1.5] },
        ],
      }),
      'm.json',
    );
    expect(model.ids).toEqual(['a', 'b']);
    expect(model.factors[0]).toEqual({ records: [0, 1], table: Float64Array.of(1, 2, 3, 4, 5, 6) });
    expect(model.factors[1]).toEqual({ records: [1, 0], oddsRatio: Number.POSITIVE_INFINITY });
    expect(model.factors[2]).toEqual({ records: [0], table: Float64Array.of(0.5, 1.5) });
  });

  it('the reader accepts a joint distribution over all records as one flat list', () => {
    const model = readModel(
      JSON.stringify({ records: two, factors: [{ records: ['a', 'b'], table: [1, 2, 3, 4, 5, 6] }] }),
      'm.json',
    );
    expect(model.factors[0]).toMatchObject({ table: Float64Array.of(1, 2, 3, 4, 5, 6) });
  });

  it('the reader turns a chain into pairwise factors with its stationary distribution, or leaves the initial one open', () => {
    const chain = {
      length: 3,
      transition: [
        [0.9, 0.1],
        [0.4, 0.6],
      ],
      initial: 'stationary',
    };
    const model = readModel(JSON.stringify({ chain }), 'm.json');
    const distribution = model.factors[0] as { table: Float64Array };
    expect(distribution.table[0]).toBeCloseTo(0.8, 12);
    expect(model.factors.slice(1).map((f) => f.records)).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(model.anyPrior).toBeUndefined();
    const open = readModel(JSON.stringify({ chain: { ...chain, initial: 'any' } }), 'm.json');
    expect(open.anyPrior).toEqual([0]);
    expect(open.factors).toHaveLength(2);
  });

  it('the reader makes a chain for each of several people, without ties between them', () => {
    const chain = {
      length: 3,
      people: 2,
      transition: [
        [0.9, 0.1],
        [0.4, 0.6],
      ],
      initial: 'any',
    };
    const model = readModel(JSON.stringify({ chain }), 'm.json');
    expect(model.ids).toEqual(['p1x1', 'p1x2', 'p1x3', 'p2x1', 'p2x2', 'p2x3']);
    expect(model.factors.map((f) => f.records)).toEqual([
      [0, 1],
      [1, 2],
      [3, 4],
      [4, 5],
    ]);
    expect(model).toMatchObject({ anyPrior: [0, 3], copies: 2 });
    const alone = oneCopy(model);
    expect(alone).toMatchObject({ anyPrior: [0] });
    expect([alone.ids.length, alone.factors.length, alone.copies]).toEqual([3, 2, undefined]);
    for (const people of [0, 1.5, '2', -1])
      expect(fault({ chain: { ...chain, people } }).details).toEqual({ path: 'chain.people' });
    expect(fault({ chain: { ...chain, length: 1e6, people: 1e6 } }).code).toBe('MODEL_TOO_LARGE');
  });

  it('the fault of a malformed model names the file and the path', () => {
    const cases: [unknown, string][] = [
      [{ records: two, factors: [{ records: ['a', 'c'], oddsRatio: 2 }] }, 'factors[0].records[1]'],
      [{ records: two, factors: [{ records: ['a', 'b'], oddsRatio: 0.5 }] }, 'factors[0].oddsRatio'],
      [
        {
          records: two,
          factors: [
            {
              records: ['a', 'b'],
              table: [
                [1, 2],
                [3, 4],
              ],
            },
          ],
        },
        'factors[0].table[0]',
      ],
      [{ records: two, factors: [{ records: ['a'], table: [1, -1] }] }, 'factors[0].table[1]'],
      [{ records: two, factors: [{ records: ['a'], table: [0, 0] }] }, 'factors[0].table'],
      [{ records: two, factors: [{ records: ['a', 'a'], oddsRatio: 2 }] }, 'factors[0].records'],
      [{ records: [two[0], two[0]], factors: [] }, 'records[1].id'],
      [
        {
          chain: {
            length: 2,
            transition: [
              [0.5, 0.4],
              [0.5, 0.5],
            ],
            initial: 'any',
          },
        },
        'chain.transition[0]',
      ],
      [
        {
          chain: {
            length: 2,
            transition: [
              [1, 0],
              [0, 1],
            ],
            initial: 'stationary',
          },
        },
        'chain.initial',
      ],
      [{ chain: { length: 2.5, transition: [[1]], initial: 'any' } }, 'chain.length'],
      [{ records: two, factors: [], surprise: 1 }, ''],
    ];
    for (const [document, path] of cases) {
      const f = fault(document);
      expect(f.code).toBe('MODEL_INVALID');
      expect(f.details.path).toBe(path);
      expect(f.place?.file).toBe('m.json');
    }
  });

  it('the fault of broken JSON points at its line, and that of a large model states its size', () => {
    expect(fault('{"records": [\n  oops ]}').place).toMatchObject({ file: 'm.json', line: 2 });
    const large = fault({ chain: { length: 1e9, transition: [[1]], initial: 'any' } });
    expect(large.code).toBe('MODEL_TOO_LARGE');
    expect(large.details).toMatchObject({ size: 1e9 });
    const wide = {
      records: Array.from({ length: 30 }, (_, k) => ({ id: `r${k}`, values: [0, 1] })),
      factors: [{ records: Array.from({ length: 30 }, (_, k) => `r${k}`), table: [] }],
    };
    expect(fault(wide).details.size).toBe(2 ** 30);
  });
});
