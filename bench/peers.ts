import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askPeer, peerMissing } from '../experiments/peer.js';
import { buildGraph } from '../src/analysis/pattern/graph/csr.js';
import { countTriangles } from '../src/analysis/pattern/graph/subgraph-counts.js';
import { parseRational } from '../src/base/exact/rational.js';
import { standardDeviation } from '../src/privacy/mechanism/half-width.js';
import { laplaceNumbers } from '../src/privacy/noise/discrete-laplace.js';
import { type Bench, type Goal, type Measured, secondsPer } from './bench.js';
import { makeEdges, nodes } from './graph.js';
import { withRelease } from './release.js';

/** Python libraries to compare with, each timed in its own process in the same run (peers/README.md). */
interface OpenDp {
  readonly histogram: number;
  readonly count: number;
  /** Scale of the noise on one count at epsilon 1. */
  readonly scale: number;
  readonly draw: number;
}
interface Igraph {
  readonly build: number;
  readonly count: number;
  readonly triangles: number;
}

const rows = 10_000_000;
const once = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
};
const openDp = once(() => askPeer<OpenDp>('opendp', { rows }));

/** Ties for both programs, and the output of igraph. */
const ties = once(async () => {
  const edges = makeEdges();
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  try {
    const ends = new Uint32Array(2 * edges.from.length);
    for (const [i, a] of edges.from.entries()) ends.set([a, edges.to[i]!], 2 * i);
    await writeFile(join(folder, 'ends'), ends);
    return { ...edges, found: await askPeer<Igraph>('igraph', { ends: join(folder, 'ends'), nodes }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

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
let turn = 0;
const released = (name: string, query: object, of: (found: OpenDp) => number): Bench =>
  beside('opendp', `${name} of 10M rows of parquet, add-or-remove, durable ledger included`, () =>
    withRelease(
      rows,
      'parquet',
      async (session) => {
        const release = () => session.release({ ...query, name: `q${turn++}` }, { epsilon: '1' });
        return {
          ours: await secondsPer(release, { rounds: 7 }),
          peer: { name: 'OpenDP, numbers it holds in memory', seconds: of(await openDp()) },
        };
      },
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
      async (session) => {
        const { errors } = await session.plan({ kind: 'count' }, { epsilon: '1' });
        const { scale } = await openDp();
        return {
          ours: errors[0]!.standardError,
          peer: { name: 'OpenDP', seconds: standardDeviation({ kind: 'laplace', scale }) },
          unit: 'records',
        };
      },
      addRemove,
    ),
  { ratio: 1 },
);

const draw = beside('opendp', 'discrete Laplace, scale 10, one draw, beside OpenDP', async () => {
  const own = laplaceNumbers(parseRational('10')).draw;
  const calls = 40_000;
  const ours = await secondsPer(
    () => {
      for (let i = 0; i < calls; i++) own();
    },
    { rounds: 12, calls },
  );
  return { ours, peer: { name: 'OpenDP, in vectors of 20,000', seconds: (await openDp()).draw } };
});

const triangleBench = (name: string, built: boolean, goal?: Goal): Bench =>
  beside(
    'igraph',
    name,
    async () => {
      const { from, to, found } = await ties();
      const graph = buildGraph(nodes, from, to);
      const ours = await secondsPer(() => {
        if (countTriangles(built ? graph : buildGraph(nodes, from, to)) !== BigInt(found.triangles))
          throw new Error('the counts differ');
      });
      return { ours, peer: { name: 'igraph', seconds: built ? found.count : found.build + found.count } };
    },
    goal,
  );

export const benches: readonly Bench[] = [
  released('histogram', { kind: 'histogram', column: 'party' }, ({ histogram }) => histogram),
  released('count', { kind: 'count' }, ({ count }) => count),
  noiseOfCount,
  draw,
  triangleBench('triangles of 1M edges, graph built and counted, beside igraph', false, { ratio: 0.5 }),
  triangleBench('triangles of 1M edges on the built graph', true),
];
