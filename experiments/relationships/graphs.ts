import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { buildGraph, type Graph } from '../../src/analysis/pattern/graph/csr.js';
import { publicData } from '../data.js';

/** The public graphs next to the repository, if present; otherwise a synthetic one, so that the experiment always runs. */
const place = publicData('graphs/');

export interface NamedGraph {
  readonly name: string;
  readonly graph: Graph;
  readonly edges: readonly (readonly [number, number])[];
}

export function readGraphs(): readonly NamedGraph[] {
  if (!place) return [madeUp()];
  return readdirSync(place)
    .filter((f) => f.endsWith('.txt.gz'))
    .map((file) => {
      const text = gunzipSync(readFileSync(new URL(file, place))).toString();
      return named(
        file.replace('.txt.gz', ''),
        text
          .split('\n')
          .filter((line) => /^\d/.test(line))
          .map((line) => line.split(/\s+/).slice(0, 2).map(Number) as [number, number]),
      );
    });
}

/** Nodes are renumbered 0, 1, …; the public domain is taken to be exactly the nodes, as the papers do. */
function named(name: string, edges: readonly (readonly [number, number])[]): NamedGraph {
  const ids = new Map<number, number>();
  const id = (v: number) => {
    if (!ids.has(v)) ids.set(v, ids.size);
    return ids.get(v)!;
  };
  const renumbered = edges.map(([a, b]) => [id(a), id(b)] as const);
  return {
    name,
    edges: renumbered,
    graph: buildGraph(
      ids.size,
      Uint32Array.from(renumbered, (e) => e[0]),
      Uint32Array.from(renumbered, (e) => e[1]),
    ),
  };
}

/** Each newcomer ties to three earlier ones, preferring friends of friends. */
function madeUp(): NamedGraph {
  const edges: [number, number][] = [
    [0, 1],
    [1, 2],
    [2, 0],
  ];
  let state = 7;
  const below = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % n;
  };
  for (let v = 3; v < 5000; v++) {
    const [a, b] = edges[below(edges.length)]!;
    edges.push([v, a], [v, b], [v, edges[below(edges.length)]![0]]);
  }
  return named('made-up', edges);
}
