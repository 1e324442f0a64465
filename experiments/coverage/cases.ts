import type { Policy } from '../../src/policy/policy.js';
import { type How, policy } from './people.js';
import type { Budget } from './world.js';

export interface Case {
  readonly name: string;
  readonly query: object;
  readonly policy?: Policy;
  readonly sample?: How;
  /** Percentages are looked at, not counts. */
  readonly parts?: boolean;
  /** Which rows are looked at; all when absent. */
  readonly rows?: (keys: readonly string[]) => boolean;
}

const last =
  (...names: string[]) =>
  (keys: readonly string[]): boolean =>
    names.includes(keys.at(-1)!);
const answered = (keys: readonly string[]): boolean => !keys.includes('(missing)');

/** Every kind of answer that comes with an interval. */
export const cases: readonly Case[] = [
  { name: 'histogram, counts', query: { kind: 'histogram', column: 'vote' }, rows: answered },
  { name: 'count', query: { kind: 'count', where: [{ column: 'sex', op: '=', value: 'f' }] } },
  { name: 'histogram, percentages', query: { kind: 'histogram', column: 'vote' }, rows: answered, parts: true },
  { name: 'sum', query: { kind: 'sum', column: 'income' } },
  { name: 'mean', query: { kind: 'mean', column: 'income' } },
  { name: 'mean, weighted', query: { kind: 'mean', column: 'income', weight: 'w' } },
  { name: 'variance', query: { kind: 'variance', column: 'income' } },
  { name: 'share', query: { kind: 'share', column: 'vote', values: ['red'] } },
  { name: 'cdf', query: { kind: 'cdf', column: 'education' }, rows: last('8', '12', '16') },
  { name: 'quantiles of a cdf', query: { kind: 'cdf', column: 'age', at: [0.25, 0.5, 0.9] } },
  {
    name: 'ranges',
    query: {
      kind: 'ranges',
      column: 'age',
      ranges: [
        [18, 29],
        [30, 64],
      ],
    },
  },
  {
    name: 'formula',
    query: {
      kind: 'formula',
      parts: { a: { kind: 'sum', column: 'income' }, b: { kind: 'sum', column: 'education' } },
      of: { op: '/', of: ['a', 'b'] },
    },
  },
  { name: 'regression on numbers', query: { kind: 'regression', outcome: 'income', on: ['age', 'education'] } },
  {
    name: 'regression on numbers and categories',
    query: { kind: 'regression', outcome: 'income', on: ['age', 'sex', 'region'] },
  },
  { name: 'correlation', query: { kind: 'correlation', columns: ['age', 'education', 'income'] } },
  {
    name: 'comparison of means',
    query: { kind: 'compare', column: 'income', between: 'sex' },
    rows: last('m', 'f', 'm less f'),
  },
  {
    name: 'comparison of shares',
    query: { kind: 'compare', column: 'vote', values: ['red'], between: 'sex' },
    rows: last('m', 'f', 'm less f'),
  },
  { name: 'estimate of a mean', query: { kind: 'estimate', column: 'income' }, rows: last('mean') },
  {
    name: 'estimate, strata',
    query: { kind: 'estimate', column: 'income' },
    policy: {
      ...policy,
      design: {
        effect: 1,
        strata: {
          column: 'region',
          sizes: new Map([
            ['north', 50_000_000],
            ['south', 30_000_000],
            ['west', 20_000_000],
          ]),
        },
      },
    },
    sample: 'strata',
    rows: last('mean'),
  },
  {
    name: 'estimate, weights',
    query: { kind: 'estimate', column: 'income', weight: 'w' },
    sample: 'weights',
    rows: last('mean'),
  },
];

export const budgets: readonly (readonly [string, Budget])[] = [
  ['Laplace, epsilon 1', { noise: 'laplace', amount: 1 }],
  ['Gaussian, rho 0.05', { noise: 'gaussian', amount: 0.05 }],
];
