import { Fault } from '../../base/errors.js';
import type { Snapshot } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import type { EngineSource } from '../../data/engine/source.js';
import { relationView } from '../../data/engine/structure.js';
import { buildGraph, type Graph } from './graph/csr.js';

/** Both ends as read, as sorted, and the names of the ends. */
export const bytesPerTie = 100;

/**
 * Fault of a graph beyond memory. The number of ties is secret: a plan states the capacity, and the fault does not state their
 * number.
 */
const tooManyTies = () =>
  new Fault(
    'ENGINE_MEMORY',
    'The ties of a relation are more than can be held here.',
    'Set FUGU_MEMORY if the machine has more.',
  );

/** Graphs of relations of two columns, cached by opened source and content for as long as the data is unchanged. */
const graphCache = new WeakMap<EngineSource, Map<string, { id: string; graph: Graph }>>();

export async function readGraph(engine: Snapshot, relation: string): Promise<Exact<Graph>> {
  const id = await engine.id();
  const mine = graphCache.get(engine.source) ?? new Map<string, { id: string; graph: Graph }>();
  graphCache.set(engine.source, mine);
  const known = mine.get(relation);
  if (known?.id === id) return new Exact(known.graph);
  const graph = await fetchGraph(engine, relation);
  mine.set(relation, { id, graph });
  return new Exact(graph);
}

async function fetchGraph(engine: Snapshot, relation: string): Promise<Graph> {
  // Both directions are one tie, and a symmetric relation holds both.
  const symmetric = engine.source.relations.some((r) => r.name === relation && r.symmetric);
  const sql = `SELECT c0, c1 FROM ${relationView(relation)}${symmetric ? ' WHERE c0 < c1' : ''}`;
  const from = new GrowingArray();
  const to = new GrowingArray();
  let ties = 0;
  for await (const chunk of engine.stream({ sql, values: [], numbered: true })) {
    const { rows, stored, columns } = chunk.open();
    ties += rows;
    if (ties * bytesPerTie > engine.room) throw tooManyTies();
    from.append(stored?.[0]?.items ?? (columns[0] as ArrayLike<number>), rows);
    to.append(stored?.[1]?.items ?? (columns[1] as ArrayLike<number>), rows);
  }
  const last = Math.max(from.largest, to.largest);
  return buildGraph(last + 1, from.values(), to.values());
}

/** A typed array that doubles. */
class GrowingArray {
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
