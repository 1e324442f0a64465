import { describe, expect, it } from 'vitest';
import { category, number, samplePolicy } from '../../test/sample-policy.js';
import { trino } from '../data/engine/trino/dialect.js';
import type { LinkedTable, Policy } from '../policy/policy.js';
import { everyRecord } from '../privacy/mechanism/record-class.js';
import { meets } from '../release/accountant/request-reading.js';
import { bindBatch } from './bind.js';
import type { IntegerExpression } from './count/derived.js';
import { compileMeasures } from './count/groups.js';
import type { Measure } from './count/measure.js';
import { rowCounter } from './count/row-counter.js';
import { parseBatch } from './parse.js';

const one = (policy: Policy, query: object) => bindBatch(parseBatch(query), policy).measures[0]!;
const counted = (policy: Policy, query: object, cell: number | null) => {
  const counter = rowCounter([one(policy, query)], ['x'], policy);
  counter.add({ columns: [[cell]], rows: 1 });
  return counter.totals()[0]![0]!;
};
const sumOf = (op: string, by: number) => ({ kind: 'sum', column: 'd', derive: { d: { op, of: ['x', by] } } });

describe('the sensitivity of sums of derived values', () => {
  it('a derived value multiplied by zero stays within its stated sensitivity', () => {
    const policy = samplePolicy([number('x', '0', '3')]);
    expect([null, 0, 3].map((cell) => counted(policy, sumOf('*', 0), cell))).toEqual([0n, 0n, 0n]);
    // The product is a number wherever the input was one.
    const none = { kind: 'count', where: [{ column: 'd', op: '=', value: 0 }], derive: { d: { op: '*', of: ['x', 0] } } };
    expect([null, 0, 3].map((cell) => counted(policy, none, cell))).toEqual([0n, 1n, 1n]);
  });

  it('a derived value keeps its own bounds when an earlier query used the same words with other bounds', () => {
    const policy = samplePolicy([number('x', '0', '3')]);
    one(policy, sumOf('+', 1000));
    const { l1 } = one(policy, sumOf('+', 1)).sensitivity.get(everyRecord)!;
    expect([null, 3].map((cell) => counted(policy, sumOf('+', 1), cell))).toEqual([0n, 4n]);
    expect(l1).toBe(4n);
  });
});

it('a person joined to several rows by more than the name counts in as many groups', () => {
  const base = samplePolicy([category('c', ['a', 'b'])], { secret: 'person', unit: 'person', maxRows: 1 });
  const clinic = category('clinic', ['v', 'w', 'x', 'y', 'z']);
  const visits = {
    name: 'visits',
    unit: 'person',
    links: ['k'],
    maxRows: 5,
    public: false,
    columns: new Map([['clinic', clinic]]),
  };
  const policy = {
    ...base,
    data: { ...base.data, links: ['k'] },
    tables: new Map([['visits', visits as unknown as LinkedTable]]),
  };
  const from = { table: 'data', join: [{ table: 'visits', on: ['person', 'k'], optional: true }] };
  const { l1 } = one(policy, { kind: 'distinct', column: 'person', by: ['clinic'], from }).sensitivity.get(everyRecord)!;
  expect(l1).toBeGreaterThanOrEqual(6n);
});

it('a distinct count is not a sum of per-record contributions', () => {
  const policy = samplePolicy([number('x', '0', '3')]);
  const sums = { need: { kind: 'sums' } } as Parameters<typeof meets>[0];
  expect(meets(sums, 'zcdp', { measures: [one(policy, { kind: 'count' })] })).toBe(true);
  expect(meets(sums, 'zcdp', { measures: [one(policy, { kind: 'distinct', column: 'x' })] })).toBe(false);
});

it('a derived place outside its domain is missing, row by row and in SQL', () => {
  const policy = samplePolicy([number('x', '0', '3')]);
  const { counting, ...measure } = one(policy, { kind: 'sum', column: 'd', derive: { d: { op: '+', of: ['x', 1] } } });
  const beyond: IntegerExpression = {
    kind: 'sum',
    of: [
      { kind: 'place', column: 'x' },
      { kind: 'constant', value: 2 },
    ],
  };
  const wrong = {
    ...measure,
    counting: { ...counting, derived: counting.derived!.map((d) => ({ ...d, of: beyond })) },
  } as Measure;
  const counter = rowCounter([wrong], ['x'], policy);
  counter.add({ columns: [[1, 2, 3]], rows: 3 });
  // Of the places 3, 4 and 5 only the first is one of 0 to 3: the number 4.
  expect(counter.totals()[0]).toEqual([4n]);
  const [plan] = compileMeasures([wrong], { dialect: trino, policy: policy, columns: [{ name: 'x', type: 'integer' }], rows: 3 });
  expect(plan!.statement.sql).toContain('CASE WHEN w0 BETWEEN 0 AND 3 THEN w0 END AS d0');
});
