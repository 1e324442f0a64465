import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { publicData } from '../data.js';
import type { Coded } from './measured.js';

/** A column of a public file: its SQL, and its number of values. Without numbers it is coded by the sorted list of `of`. */
type Column = readonly [sql: string, values: number | 'as they are'];

const bins = (column: string, starts: readonly number[]): Column => [
  `CASE ${starts.map((from, k) => `WHEN ${column} < ${from} THEN ${k}`).join(' ')} ELSE ${starts.length} END`,
  starts.length + 1,
];
/** The last code is for missing values. */
const orMissing = ([sql, values]: Column, column: string): Column => [
  `CASE WHEN ${column} IS NULL THEN ${values} ELSE ${sql} END`,
  Number(values) + 1,
];
const coded = (column: string, first: number, last: number): Column => [`${column} - ${first}`, last - first + 1];
const text = (column: string): Column => [column, 'as they are'];

const sets: Readonly<Record<string, { readonly folder: string; readonly file: string; readonly columns: readonly Column[] }>> = {
  Adult: {
    folder: 'adult/',
    file: 'adult.parquet',
    columns: [
      bins('age', [20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90]),
      text('workclass'),
      text('education'),
      text('marital_status'),
      text('occupation'),
      text('relationship'),
      text('race'),
      text('sex'),
      bins('capital_gain', [1, 5000, 10_000, 20_000, 50_000]),
      bins('capital_loss', [1, 1500, 2000]),
      bins('hours_per_week', [10, 20, 30, 40, 41, 50, 60, 70, 80]),
      text('native_country'),
      text('income'),
    ],
  },
  ACS: {
    folder: 'census/',
    file: 'acs2018_1yr_persons_14states.parquet',
    columns: [
      text('st'),
      coded('relp', 0, 17),
      bins('agep', [10, 20, 30, 40, 50, 60, 70, 80, 90]),
      coded('sex', 1, 2),
      coded('rac1p', 1, 9),
      bins('hisp', [2]),
      coded('cit', 1, 5),
      orMissing(bins('schl', [16, 18, 20, 21, 22]), 'schl'),
      coded('mar', 1, 5),
      coded('dis', 1, 2),
      coded('hicov', 1, 2),
      orMissing(coded('esr', 1, 6), 'esr'),
      orMissing(coded('cow', 1, 9), 'cow'),
      orMissing(bins('pincp', [1, 10_000, 20_000, 35_000, 50_000, 75_000, 100_000]), 'pincp'),
    ],
  },
  eusilc: {
    folder: 'groups/',
    file: 'eusilc.parquet',
    columns: [
      coded('hsize', 1, 9),
      text('db040'),
      bins('age', [10, 20, 30, 40, 50, 60, 70, 80, 90]),
      text('rb090'),
      orMissing(coded('pl030', 1, 7), 'pl030'),
      text("coalesce(pb220a, '(missing)')"),
      orMissing(bins('py010n', [1, 10_000, 20_000, 30_000]), 'py010n'),
      orMissing(bins('py090n', [1]), 'py090n'),
      orMissing(bins('py100n', [1]), 'py100n'),
      bins('hy050n', [1]),
      bins('eqIncome', [5000, 10_000, 15_000, 20_000, 25_000, 30_000, 40_000]),
    ],
  },
};

export const setNames = Object.keys(sets);

/** A public data set in declared codes; undefined where its file is missing. */
export async function readSet(name: string): Promise<Coded | undefined> {
  const { folder, file, columns } = sets[name]!;
  const found = publicData(folder, file);
  if (!found) return undefined;
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const list = columns.map(([sql]) => sql).join(', ');
    const data = (await connection.runAndReadAll(`SELECT ${list} FROM '${fileURLToPath(new URL(file, found))}'`)).getColumnsJS();
    const read = data.map((cells, c) => {
      const [, values] = columns[c]!;
      if (values !== 'as they are') return { size: values, codes: Uint16Array.from(cells, Number) };
      const known = [...new Set(cells.map(String))].sort();
      const code = new Map(known.map((value, k) => [value, k]));
      return { size: known.length, codes: Uint16Array.from(cells, (x) => code.get(String(x))!) };
    });
    for (const { size, codes } of read)
      if (!codes.every((x) => x < size)) throw new Error(`${name} has a value outside its codes`);
    return { sizes: read.map(({ size }) => size), rows: data[0]!.length, columns: read.map(({ codes }) => codes) };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
