import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { releaseSynth, type SynthResult } from '../../src/analysis/synth/release.js';
import { openWorkshop } from '../../test/workshop.js';
import { publicData } from '../data.js';

/**
 * Rate at which two members of a household agree: in the data, in synthetic rows,
 * and among strangers in groups of the same size.
 */
export interface Agreement {
  readonly column: string;
  readonly real: number;
  readonly synthetic: number;
  readonly strangers: number;
}

const file = 'eusilc.parquet';
const ages = [10, 20, 30, 40, 50, 60, 70, 80];
const policyOf = (source: string, epsilon: number, tie: string) => `data: { source: ${source} }
protect: { secret: row }
budget: { epsilon: ${epsilon}, delta: 1e-6 }
population: eusilc
ledger: ledger.db
dependence: [${tie}]
columns:
  db040: { type: category, values: [Burgenland, Carinthia, Lower Austria, Salzburg, Styria, Tyrol, Upper Austria, Vienna, Vorarlberg] }
  age: { type: integer, bounds: [0, 97], bins: [${ages.join(', ')}] }
  rb090: { type: category, values: [female, male] }
  pl030: { type: category, values: ["1", "2", "3", "4", "5", "6", "7"] }
  pb220a: { type: category, values: [AT, EU, Other] }
  eqIncome: { type: number, bounds: [0, 100000], step: 1, bins: [5000, 10000, 15000, 20000, 25000, 30000, 40000] }
`;
const own = ['age', 'rb090', 'pl030', 'pb220a'] as const;
type Told = ReadonlyMap<string, readonly unknown[]>;

/** One synthesis of eusilc in households, tied by `tie`, compared with the data. */
export async function householdsOn(epsilon: number, tie: string): Promise<readonly Agreement[] | undefined> {
  const folder = publicData('groups/', file);
  if (!folder) return undefined;
  const source = fileURLToPath(new URL(file, folder));
  const shop = openWorkshop(policyOf(source, epsilon, tie));
  try {
    const session = await shop.session();
    const request = { households: { by: 'db030', shared: ['db040', 'eqIncome'] } };
    const { result } = await releaseSynth(session, request, { epsilon: `${epsilon}` });
    await session.close();
    const [real, made] = [await columnsOf(source), asTold(result)];
    return own.map((column) => ({
      column,
      real: agreement(real, column).same,
      synthetic: agreement(made, column).same,
      strangers: agreement(real, column).strangers,
    }));
  } finally {
    shop.remove();
  }
}

async function columnsOf(source: string): Promise<Told> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const names = ['db030', ...own];
    const data = (await connection.runAndReadAll(`SELECT ${names.join(', ')} FROM '${source}' ORDER BY db030`)).getColumnsJS();
    return new Map(names.map((name, k) => [name, data[k]!]));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
const asTold = ({ columns }: SynthResult): Told => new Map(columns.map(({ name, values }) => [name, values]));

/** All pairs of members of a household, households weighted by their number of pairs; ages in decades. */
function agreement(told: Told, column: string): { readonly same: number; readonly strangers: number } {
  const homes = told.get('db030')!;
  const place = (x: unknown) =>
    x === null || column !== 'age' ? String(x ?? '') : `${ages.filter((from) => Number(x) >= from).length}`;
  const values = told.get(column)!.map(place);
  let [same, all] = [0, 0];
  const people = new Map<string, number>();
  for (let from = 0, to = 0; from < homes.length; from = to) {
    while (to < homes.length && `${homes[to]}` === `${homes[from]}`) to++;
    const n = to - from;
    if (n < 2) continue;
    const step = Math.floor(n / 2) / (n * (n - 1));
    for (let i = from; i < to; i++) {
      people.set(values[i]!, (people.get(values[i]!) ?? 0) + Math.floor(n / 2) / n);
      for (let j = from; j < to; j++) if (i !== j && values[i] === values[j]) same += step;
    }
    all += Math.floor(n / 2);
  }
  return { same: same / all, strangers: [...people.values()].reduce((sum, p) => sum + (p / all) ** 2, 0) };
}
