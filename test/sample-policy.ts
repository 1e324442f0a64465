import { parseRational } from '../src/base/exact/rational.js';
import type { Column, Policy, Protect } from '../src/policy/policy.js';

/** A made-up policy for tests of the query room, without a file. */
export const number = (name: string, low: string, high: string, step = '1', more: object = {}): Column => ({
  name,
  type: step === '1' ? 'integer' : 'number',
  bounds: [parseRational(low), parseRational(high)],
  step: parseRational(step),
  missing: [],
  ...more,
});
export const category = (name: string, values: readonly string[], more: object = {}): Column => ({
  name,
  type: 'category',
  values,
  labels: new Map(),
  missing: [],
  ...more,
});
export const multi = (name: string, values: readonly string[], separator = ';'): Column => ({
  name,
  type: 'multi',
  values,
  labels: new Map(),
  separator,
  missing: [],
});
export const weight = (name: string, low: string, high: string, step: string): Column => ({
  name,
  type: 'weight',
  bounds: [parseRational(low), parseRational(high)],
  step: parseRational(step),
  missing: [],
});

export function samplePolicy(columns: readonly Column[], protect: Partial<Protect> = {}): Policy {
  return {
    file: '/nowhere/policy.yaml',
    directory: '/nowhere',
    population: 'data:/nowhere/data.csv',
    ledger: '/nowhere/ledger.db',
    data: { source: '/nowhere/data.csv' },
    protect: { secret: 'row', maxRows: 1, adversary: 'informed', ...protect },
    budget: { epsilon: parseRational('1'), delta: parseRational('0') },
    columns: new Map(columns.map((column) => [column.name, column])),
    relations: new Map(),
    dependence: [],
    unconfirmed: [],
    digest: 'sample',
  } as Policy;
}

/** The columns most tests use: every type, missing codes, uneven grids. */
export const sampleColumns: readonly Column[] = [
  number('age', '17', '90', '1', { missing: ['99', '-1'] }),
  number('income', '-2.5', '7.25', '0.05'),
  category('party', ['dem', 'rep', 'other'], { missing: ['refused'] }),
  category('grade', ['1', '2', '3']),
  multi('media', ['tv', 'web', 'paper']),
  weight('w', '0.2', '5', '0.1'),
];
