import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Fugu, open } from '../src/app/api/fugu.js';

export const townPeople = Array.from({ length: 240 }, (_, i) => ({
  id: `p${i}`,
  home: `h${Math.floor(i / 3)}`,
  party: ['dem', 'rep', 'other', null][i % 4]!,
  age: `${20 + (i % 60)}`,
  media: ['tv', 'tv;web', null][i % 3]!,
  week: `${1 + (i % 5)}`,
}));
export const townFriends = Array.from({ length: 240 }, (_, i) => [
  [`p${i}`, `p${(i + 1) % 240}`],
  [`p${i}`, `p${(i + 2) % 240}`],
  ...(i % 10 === 0 ? [['p0', `p${i}`]] : []),
]).flat();

export const homes = [...new Set(townPeople.map(({ home }) => home))].sort();

/** Undeclared values of a column, with a budget so large that all are found. */
export async function learnedHomes(fugu: Fugu): Promise<readonly string[]> {
  const keys = { column: 'home', most: 90, longest: 3 };
  const answer = (await fugu.release({ keys }, { epsilon: 10000 })) as unknown as { result: { keys: { key: string }[] } };
  return answer.result.keys.map(({ key }) => key).sort();
}

/** Location of the town in a database: the value of `data:`, and the table of friendships. */
export interface Elsewhere {
  readonly data: string;
  readonly friends: string;
}
type Where = 'files' | 'elsewhere';
interface More {
  readonly protect?: string;
  readonly dependence?: string;
}

/** One town as files and in a database, with the same policy of both. */
export function sessionsOf(folder: string, elsewhere: Elsewhere) {
  const cells = townPeople.map((p) => Object.values(p).map((cell) => cell ?? ''));
  writeFileSync(join(folder, 'people.csv'), [Object.keys(townPeople[0]!), ...cells].map((row) => `${row.join()}\n`).join(''));
  writeFileSync(join(folder, 'friends.csv'), `a,b\n${townFriends.map((f) => `${f.join()}\n`).join('')}`);
  let made = 0;
  const policy = (where: Where, more: More = {}): string => {
    const { data, friends } = where === 'files' ? { data: 'source: people.csv', friends: 'friends.csv' } : elsewhere;
    const file = join(folder, `policy-${++made}.yaml`);
    writeFileSync(
      file,
      `data: { ${data} }
protect: ${more.protect ?? '{ secret: row, unit: id }'}
budget: { epsilon: 1000000 }
population: town
ledger: ledger-${made}.db
dependence: ${more.dependence ?? 'none'}
relations:
  friend: { table: ${friends}, columns: [a, b], domain: 300, symmetric: true }
columns:
  party: { type: category, values: [dem, rep, other] }
  age: { type: integer, bounds: [17, 90] }
  media: { type: multi, values: [tv, web], separator: ";" }
  week: { type: integer, bounds: [1, 5] }
`,
    );
    return file;
  };
  /** Runs the request on both; the answers must be equal. */
  async function both<T>(more: More, ask: (fugu: Fugu) => Promise<T>): Promise<T> {
    const answer: T[] = [];
    for (const where of ['files', 'elsewhere'] as const) {
      const fugu = await open(policy(where, more), { acceptNoProtection: true });
      try {
        answer.push(await ask(fugu));
      } finally {
        await fugu.close();
      }
    }
    expect(answer[1]).toEqual(answer[0]);
    return answer[1]!;
  }
  return { policy, both };
}
export type TownSessions = ReturnType<typeof sessionsOf>;

export const townQueries = [
  { kind: 'count' },
  { kind: 'histogram', column: 'party' },
  { kind: 'histogram', column: 'media', by: ['party'] },
  { kind: 'mean', column: 'age', by: ['party'] },
  { kind: 'crosstab', columns: ['party', 'week'] },
  { kind: 'sum', column: 'age', where: [{ column: 'party', op: '=', value: 'dem' }] },
] as const;
export const valuesOf = (answer: unknown) =>
  (answer as { tables: { rows: { keys: unknown; value: number }[] }[] }).tables.map((t) =>
    t.rows.map(({ keys, value }) => [keys, value]),
  );
