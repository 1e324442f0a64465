import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodePair } from '../query/ladders.js';
import { commonNeighbourPairs, maxCommonNeighbours } from './common-neighbours.js';
import { buildGraph, degreeOf, type Graph } from './csr.js';

type Edge = readonly [number, number];
const build = (n: number, edges: readonly Edge[]): Graph =>
  buildGraph(
    n,
    Uint32Array.from(edges, (e) => e[0]),
    Uint32Array.from(edges, (e) => e[1]),
  );

/** Scan of every pair of nodes at two steps: the reference for the search. */
function byScan(g: Graph): { most: number; pairs: readonly NodePair[] } {
  const best = new Map<number, number>();
  for (let i = 0; i < g.nodes; i++) {
    const near = g.targets.subarray(g.offsets[i]!, g.offsets[i + 1]!);
    const paths = new Map<number, number>();
    for (const u of near)
      for (const j of g.targets.subarray(g.offsets[u]!, g.offsets[u + 1]!)) if (j > i) paths.set(j, (paths.get(j) ?? 0) + 1);
    for (const [j, common] of paths) {
      const single = degreeOf(g, i) + degreeOf(g, j) - 2 * common - (near.includes(j) ? 2 : 0);
      if (single > (best.get(common) ?? -1)) best.set(common, single);
    }
  }
  const kept: NodePair[] = [];
  let reach = -1;
  for (const [common, single] of [...best].sort((a, b) => b[0] - a[0]))
    if (2 * common + single > reach) {
      reach = 2 * common + single;
      kept.push({ common, single });
    }
  return { most: Math.max(0, ...best.keys()), pairs: kept };
}

const node = (n: number) => fc.nat(n - 1);
const edges = (n: number, most: number) => fc.array(fc.tuple(node(n), node(n)), { maxLength: most });
/** Hubs tied to everybody or to every other node, on top of a sparse graph: the pairs that the search skips. */
const withHubs = fc
  .tuple(edges(60, 120), fc.array(fc.tuple(node(60), fc.integer({ min: 1, max: 3 })), { maxLength: 4 }))
  .map(([some, hubs]): Edge[] => [
    ...some,
    ...hubs.flatMap(([hub, every]) => Array.from({ length: 60 }, (_, v): Edge => [hub, v]).filter(([, v]) => v % every === 0)),
  ]);
/** Cliques, some of them overlapping. */
const cliques = fc
  .array(fc.uniqueArray(node(40), { minLength: 2, maxLength: 9 }), { maxLength: 8 })
  .map((groups) => groups.flatMap((all) => all.flatMap((a) => all.filter((b) => b > a).map((b): Edge => [a, b]))));

describe('the search for pairs with common neighbours', () => {
  it.each([
    ['sparse and dense graphs', edges(30, 200), 30],
    ['graphs with hubs', withHubs, 60],
    ['overlapping groups', cliques, 40],
    ['groups with hubs', fc.tuple(cliques, withHubs).map(([a, b]) => [...a, ...b]), 60],
  ] as const)('the search finds what a scan of all pairs finds, in %s', (_, graphs, n) => {
    fc.assert(
      fc.property(graphs, (list) => {
        const g = build(n, list as readonly Edge[]);
        const { most, pairs } = byScan(g);
        expect(commonNeighbourPairs(g)).toEqual(pairs);
        expect(maxCommonNeighbours(g)).toBe(most);
      }),
      { numRuns: 300, seed: 5 },
    );
  });

  it('the search time is proportional to the ties of a hub, not to their square', () => {
    /** A hub tied to everybody, and everybody to three neighbours on a ring: about 80,000 ties of the hub would be 3e9 pairs. */
    const ring = (n: number): Graph =>
      build(n + 1, [
        ...Array.from({ length: n }, (_, v): Edge => [n, v]),
        ...[1, 2, 5].flatMap((step) => Array.from({ length: n }, (_, v): Edge => [v, (v + step) % n])),
      ]);
    const g = ring(80_000);
    const start = process.cpuUsage();
    expect(commonNeighbourPairs(g).length).toBeGreaterThan(0);
    expect(maxCommonNeighbours(g)).toBe(6);
    expect(process.cpuUsage(start).user).toBeLessThan(4e6);
  });
});
