import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { buildGraph } from '../src/analysis/pattern/graph/csr.js';
import { countCliques, countTriangles } from '../src/analysis/pattern/graph/subgraph-counts.js';
import { analysePatternText, schemaFromText } from '../src/analysis/pattern/query/analyse.js';
import { releasePattern } from '../src/analysis/pattern/release.js';
import { rational } from '../src/base/exact/rational.js';
import { openEngine } from '../src/data/terms/open.js';
import { readPolicy } from '../src/data/terms/read.js';
import { ladderSampler } from '../src/privacy/noise/ladder.js';
import { openLedger } from '../src/release/ledger/open.js';
import { createSession } from '../src/release/session/session.js';
import { type Bench, few, type Goal, repeat, timed, timedBeside } from './bench.js';

export const nodes = 200_000;
const wanted = 1_000_000;

/** A repeatable graph with hubs: ends drawn as the square of a uniform number. */
export function makeEdges(): { from: Uint32Array; to: Uint32Array } {
  const from = new Uint32Array(wanted);
  const to = new Uint32Array(wanted);
  const seen = new Set<number>();
  let state = 12345;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  while (seen.size < wanted) {
    const a = Math.floor(nodes * next() ** 2);
    const b = Math.floor(nodes * next() ** 2);
    const key = Math.min(a, b) * nodes + Math.max(a, b);
    if (a === b || seen.has(key)) continue;
    from[seen.size] = Math.min(a, b);
    to[seen.size] = Math.max(a, b);
    seen.add(key);
  }
  return { from, to };
}

async function withEdges<T>(
  work: (run: (sql: string) => Promise<unknown[][]>, edges: ReturnType<typeof makeEdges>) => Promise<T>,
): Promise<T> {
  const edges = makeEdges();
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run('CREATE TABLE e(a INTEGER, b INTEGER)');
  const appender = await connection.createAppender('e');
  for (let i = 0; i < wanted; i++) {
    appender.appendInteger(edges.from[i]!);
    appender.appendInteger(edges.to[i]!);
    appender.endRow();
  }
  appender.closeSync();
  try {
    return await work(async (sql) => (await connection.runAndReadAll(sql)).getRows() as unknown[][], edges);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Directs ties towards the busier end, which makes the SQL of triangles and cliques fast, too. */
const oriented = `d AS (SELECT v, COUNT(*) AS n FROM (SELECT a AS v FROM e UNION ALL SELECT b FROM e) GROUP BY v),
  o AS (SELECT CASE WHEN (x.n, a) < (y.n, b) THEN a ELSE b END AS u, CASE WHEN (x.n, a) < (y.n, b) THEN b ELSE a END AS w
        FROM e JOIN d x ON x.v = a JOIN d y ON y.v = b)`;
const triangleSql = `WITH ${oriented} SELECT COUNT(*) FROM o p JOIN o q ON p.w = q.u JOIN o r ON r.u = p.u AND r.w = q.w`;
/** In stages: pairs of triangles on one edge whose third corners are joined. A six-way join does not finish. */
const cliqueSql = `WITH ${oriented}, t AS MATERIALIZED (SELECT p.u AS x, p.w AS y, q.w AS z FROM o p JOIN o q ON p.w = q.u JOIN o r ON r.u = p.u AND r.w = q.w)
  SELECT COUNT(*) FROM t s JOIN t k ON s.x = k.x AND s.y = k.y JOIN o l ON l.u = s.z AND l.w = k.z`;

const against = (name: string, sql: string, count: (from: Uint32Array, to: Uint32Array) => bigint, ratio: number): Bench => ({
  name,
  goal: { ratio },
  run: () =>
    withEdges(async (run, { from, to }) => {
      const theirs = BigInt((await run(sql))[0]![0] as bigint);
      const ours = () => {
        if (count(from, to) !== theirs) throw new Error('the counts differ');
      };
      return timedBeside('DuckDB, oriented SQL', ours, () => run(sql), { rounds: few });
    }),
});

type Edges = readonly (readonly [number, number])[];

/**
 * A whole release of triangles (ledger, count, ladder noise, draw) from an open table,
 * compared with building the graph and counting alone.
 */
const releaseOf = (name: string, make: () => Edges, goal?: Goal): Bench => ({
  name,
  ...(goal && { goal }),
  run: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
    try {
      const edges = make();
      const people = edges.reduce((most, e) => Math.max(most, ...e), 0) + 1;
      await writeFile(join(folder, 'people.csv'), 'id\n1\n');
      await writeFile(join(folder, 'friends.csv'), `a,b\n${edges.map((e) => e.join()).join('\n')}\n`);
      await writeFile(
        join(folder, 'policy.yaml'),
        `data: { source: people.csv }\nprotect: { secret: edge }\nbudget: { epsilon: 1000000 }\npopulation: bench\nledger: ledger.db\ndependence: none\nrelations:\n  friend: { table: friends.csv, columns: [a, b], domain: 50000, symmetric: true }\n`,
      );
      const policy = await readPolicy(join(folder, 'policy.yaml'));
      const engine = await openEngine(policy);
      const ledger = await openLedger(policy.ledger);
      const session = await createSession({ policy, engine, ledger });
      const [from, to] = [Uint32Array.from(edges, (e) => e[0]), Uint32Array.from(edges, (e) => e[1])];
      const measured = await timedBeside(
        'the graph built and counted',
        repeat(4, () => releasePattern(session, 'triangles', { epsilon: '1', fresh: true })),
        repeat(4, () => countTriangles(buildGraph(people, from, to))),
        { calls: 4 },
      );
      await ledger.close();
      await engine.close();
      return measured;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

/** 20,000 people and 100,000 ties, near and random ones, some people with many. */
function village(): Edges {
  let state = 7;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: 100_000 }, (_, k) => {
    const a = Math.floor(20_000 * next() ** 2);
    return [a, k % 2 ? Math.floor(20_000 * next()) : (a + 1 + Math.floor(12 * next())) % 20_000] as const;
  }).filter(([a, b]) => a !== b);
}
/** A graph with one hub tied to everybody, and six neighbours for everybody on a ring. */
const hub = (ties: number): Edges =>
  Array.from({ length: ties }, (_, v) => v).flatMap((v) => [
    [ties, v] as const,
    ...[1, 2, 5].map((s) => [v, (v + s) % ties] as const),
  ]);

export const benches: readonly Bench[] = [
  releaseOf('triangles of 100,000 ties, whole release', village, { seconds: 0.025 }),
  releaseOf('triangles with a hub of 20,000 ties, whole release', () => hub(20_000)),
  releaseOf('triangles with a hub of 40,000 ties, whole release', () => hub(40_000), { seconds: 0.1 }),
  against(
    'triangles of 1M edges, graph built and counted',
    triangleSql,
    (from, to) => countTriangles(buildGraph(nodes, from, to)),
    0.1,
  ),
  against(
    '4-cliques of 1M edges, graph built and counted',
    cliqueSql,
    (from, to) => countCliques(buildGraph(nodes, from, to), 4),
    0.1,
  ),
  {
    name: 'stability of six goals and six variables',
    goal: { seconds: 0.05 },
    run: async () => {
      const text = 'q() :- R(a,b), R(b,c), R(c,d), R(d,e), R(e,f), R(f,a)';
      const schema = schemaFromText(text, 10_000);
      return timed(() => analysePatternText(text, schema), { rounds: 25 });
    },
  },
  {
    name: 'one exact draw of the ladder at epsilon 0.1',
    run: async () => {
      const draw = ladderSampler({ width: (t) => BigInt(Math.min(50 + t, 23_131)), widest: 23_131n }, rational(1, 20));
      const calls = 1000;
      const draws = () => {
        for (let i = 0; i < calls; i++) draw();
      };
      return timed(draws, { rounds: 25, calls });
    },
  },
];
