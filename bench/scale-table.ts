/**
 * One synthetic table in SQL that all databases read: every cell follows from its row number,
 * so that each of them holds the same data. Some cells are missing and some lie beyond the bounds of their column.
 */
export const columns = (i: string): string =>
  [
    `CASE WHEN ${i} % 101 > 0 THEN CASE ${i} * 7919 % 5 WHEN 0 THEN 'dem' WHEN 1 THEN 'rep' WHEN 2 THEN 'other' WHEN 3 THEN 'none' ELSE 'green' END END AS party`,
    `CASE WHEN ${i} % 97 > 0 THEN CAST(12 + ${i} * 104729 % 84 AS INTEGER) END AS age`,
    `CASE WHEN ${i} % 89 > 0 THEN CAST(${i} * 15485863 % 104000 - 2000 AS DOUBLE PRECISION) / CAST(1000 AS DOUBLE PRECISION) END AS income`,
  ].join(', ');

export const policy = (source: string, table: string | undefined): string => `
data: { source: ${JSON.stringify(source)}${table ? `, table: ${table}` : ''} }
protect: { secret: row }
budget: { epsilon: 1000000 }
population: scale
ledger: ledger.db
dependence: none
columns:
  party: { type: category, values: [dem, rep, other, none, green] }
  age: { type: integer, bounds: [17, 90] }
  income: { type: number, bounds: [0, 100], step: 0.1 }
`;

const age = 'CASE WHEN age < 17 THEN 17 WHEN age > 90 THEN 90 ELSE age END';
const income = 'CASE WHEN income < 0 THEN 0 WHEN income > 100 THEN 100 ELSE income END';

export interface Question {
  readonly query: object;
  /** Query of somebody who wants the same result without noise: numbers are clamped to their bounds. */
  readonly plain: (table: string) => string;
  /** The same query without clamping. */
  readonly bare?: (table: string) => string;
  /** Included for the largest tables, too. */
  readonly always?: true;
}
export const questions = {
  histogram: {
    query: { kind: 'histogram', column: 'party' },
    plain: (t) => `SELECT party, count(*) FROM ${t} GROUP BY party`,
    always: true,
  },
  mean: {
    query: { kind: 'mean', column: 'age' },
    plain: (t) => `SELECT avg(${age}) FROM ${t}`,
    bare: (t) => `SELECT avg(age) FROM ${t}`,
    always: true,
  },
  sum: {
    query: { kind: 'sum', column: 'income' },
    plain: (t) => `SELECT sum(${income}) FROM ${t}`,
    bare: (t) => `SELECT sum(income) FROM ${t}`,
    always: true,
  },
  'sums by group': {
    query: { kind: 'sum', column: 'income', by: ['party'] },
    plain: (t) => `SELECT party, sum(${income}) FROM ${t} GROUP BY party`,
    bare: (t) => `SELECT party, sum(income) FROM ${t} GROUP BY party`,
  },
  middle: {
    query: { kind: 'quantile', column: 'age', at: [0.5] },
    plain: (t) => `SELECT ${age}, count(*) FROM ${t} GROUP BY 1`,
    bare: (t) => `SELECT age, count(*) FROM ${t} GROUP BY 1`,
  },
} as const satisfies Record<string, Question>;
export type Asked = keyof typeof questions;
