import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

/** Synthetic people and friendships, made by hashing so that every run has the same. */
export interface Town {
  readonly records: number;
  readonly ties: number;
  /** Ends of tie i as expressions over `i`: `unit(n)` is uniform in [0, 1). */
  readonly ends: readonly [string, string];
  readonly declared: string;
  readonly budget?: string;
}

const unit = (salt: number): string => `(hash(i + ${salt}) % 1000000007 / 1000000007.0)`;
const among = (n: number, where: string): string => `CAST(floor(${n} * ${where}) AS BIGINT)`;
const even = (n: number): readonly [string, string] => [among(n, unit(1)), among(n, unit(77_000_001))];

/** One common tie per person on average, loops included. */
export const random = (records: number, ties: number): Town => ({
  records,
  ties,
  ends: even(records),
  declared: '{ kind: ties, relation: friend, oddsRatio: 4 }',
});

/** Everybody is tied to an earlier person. */
export const forest = (records: number): Town => ({
  records,
  ties: records - 1,
  ends: ['i + 1', `CAST(floor((i + 1) * ${unit(1)}) AS BIGINT)`],
  declared: '{ kind: ties, relation: friend, oddsRatio: 4 }',
});

/** Ends skewed towards small numbers: `pull` 1 is uniform; the larger it is, the fewer hubs have the more ties. */
export const drawn = (records: number, ties: number, pull: number, declared: string): Town => ({
  records,
  ties,
  ends: [among(records, unit(1)), among(records, `pow(${unit(77_000_001)}, ${pull})`)],
  declared,
});

/** Writes a town with two policies, with its ties and without, for as long as `work` takes. */
export async function withTown<T>(town: Town, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  const instance = await DuckDBInstance.create(':memory:');
  try {
    const connection = await instance.connect();
    const write = async (file: string, sql: string) => {
      await connection.run(`COPY (${sql}) TO '${join(folder, file)}'`);
      await utimes(join(folder, file), 1.7e9, 1.7e9);
    };
    await write(
      'people.parquet',
      `SELECT i AS id, ['dem', 'rep', 'other', 'green'][1 + CAST(hash(i) % 4 AS INT)] AS party FROM range(${town.records}) t(i)`,
    );
    await write('friends.parquet', `SELECT ${town.ends[0]} AS a, ${town.ends[1]} AS b FROM range(${town.ties}) t(i)`);
    const policy = (dependence: string) =>
      `data: { source: people.parquet }
protect: { secret: row, unit: id }
budget: ${town.budget ?? '{ epsilon: 1 }'}
population: town
columns:
  party: { type: category, values: [dem, rep, other, green] }
relations:
  friend: { table: friends.parquet, columns: [a, b], domain: ${town.records}, symmetric: true }
dependence: ${dependence}
`;
    await writeFile(join(folder, 'tied.yaml'), `ledger: tied.db\n${policy(`[${town.declared}]`)}`);
    await writeFile(join(folder, 'untied.yaml'), `ledger: untied.db\n${policy('none')}`);
    return await work(folder);
  } finally {
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}
