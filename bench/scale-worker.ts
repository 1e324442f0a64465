import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { open } from '../src/index.js';
import { bindBatch } from '../src/query/bind.js';
import { countByDatabase } from '../src/query/count/count.js';
import { parseBatch } from '../src/query/parse.js';
import { ask } from '../test/cluster/start-cluster.js';
import { openEngine, readPolicy } from '../test/inside.js';
import { secondsOf, shuffled } from './bench.js';
import { parentOf, processorSeconds } from './processor.js';
import { type Asked, type Question, questions } from './scale-table.js';

/**
 * One engine and one table in a process of its own, so that memory can be measured: counts,
 * plain queries and releases take turns in random order.
 */
export interface Work {
  readonly policy: string;
  readonly plain: {
    readonly engine: 'DuckDB' | 'PostgreSQL' | 'Trino';
    readonly port: number;
    readonly table: string;
    /** Server processes, where they are known. */
    readonly processes?: readonly number[];
  };
  readonly rounds: number;
  /** All queries, not only those run on the largest tables. */
  readonly every: boolean;
}
export interface Took {
  /** Seconds of each round. */
  readonly counted: readonly number[];
  readonly plain: readonly number[];
  readonly bare: readonly number[];
  readonly released: readonly number[];
  /** Before noise. */
  readonly integers: readonly string[];
  /** Processor seconds of the server for each round, where the server reports them. */
  readonly processor: {
    readonly counted: readonly number[];
    readonly plain: readonly number[];
    readonly bare: readonly number[];
  };
}
export interface Told {
  /** Seconds it took to find the number of rows, once for all releases. */
  readonly size: number;
  readonly took: Readonly<Partial<Record<Asked, Took>>>;
  /** Peak memory of this process, in bytes. */
  readonly memory: number;
}

const timed = (work: () => unknown) => secondsOf(work, { warm: false })();

interface Asker {
  ask(sql: string): Promise<unknown>;
  end(): unknown;
  /** The processes of the server. */
  readonly processes: readonly number[];
}
async function asker({ engine, port, processes = [] }: Work['plain']): Promise<Asker> {
  if (engine === 'Trino') return { ask: (sql) => ask(port, sql, 'reader'), end: () => undefined, processes };
  if (engine === 'DuckDB') {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    return {
      ask: async (sql) => (await connection.runAndReadAll(sql)).getRows(),
      end: () => instance.closeSync(),
      processes: [process.pid],
    };
  }
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'reader', database: 'postgres' });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const server = parentOf(rows[0]!.pid);
  return { ask: (sql) => client.query(sql), end: () => client.end(), processes: server === undefined ? [] : [server] };
}

async function measure({ policy: file, plain, rounds, every }: Work): Promise<Told> {
  const policy = await readPolicy(file);
  const engine = await openEngine(policy, { deadline: 3_600_000, release: Number.POSITIVE_INFINITY });
  const data = await engine.snapshot();
  const fugu = await open(file, { acceptNoProtection: true });
  const own = await asker(plain);
  const size = await timed(() => data.size());
  const took: Partial<Record<Asked, Took>> = {};
  for (const [name, question] of Object.entries(questions) as [Asked, Question][]) {
    if (!every && !question.always) continue;
    const { measures } = bindBatch(parseBatch(question.query), policy);
    const count = async () => (await countByDatabase(data, policy, measures)).flatMap((cells) => cells.open().map(String));
    const rows = { counted: [] as number[], plain: [] as number[], bare: [] as number[], released: [] as number[] };
    const processor = { counted: [] as number[], plain: [] as number[], bare: [] as number[] };
    const both = async (how: keyof typeof processor, work: () => unknown) => {
      const before = processorSeconds(own.processes);
      rows[how].push(await timed(work));
      const after = processorSeconds(own.processes);
      if (before !== undefined && after !== undefined) processor[how].push(after - before);
    };
    const integers = await count();
    const { bare } = question;
    const turns = [
      () => both('plain', () => own.ask(question.plain(plain.table))),
      () => both('counted', count),
      ...(bare ? [() => both('bare', () => own.ask(bare(plain.table)))] : []),
      async () => void rows.released.push(await timed(() => fugu.release(question.query as never, { epsilon: 1, fresh: true }))),
    ];
    for (let k = 0; k < rounds; k++) for (const turn of shuffled(turns)) await turn();
    took[name] = { ...rows, integers, processor };
  }
  await own.end();
  await fugu.close();
  await data.close();
  await engine.close();
  return { size, took, memory: process.resourceUsage().maxRSS * 1024 };
}

process.once('message', (work: Work) => {
  measure(work).then(
    (told) => process.send!(told, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
