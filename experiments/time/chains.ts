import { fileURLToPath } from 'node:url';
import { readStructure } from '../../src/data/engine/structure.js';
import { openEngine } from '../../src/data/terms/open.js';
import { publicData } from '../data.js';

/** Many chains over the same states. */
export interface Chains {
  readonly name: string;
  readonly states: number;
  readonly chains: readonly (readonly number[])[];
  readonly about: string;
}

export const sequencesFolder = publicData('sequences/', 'mvad.parquet');

async function rowsOf(folder: URL, file: string, sql: string): Promise<(string | number | bigint | boolean | null)[][]> {
  const engine = await openEngine({ source: fileURLToPath(new URL(file, folder)) });
  try {
    const rows = [];
    for await (const row of readStructure(await engine.snapshot(), { sql, values: [] })) rows.push([...row]);
    return rows;
  } finally {
    await engine.close();
  }
}

/** Activities of thirty people, in steps of 2.56 seconds. */
export async function activity(folder: URL): Promise<Chains> {
  const rows = await rowsOf(
    folder,
    'har_activity_chain.parquet',
    'SELECT subject, activity FROM fugu_data ORDER BY part, subject, t',
  );
  const people = new Map<string, number[]>();
  for (const [who, what] of rows) {
    const chain = people.get(`${who}`) ?? [];
    chain.push(Number(what) - 1);
    people.set(`${who}`, chain);
  }
  return { name: 'HAR activity', states: 6, chains: [...people.values()], about: '30 people, six activities' };
}

/** One household's power by the hour, in steps of 1 kW (sums of 60 minutes in kW). */
export async function power(folder: URL): Promise<Chains> {
  const states = 8;
  const rows = await rowsOf(
    folder,
    'household_power_hourly.parquet',
    'SELECT Global_active_power FROM fugu_data ORDER BY datetime',
  );
  const chain = rows.map(([watts]) => Math.min(states - 1, Math.floor(Number(watts) / 60)));
  return { name: 'hourly power', states, chains: [chain], about: 'one household, power in steps of 1 kW' };
}

/** From school to work, month by month. */
export async function careers(folder: URL): Promise<Chains> {
  const months = ['93', '94', '95', '96', '97', '98', '99'].flatMap((year) =>
    ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'].map((month) => `${month}.${year}`),
  );
  const kept = months.slice(months.indexOf('Jul.93'), months.indexOf('Jun.99') + 1);
  const list = kept.map((name) => `"${name}"`).join(', ');
  const rows = await rowsOf(folder, 'mvad.parquet', `SELECT ${list} FROM fugu_data`);
  const names = [...new Set(rows.flat().map(String))].sort();
  return {
    name: 'mvad careers',
    states: names.length,
    chains: rows.map((row) => row.map((cell) => names.indexOf(String(cell)))),
    about: `${rows.length} people, ${names.length} activities, ${kept.length} months`,
  };
}

/** Learned from the data without a cost: half a transition is added everywhere, so that nothing is impossible. */
export function transitionsOf({ states, chains }: Chains): number[][] {
  const counts = Array.from({ length: states }, () => new Array<number>(states).fill(0.5));
  for (const chain of chains) for (let t = 1; t < chain.length; t++) counts[chain[t - 1]!]![chain[t]!]!++;
  return counts.map((row) => {
    const sum = row.reduce((a, b) => a + b, 0);
    const shares = row.map((n) => n / sum);
    shares[0]! += 1 - shares.reduce((a, b) => a + b, 0);
    return shares;
  });
}
