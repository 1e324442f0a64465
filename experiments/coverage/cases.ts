import type { Design, Policy } from '../../src/policy/policy.js';
import { byMixedTowns, byTowns, finite, stratified, weighted } from './designs.js';
import { policy } from './people.js';
import type { How } from './samples.js';
import { ofVisits, statements, tablesPolicy } from './tables.js';
import type { Data } from './world.js';

export interface Case {
  readonly name: string;
  readonly query: object;
  readonly design?: (people: Data, n: number) => Design;
  readonly sample?: How;
  /** With negligible noise, so that only sampling counts. */
  readonly little?: true;
  /** Compares percentages, not counts. */
  readonly parts?: boolean;
  /** For quantiles: the bound on the rank error that is used. */
  readonly rank?: 'rankError' | 'evenRankError';
  /** Rows constructed so that the interval fails as often as possible. */
  readonly worst?: true;
  /** Of the tables of tables.ts, where it is not about the data alone. */
  readonly tables?: true;
  /** Rows that are compared; all when absent. */
  readonly rows?: (keys: readonly string[]) => boolean;
}

export function policyOf({ design, tables }: Pick<Case, 'design' | 'tables'>, people: Data, n: number): Policy {
  const declared = tables ? tablesPolicy : policy;
  return design ? { ...declared, design: design(people, n) } : declared;
}

const last =
  (...names: string[]) =>
  (keys: readonly string[]): boolean =>
    names.includes(keys.at(-1)!);
const answered = (keys: readonly string[]): boolean => !keys.includes('(missing)');

const sums = { a: { kind: 'sum', column: 'income' }, b: { kind: 'sum', column: 'education' } };
const means = { a: { kind: 'mean', column: 'income' }, b: { kind: 'mean', column: 'education' } };

const skewed = { fines: 'few at the far end', debt: 'a small part of the bounds', income: 'an ordinary number' };

/** Every kind of answer that comes with an interval. */
export const cases: readonly Case[] = [
  { name: 'count', query: { kind: 'count', where: [{ column: 'sex', op: '=', value: 'f' }] } },
  { name: 'histogram, counts', query: { kind: 'histogram', column: 'vote' }, rows: answered },
  { name: 'histogram, percentages', query: { kind: 'histogram', column: 'vote' }, rows: answered, parts: true },
  { name: 'histogram, rare answers', query: { kind: 'histogram', column: 'faith' }, rows: answered, parts: true },
  { name: 'histogram of options', query: { kind: 'histogram', column: 'media' }, rows: answered },
  { name: 'crosstab, percentages', query: { kind: 'crosstab', columns: ['sex', 'vote'] }, rows: answered, parts: true },
  { name: 'merged table, counts', query: { kind: 'histogram', column: 'works', merged: true }, rows: answered },
  { name: 'merged table, percentages', query: { kind: 'histogram', column: 'trade', merged: true }, rows: answered, parts: true },
  { name: 'count of different values', query: { kind: 'distinct', column: 'income' } },
  { name: 'sum', query: { kind: 'sum', column: 'income' } },
  { name: 'sum, weighted', query: { kind: 'sum', column: 'income', weight: 'w' } },
  { name: 'mean', query: { kind: 'mean', column: 'income' } },
  { name: 'mean by region', query: { kind: 'mean', column: 'income', by: ['region'] }, rows: answered },
  { name: 'mean, weighted', query: { kind: 'mean', column: 'income', weight: 'w' } },
  { name: 'variance', query: { kind: 'variance', column: 'income' } },
  { name: 'standard deviation', query: { kind: 'variance', column: 'age', root: true } },
  { name: 'share', query: { kind: 'share', column: 'vote', values: ['red'] } },
  { name: 'share by region', query: { kind: 'share', column: 'vote', values: ['red'], by: ['region'] }, rows: answered },
  { name: 'distribution, counts', query: { kind: 'cdf', column: 'education' }, rows: last('8', '12', '16') },
  { name: 'distribution, percentages', query: { kind: 'cdf', column: 'education' }, rows: last('8', '12', '16'), parts: true },
  { name: 'quantiles of a distribution', query: { kind: 'cdf', column: 'income', at: [0.25, 0.5, 0.9] } },
  {
    name: 'quantile, rank error',
    query: { kind: 'quantile', column: 'income', at: [0.5] },
    rank: 'rankError',
  },
  {
    name: 'quantile, rank error of rows that lie evenly',
    query: { kind: 'quantile', column: 'income', at: [0.5] },
    rank: 'evenRankError',
  },
  {
    name: 'quantile of fine values, rank error of rows that lie evenly',
    query: { kind: 'quantile', column: 'wage', at: [0.5] },
    rank: 'evenRankError',
  },
  {
    name: 'quantile, rank error of the worst rows there can be',
    query: { kind: 'quantile', column: 'income', at: [0.5] },
    rank: 'rankError',
    sample: 'fixed',
    worst: true,
  },
  { name: 'quantiles of a distribution of fine values', query: { kind: 'cdf', column: 'wage', at: [0.25, 0.5, 0.9] } },
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
  { name: 'formula, sum over sum', query: { kind: 'formula', parts: sums, of: { op: '/', of: ['a', 'b'] } } },
  { name: 'formula, mean less mean', query: { kind: 'formula', parts: means, of: { op: '-', of: ['a', 'b'] } } },
  { name: 'formula, mean over mean', query: { kind: 'formula', parts: means, of: { op: '/', of: ['a', 'b'] } } },
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
  { name: 'estimate of a share', query: { kind: 'estimate', column: 'vote', values: ['green'] }, rows: last('share') },
  {
    name: 'estimate of a rare share',
    query: { kind: 'estimate', column: 'faith', values: ['four'] },
    rows: last('share'),
  },
  {
    name: 'estimate, strata',
    query: { kind: 'estimate', column: 'income' },
    design: stratified,
    sample: 'strata',
    rows: last('mean', 'total'),
  },
  {
    name: 'estimate of a share, strata',
    query: { kind: 'estimate', column: 'vote', values: ['red'] },
    design: stratified,
    sample: 'strata',
    rows: last('share', 'total'),
  },
  {
    name: 'estimate, weights',
    query: { kind: 'estimate', column: 'income', weight: 'w' },
    sample: 'weights',
    rows: last('mean'),
  },
  {
    name: 'estimate of a share, weights',
    query: { kind: 'estimate', column: 'vote', values: ['red'], weight: 'w' },
    sample: 'weights',
    rows: last('share'),
  },
  {
    name: 'histogram, percentages, weights',
    query: { kind: 'histogram', column: 'vote', weight: 'w' },
    design: weighted,
    sample: 'weights',
    rows: answered,
    parts: true,
  },
  {
    name: 'crosstab, percentages, weights',
    query: { kind: 'crosstab', columns: ['region', 'vote'], weight: 'w' },
    design: weighted,
    sample: 'weights',
    rows: answered,
    parts: true,
  },
  {
    name: 'share by region, weighted',
    query: { kind: 'share', column: 'vote', values: ['red'], by: ['region'], weight: 'w' },
    rows: answered,
  },
  { name: 'variance, weighted', query: { kind: 'variance', column: 'income', weight: 'w' } },
  {
    name: 'estimate, half of the population',
    query: { kind: 'estimate', column: 'income' },
    design: finite,
    sample: 'halves',
    rows: last('mean', 'total'),
  },
  {
    name: 'histogram, percentages, half of the population',
    query: { kind: 'histogram', column: 'vote' },
    design: finite,
    sample: 'halves',
    rows: answered,
    parts: true,
  },
  {
    name: 'regression, half of the population',
    query: { kind: 'regression', outcome: 'income', on: ['age', 'education'] },
    design: finite,
    sample: 'halves',
  },
  {
    name: 'estimate, clusters',
    query: { kind: 'estimate', column: 'income' },
    design: byTowns('income'),
    sample: 'towns',
    rows: last('mean'),
  },
  {
    name: 'histogram, percentages, clusters',
    query: { kind: 'histogram', column: 'vote' },
    design: byTowns('vote', 'red'),
    sample: 'towns',
    rows: last('red'),
    parts: true,
  },
  {
    name: 'comparison of shares, clusters',
    query: { kind: 'compare', column: 'vote', values: ['red'], between: 'sex' },
    design: byTowns('vote', 'red'),
    sample: 'towns',
    rows: last('m', 'f', 'm less f'),
  },
  {
    name: 'comparison of shares, clusters that mix the groups',
    query: { kind: 'compare', column: 'vote', values: ['red'], between: 'sex' },
    design: byMixedTowns('vote', 'red'),
    sample: 'towns',
    rows: last('m', 'f', 'm less f'),
  },
  {
    name: 'percentages by sex, clusters that mix the groups',
    query: { kind: 'crosstab', columns: ['sex', 'vote'] },
    design: byMixedTowns('vote', 'red'),
    sample: 'towns',
    rows: last('red'),
    parts: true,
  },
  {
    name: 'regression, spread that grows',
    query: { kind: 'regression', outcome: 'rent', on: ['age', 'education'] },
  },
  {
    name: 'regression, spread that grows, little noise',
    query: { kind: 'regression', outcome: 'rent', on: ['age', 'education'] },
    little: true,
  },
  {
    name: 'regression, spread that grows harshly',
    query: { kind: 'regression', outcome: 'savings', on: ['age', 'education'] },
  },
  {
    name: 'regression, spread that grows harshly, little noise',
    query: { kind: 'regression', outcome: 'savings', on: ['age', 'education'] },
    little: true,
  },
  {
    name: 'regression on numbers and categories, little noise',
    query: { kind: 'regression', outcome: 'income', on: ['age', 'sex', 'region'] },
    little: true,
  },
  ...(['fines', 'debt', 'income'] as const).flatMap((column): readonly Case[] =>
    [false, true].flatMap((little) => [
      {
        name: `estimate, ${skewed[column]}${little ? ', little noise' : ''}`,
        query: { kind: 'estimate', column },
        rows: last('mean'),
        ...(little && { little }),
      },
      {
        name: `comparison, ${skewed[column]}${little ? ', little noise' : ''}`,
        query: { kind: 'compare', column, between: 'sex' },
        rows: last('m', 'f', 'm less f'),
        ...(little && { little }),
      },
    ]),
  ),
  ...statements.map(
    ([name, query]): Case => ({
      name,
      query,
      tables: true,
      sample: 'fixed',
      rows: answered,
      ...((query as { kind: string }).kind === 'quantile' && { rank: 'rankError' }),
    }),
  ),
  {
    name: 'visits per person, mean',
    query: { kind: 'mean', column: 'n', by: ['region'], ...ofVisits },
    tables: true,
    rows: answered,
  },
  {
    name: 'visits per person, deviation of the cost',
    query: { kind: 'variance', column: 'spent', root: true, ...ofVisits },
    tables: true,
  },
  {
    name: 'visits per person, estimate',
    query: { kind: 'estimate', column: 'n', ...ofVisits },
    tables: true,
    rows: last('mean'),
  },
  {
    name: 'visits per person, regression',
    query: { kind: 'regression', outcome: 'spent', on: ['n', 'age'], ...ofVisits },
    tables: true,
  },
  {
    name: 'visits per person, comparison',
    query: { kind: 'compare', column: 'spent', between: 'sex', ...ofVisits },
    tables: true,
    rows: last('m', 'f', 'm less f'),
  },
  {
    name: 'visits per person by region, strata',
    query: { kind: 'estimate', column: 'spent', by: ['region'], ...ofVisits },
    tables: true,
    design: stratified,
    sample: 'strata',
    rows: last('mean'),
  },
  {
    name: 'visits per person, weights',
    query: { kind: 'estimate', column: 'spent', weight: 'w', ...ofVisits },
    tables: true,
    sample: 'weights',
    rows: last('mean'),
  },
  {
    name: 'visits per person, clusters',
    query: { kind: 'estimate', column: 'spent', ...ofVisits },
    tables: true,
    design: byTowns('spent'),
    sample: 'towns',
    rows: last('mean'),
  },
  {
    name: 'visits per person, half of the population',
    query: { kind: 'histogram', column: 'region', ...ofVisits },
    tables: true,
    design: finite,
    sample: 'halves',
    rows: answered,
    parts: true,
  },
];
