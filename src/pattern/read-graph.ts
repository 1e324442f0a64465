import type { Engine } from '../engine/engine.js';
import { Exact } from '../engine/exact.js';
import { quoteName } from '../engine/structure.js';
import { buildGraph, type Graph } from './graph/csr.js';

/** A relation of two columns as an undirected graph, kept for as long as the data stays what it is. */
const kept = new WeakMap<Engine, Map<string, { snapshot: string; graph: Graph }>>();

export async function readGraph(engine: Engine, relation: string): Promise<Exact<Graph>> {
  const snapshot = await engine.snapshot();
  const mine = kept.get(engine) ?? new Map<string, { snapshot: string; graph: Graph }>();
  kept.set(engine, mine);
  const known = mine.get(relation);
  if (known?.snapshot === snapshot) return new Exact(known.graph);
  const graph = await fetchGraph(engine, relation);
  mine.set(relation, { snapshot, graph });
  return new Exact(graph);
}

async function fetchGraph(engine: Engine, relation: string): Promise<Graph> {
  // Both ways round are one tie, and a symmetric relation holds both.
  const symmetric = engine.source.relations.some((r) => r.name === relation && r.symmetric);
  const sql = `SELECT c0, c1 FROM ${quoteName(`fugu_relation_${relation}`)}${symmetric ? ' WHERE c0 < c1' : ''}`;
  const from = new Grown();
  const to = new Grown();
  for await (const chunk of engine.stream({ sql, values: [], numbered: true })) {
    const { rows, stored, columns } = chunk.open();
    from.append(stored?.[0]?.items ?? (columns[0] as ArrayLike<number>), rows);
    to.append(stored?.[1]?.items ?? (columns[1] as ArrayLike<number>), rows);
  }
  const last = Math.max(from.largest, to.largest);
  return buildGraph(last + 1, from.values(), to.values());
}

/** A typed array that doubles. */
class Grown {
  private list = new Uint32Array(1 << 16);
  private size = 0;
  /** -1 when there is none. */
  largest = -1;
  append(items: ArrayLike<number>, count: number): void {
    if (this.size + count > this.list.length) {
      const wider = new Uint32Array(2 * (this.size + count));
      wider.set(this.list);
      this.list = wider;
    }
    for (let i = 0; i < count; i++) {
      const x = items[i]!;
      if (x > this.largest) this.largest = x;
      this.list[this.size++] = x;
    }
  }
  values(): Uint32Array {
    return this.list.subarray(0, this.size);
  }
}
