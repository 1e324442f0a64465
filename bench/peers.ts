import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPeer, type PeerProcess, peerMissing } from '../experiments/peer.js';
import { buildGraph } from '../src/analysis/pattern/graph/csr.js';
import { countTriangles } from '../src/analysis/pattern/graph/subgraph-counts.js';
import { parseRational } from '../src/base/exact/rational.js';
import { standardDeviation } from '../src/privacy/mechanism/half-width.js';
import { laplaceNumbers } from '../src/privacy/noise/discrete-laplace.js';
import { type Bench, type Goal, inPairs, type Measured, type Measurement, secondsOf } from './bench.js';
import { makeEdges, nodes } from './graph.js';
import { fresh, withRelease } from './release.js';

/** Python libraries to compare with, each in a process of its own that is timed in the same rounds (peers/README.md). */
const rows = 10_000_000;

/** The library's own seconds for a piece of work, after one run that does not count. */
const peerSeconds =
  (peer: PeerProcess, work: string, calls = 1): Measurement =>
  async () => {
    await peer.ask({ time: work });
    return (await peer.ask<number>({ time: work })) / calls;
  };

async function withOpenDp<T>(work: (peer: PeerProcess, scale: number) => Promise<T>, held = rows): Promise<T> {
  const peer = openPeer('opendp');
  try {
    const { scale } = await peer.ask<{ readonly scale: number }>({ rows: held });
    return await work(peer, scale);
  } finally {
    peer.end();
  }
}

/** The same ties for both programs, and the number of triangles that igraph finds. */
async function withIgraph<T>(
  work: (peer: PeerProcess, ties: ReturnType<typeof makeEdges>, triangles: bigint) => Promise<T>,
): Promise<T> {
  const edges = makeEdges();
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  const peer = openPeer('igraph');
  try {
    const ends = new Uint32Array(2 * edges.from.length);
    for (const [i, a] of edges.from.entries()) ends.set([a, edges.to[i]!], 2 * i);
    await writeFile(join(folder, 'ends'), ends);
    const { triangles } = await peer.ask<{ readonly triangles: number }>({ ends: join(folder, 'ends'), nodes });
    return await work(peer, edges, BigInt(triangles));
  } finally {
    peer.end();
    await rm(folder, { recursive: true, force: true });
  }
}

const beside = (library: 'opendp' | 'igraph', name: string, run: () => Promise<Measured>, goal?: Goal): Bench => ({
  name,
  ...(goal && { goal }),
  run: async () => {
    const missing = await peerMissing(library);
    return missing ? { skipped: missing } : run();
  },
});

/** Under add-remove neighbours, as OpenDP defines them. */
const addRemove = 'secret: row, neighbours: add-remove';
const released = (name: 'histogram' | 'count', query: object): Bench =>
  beside('opendp', `${name} of 10M rows of parquet, add-or-remove, durable ledger included`, () =>
    withRelease(
      rows,
      'parquet',
      (session) =>
        withOpenDp((peer) =>
          inPairs(
            secondsOf(() => session.release(query, fresh)),
            'OpenDP, numbers it holds in memory',
            peerSeconds(peer, name),
          ),
        ),
      addRemove,
    ),
  );

const noiseOfCount = beside(
  'opendp',
  'noise of one count at epsilon 1, add-or-remove: standard deviation',
  () =>
    withRelease(
      3000,
      'parquet',
      async (session): Promise<Measured> => {
        const { errors } = await session.plan({ kind: 'count' }, { epsilon: '1' });
        const theirs = await withOpenDp(async (_, scale) => standardDeviation({ kind: 'laplace', scale }), 1);
        return { ours: [errors[0]!.standardError], peer: { name: 'OpenDP', rounds: [theirs] }, unit: 'records', exact: true };
      },
      addRemove,
    ),
  { ratio: 1 },
);

const draw = beside('opendp', 'discrete Laplace, scale 10, one draw, beside OpenDP', () => {
  const calls = 40_000;
  const own = laplaceNumbers(parseRational('10')).draw;
  const draws = () => {
    for (let i = 0; i < calls; i++) own();
  };
  const vector = 20_000;
  return withOpenDp(
    (peer) => inPairs(secondsOf(draws, { calls }), 'OpenDP, in vectors of 20,000', peerSeconds(peer, 'draws', vector), 25),
    1,
  );
});

const triangleBench = (name: string, built: boolean, goal?: Goal): Bench =>
  beside(
    'igraph',
    name,
    () =>
      withIgraph((peer, { from, to }, triangles) => {
        const graph = buildGraph(nodes, from, to);
        const ours = secondsOf(() => {
          if (countTriangles(built ? graph : buildGraph(nodes, from, to)) !== triangles) throw new Error('the counts differ');
        });
        return inPairs(ours, 'igraph', peerSeconds(peer, built ? 'count' : 'build and count'));
      }),
    goal,
  );

export const benches: readonly Bench[] = [
  released('histogram', { kind: 'histogram', column: 'party' }),
  released('count', { kind: 'count' }),
  noiseOfCount,
  draw,
  triangleBench('triangles of 1M edges, graph built and counted, beside igraph', false, { ratio: 0.5 }),
  triangleBench('triangles of 1M edges on the built graph', true),
];
