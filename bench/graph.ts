import { DuckDBInstance } from '@duckdb/node-api';
import { rational } from '../src/exact/rational.js';
import { ladderSampler } from '../src/noise/ladder.js';
import { cliques, triangles } from '../src/pattern/graph/counts.js';
import { buildGraph } from '../src/pattern/graph/csr.js';
import { analysePattern, schemaFromText } from '../src/pattern/query/analyse.js';
import { type Bench, secondsPer } from './bench.js';

const nodes = 200_000;
const wanted = 1_000_000;

/** A repeatable graph with hubs: ends drawn as the square of a uniform number. */
function makeEdges(): { from: Uint32Array; to: Uint32Array } {
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

/** Towards the busier end: what makes the SQL of triangles and cliques fast, too. */
const oriented = `d AS (SELECT v, COUNT(*) AS n FROM (SELECT a AS v FROM e UNION ALL SELECT b FROM e) GROUP BY v),
  o AS (SELECT CASE WHEN (x.n, a) < (y.n, b) THEN a ELSE b END AS u, CASE WHEN (x.n, a) < (y.n, b) THEN b ELSE a END AS w
        FROM e JOIN d x ON x.v = a JOIN d y ON y.v = b)`;
const triangleSql = `WITH ${oriented} SELECT COUNT(*) FROM o p JOIN o q ON p.w = q.u JOIN o r ON r.u = p.u AND r.w = q.w`;
/** Staged: pairs of triangles on one edge whose third corners are joined. A six-way join does not come back. */
const cliqueSql = `WITH ${oriented}, t AS MATERIALIZED (SELECT p.u AS x, p.w AS y, q.w AS z FROM o p JOIN o q ON p.w = q.u JOIN o r ON r.u = p.u AND r.w = q.w)
  SELECT COUNT(*) FROM t s JOIN t k ON s.x = k.x AND s.y = k.y JOIN o l ON l.u = s.z AND l.w = k.z`;

/** The peer takes seconds, so it runs once cold and once warm, and the better one counts. */
const against = (name: string, sql: string, count: (from: Uint32Array, to: Uint32Array) => bigint, ratio: number): Bench => ({
  name,
  goal: { ratio },
  run: () =>
    withEdges(async (run, { from, to }) => {
      let [ours, peer] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let round = 0; round < 2; round++) {
        const start = performance.now();
        const theirs = BigInt((await run(sql))[0]![0] as bigint);
        peer = Math.min(peer, (performance.now() - start) / 1000);
        const mine = await secondsPer(() => {
          if (count(from, to) !== theirs) throw new Error('the counts differ');
        });
        ours = Math.min(ours, mine);
      }
      return { ours, peer: { name: 'DuckDB, oriented SQL', seconds: peer } };
    }),
});

export const benches: readonly Bench[] = [
  against(
    'triangles of 1M edges, graph built and counted',
    triangleSql,
    (from, to) => triangles(buildGraph(nodes, from, to)),
    0.1,
  ),
  against(
    '4-cliques of 1M edges, graph built and counted',
    cliqueSql,
    (from, to) => cliques(buildGraph(nodes, from, to), 4),
    0.1,
  ),
  {
    name: 'stability of six goals and six variables',
    goal: { seconds: 0.05 },
    run: async () => {
      const text = 'q() :- R(a,b), R(b,c), R(c,d), R(d,e), R(e,f), R(f,a)';
      const schema = schemaFromText(text, 10_000);
      return { ours: await secondsPer(() => analysePattern(text, schema)) };
    },
  },
  {
    name: 'one exact draw of the ladder at epsilon 0.1',
    goal: { seconds: 0.01 },
    run: async () => {
      const draw = ladderSampler({ width: (t) => BigInt(Math.min(50 + t, 23_131)), widest: 23_131n }, rational(1, 20));
      return { ours: await secondsPer(() => draw()) };
    },
  },
];
