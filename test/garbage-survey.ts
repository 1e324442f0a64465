import { parseBatch } from '../src/query/parse.js';

/** Cells as people and programs leave them, and questions about all of them: every way of counting must find the same integers. */

/** A small fixed generator: the tests must fail for the same data every time. */
export function surveyRandom(seed: number) {
  let state = seed;
  return (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}
const garbage = [
  '',
  ' ',
  'NaN',
  'nan',
  'inf',
  '-Infinity',
  '1_0',
  '0x1F',
  '1e400',
  '-1e400',
  '1e-400',
  '--1',
  '१',
  'null',
  '+',
  '.',
  '1e',
  '1,5',
  '٣',
  '5 5',
  "x'; DROP TABLE fugu_data; --",
  '1e0000000000000001',
  '\t42\n',
  '\v7\f',
  ' 42',
];
const texts: Record<string, readonly string[]> = {
  age: [
    '17',
    ' 18',
    '44.5',
    '44.4999',
    '45',
    '89',
    '90',
    '91',
    '-3',
    '99',
    '-1',
    '-1.0',
    '99.0',
    '1e1',
    '2.5e1',
    '5.',
    '.5',
    '+30',
    '030',
  ],
  income: [
    '-2.5',
    '-2.525',
    '-2.4749999',
    '0',
    '-0',
    '0.025',
    '0.075',
    '7.25',
    '7.2',
    '7.225',
    '8',
    '-9',
    '1e-5',
    '3.1415926535897932384626',
  ],
  party: ['dem', ' rep', 'other ', 'refused', 'REP', 'dem\t', 'unheard of'],
  grade: ['1', '2', '3', ' 3', '4', '1.0'],
  media: ['tv', 'web;tv', 'tv; web ;paper', ';', 'radio', 'tv;radio', 'tv;tv', 'paper;', 'TV'],
  w: ['0.2', '1', '4.96', '5', '6', '0', '-1', '1.25', '0.25'],
};
export const surveyNames = Object.keys(texts);

export function randomRows(seed: number, count: number): (string | null)[][] {
  const pick = surveyRandom(seed);
  return Array.from({ length: count }, () => [
    ...surveyNames.map((name) => {
      const kind = pick(12);
      if (kind === 0) return null;
      if (kind === 1) return garbage[pick(garbage.length)]!;
      if (kind === 2 && (name === 'age' || name === 'income' || name === 'w')) return `${(pick(20_000) - 4_000) / 97}`;
      return texts[name]![pick(texts[name]!.length)]!;
    }),
    pick(15) === 0 ? null : `p${pick(Math.ceil(count / 5))}`,
  ]);
}

const worked = {
  decade: { op: '*', of: [10, { op: 'floor', of: [{ op: '/', of: ['age', 10] }] }] },
  worth: {
    op: '-',
    of: [
      { op: '*', of: ['income', 'age'] },
      { op: 'round', of: [{ op: '*', of: ['age', 0.3] }] },
    ],
  },
  side: {
    cases: [
      {
        when: {
          any: [
            { column: 'media', op: '=', value: 'web' },
            { column: 'worth', op: '<', value: 20 },
          ],
        },
        value: { text: 'low' },
      },
      { when: { column: 'grade', op: '=', value: '3' }, value: null },
      { when: { column: 'party', op: 'present' }, value: 'party' },
    ],
    otherwise: { text: 'rest' },
  },
};

export const garbageBatch = parseBatch([
  { kind: 'count' },
  { kind: 'count', by: ['party', 'age'], weight: 'w' },
  {
    kind: 'count',
    where: [
      { column: 'age', op: '>', value: 30 },
      { column: 'party', op: '!=', value: 'rep' },
    ],
    by: ['media'],
  },
  {
    kind: 'count',
    where: [
      { column: 'media', op: 'in', values: ['tv', 'web'] },
      { column: 'income', op: '!=', value: '0.05' },
    ],
  },
  { kind: 'count', where: [{ column: 'media', op: 'not in', values: ['tv'] }], by: ['grade'] },
  {
    kind: 'count',
    where: [
      { column: 'party', op: 'missing' },
      { column: 'media', op: 'present' },
      { column: 'w', op: 'missing' },
    ],
  },
  {
    kind: 'count',
    where: [
      { column: 'media', op: 'missing' },
      { column: 'age', op: 'missing' },
    ],
  },
  ...(['<', '<=', '=', '>=', '>', '!='] as const).flatMap((op) => [
    { kind: 'count', where: [{ column: 'age', op, value: 44 }] },
    { kind: 'sum', column: 'income', where: [{ column: 'income', op, value: '0.05' }] },
  ]),
  {
    kind: 'mean',
    column: 'income',
    where: [
      { column: 'income', op: '>', value: '-1' },
      { column: 'income', op: '<=', value: '3.5' },
    ],
  },
  { kind: 'mean', column: 'income' },
  { kind: 'mean', column: 'age', by: ['grade'] },
  { kind: 'sum', column: 'income' },
  { kind: 'sum', column: 'income', weight: 'w', by: ['grade'] },
  { kind: 'mean', column: 'age', by: ['party'], where: [{ column: 'w', op: '>=', value: 0.5 }] },
  { kind: 'count', by: ['party'], where: [{ column: 'w', op: '>=', value: 0.5 }] },
  { kind: 'variance', column: 'income', by: ['media'], weight: 'w' },
  { kind: 'variance', column: 'age' },
  { kind: 'share', column: 'party', values: ['dem', 'rep'], by: ['grade'] },
  { kind: 'share', column: 'media', values: ['web'], by: ['party'], weight: 'w' },
  { kind: 'histogram', column: 'media', by: ['party'] },
  { kind: 'crosstab', columns: ['grade', 'income'] },
  { kind: 'quantile', column: 'income', at: [0.5], by: ['grade'] },
  { kind: 'quantile', column: 'age', at: [0.25, 0.9] },
  {
    kind: 'count',
    by: ['grade'],
    where: [
      {
        any: [
          { all: [{ column: 'age', op: '>', value: 30 }, { not: { column: 'party', op: 'in', values: ['rep', 'dem'] } }] },
          {
            not: {
              any: [
                { column: 'media', op: '=', value: 'tv' },
                { column: 'income', op: '<', value: 1 },
              ],
            },
          },
          { column: 'grade', op: 'missing' },
        ],
      },
    ],
  },
  { kind: 'sum', column: 'worth', by: ['side'], derive: worked },
  { kind: 'mean', column: 'decade', by: ['party'], where: [{ column: 'worth', op: '>', value: 10 }], derive: worked },
  { kind: 'histogram', column: 'decade', where: [{ column: 'side', op: '!=', value: 'rest' }], derive: worked },
  { kind: 'distinct', column: 'age', by: ['grade'], derive: worked },
  { kind: 'distinct', column: 'side', where: [{ column: 'decade', op: 'present' }], derive: worked },
]);
