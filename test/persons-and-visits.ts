import type { LinkedTable, Policy } from '../src/policy/policy.js';
import { category, multi, number, samplePolicy } from './sample-policy.js';

/** Persons and related tables with cells at the edges of every type, for comparing several databases. */
export type PickOne = (n: number) => number;
export const personRows = [
  category('region', ['north', 'south', 'Å', '-1', '1']),
  category('grade', ['-1', '1', '2', '10', '3'], { missing: ['99'] }),
  category('flag', ['true', 'false']),
  number('age', '0', '100', '1', { missing: ['99'] }),
  number('income', '-2.5', '7.25', '0.05'),
  multi('media', ['tv', 'web', '1']),
];
export const visits = [
  category('kind', ['er', 'gp', 'é']),
  category('code', ['-1', '1', '2', '10']),
  category('urgent', ['true', 'false']),
  number('cost', '-5', '200'),
  number('price', '0', '3', '0.25'),
  number('day', '0', '10'),
];
const cells: Record<string, (pick: PickOne) => string | null> = {
  region: (p) => ['north', ' south ', 'Å', '-1', '1', 'x', '', null][p(8)]!,
  grade: (p) => ['-1', '1', '2', '10', '3', '99', '7', null][p(8)]!,
  flag: (p) => ['true', 'false', null][p(3)]!,
  age: (p) => ['0', '-3', '17', '50', '99', '100', '1000', '2147483647', null][p(9)]!,
  income: (p) => ['-9', '-2.5', '-0.075', '0', '0.025', '1e-300', '5e-324', '3.3', '7.25', '1e300', 'NaN', 'inf', null][p(13)]!,
  media: (p) => ['tv', 'web; tv', ';;', '1;x', ' 1 ', '', null][p(7)]!,
  kind: (p) => ['er', 'gp', 'é', 'none', null][p(5)]!,
  code: (p) => ['-1', '1', '2', '10', '5', null][p(6)]!,
  urgent: (p) => ['true', 'false', null][p(3)]!,
  cost: (p) => ['-9', '-5', '0', '20', '199', '200', '999', null][p(8)]!,
  price: (p) => ['0', '0.125', '0.25', '0.375', '2.5', '3', '1e308', '-1e308', '5e-324', null][p(10)]!,
  day: (p) => ['0', '1', '5', '5', '10', '11', null][p(7)]!,
};

/** Storage of cells, and whether the rows of a person are cut to some of them. */
export interface StoredCells {
  readonly name: string;
  readonly person: string;
  readonly type: (column: string) => string;
  readonly cut: boolean;
}
const numbers: Record<string, string> = { age: 'INTEGER', cost: 'BIGINT', day: 'SMALLINT', grade: 'BIGINT', code: 'SMALLINT' };
export const storings: readonly StoredCells[] = [
  { name: 'text', person: 'VARCHAR', type: () => 'VARCHAR', cut: true },
  {
    name: 'typed',
    person: 'BIGINT',
    type: (c) => numbers[c] ?? { income: 'DOUBLE', price: 'DECIMAL(9,3)', flag: 'BOOLEAN', urgent: 'BOOLEAN' }[c] ?? 'VARCHAR',
    cut: false,
  },
  {
    name: 'other numbers',
    person: 'DOUBLE',
    type: (c) => (/income|price|grade|cost/.test(c) ? 'DOUBLE' : /flag|urgent/.test(c) ? 'BOOLEAN' : (numbers[c] ?? 'VARCHAR')),
    cut: true,
  },
];

export function policyOf({ cut }: StoredCells, place: { readonly source: string; readonly table?: string }): Policy {
  const table = (name: string, more: Partial<LinkedTable>): LinkedTable => ({ name, table: name, links: [], maxRows: 1, public: false, columns: new Map(), ...more }); // biome-ignore format: one line
  const policy = samplePolicy(personRows, { secret: 'person', unit: 'person', maxRows: cut ? 1 : 30 });
  return {
    ...policy,
    data: { ...place, table: 'people' },
    tables: new Map([
      ['visits', table('visits', { unit: 'person', links: ['clinic'], maxRows: cut ? 2 : 60, columns: new Map(visits.map((c) => [c.name, c])) })], // biome-ignore format: one line
      ['stays', table('stays', { unit: 'person', key: ['clinic'], maxRows: cut ? 2 : 60, period: { column: 'kind', maxRows: cut ? 1 : 60 }, columns: new Map(visits.slice(0, 4).map((c) => [c.name, c])) })], // biome-ignore format: one line
      ['clinics', table('clinics', { key: ['clinic'], public: true, columns: new Map([category('size', ['small', 'large'])].map((c) => [c.name, c])) })], // biome-ignore format: one line
    ]),
  };
}

/** Statements that make the tables; `change`: what the first row of every table with such a column holds there. */
export function statementsOf(
  { type, person, cut }: StoredCells,
  pick: PickOne,
  change?: { readonly column: string; readonly cell: string },
): readonly string[] {
  const cell = (own: string, text: string | null) => (text === null ? 'NULL' : `TRY_CAST('${text}' AS ${own})`);
  const who = () => ['1', '2', '3', '4', '5', '6', '7', person === 'VARCHAR' ? ' 3.0' : '3', null][pick(9)]!;
  const clinic = () => ['x', 'y', 'Z', null][pick(4)]!;
  const make = (name: string, columns: readonly (readonly [string, string])[], all: readonly (readonly (string | null)[])[]) => {
    const rows = all.map((row, r) => row.map((text, i) => (r === 0 && columns[i]![0] === change?.column ? change.cell : text)));
    return [
      `CREATE TABLE ${name} (${columns.map(([own, t]) => `${own} ${t}`).join(', ')})`,
      `INSERT INTO ${name} VALUES ${rows.map((row) => `(${row.map((text, i) => cell(columns[i]![1], text)).join(', ')})`).join(', ')}`,
    ];
  };
  // A public table with two rows of one key keeps one of them, chosen by their text.
  const owned = (list: readonly { readonly name: string }[]) => list.map(({ name }) => [name, type(name)] as const);
  const rows = (n: number, list: readonly { readonly name: string }[], more: (() => string | null)[]) =>
    Array.from({ length: n }, () => [...more.map((f) => f()), ...list.map(({ name }) => cells[name]!(pick))]);
  return [
    ...make('people', [['person', person], ...owned(personRows)], rows(cut ? 30 : 25, personRows, [who])),
    ...make('visits', [['person', person], ['clinic', 'VARCHAR'], ...owned(visits)], rows(50, visits, [who, clinic])),
    ...make('stays', [['person', person], ['clinic', 'VARCHAR'], ...owned(visits.slice(0, 4))], rows(40, visits.slice(0, 4), [who, clinic])), // biome-ignore format: one line
    ...make('clinics', [['clinic', 'VARCHAR'], ['size', 'VARCHAR']], [['x', 'large'], ['y', 'small'], ['y', 'small'], ['Z', 'x']]), // biome-ignore format: one line
  ];
}
