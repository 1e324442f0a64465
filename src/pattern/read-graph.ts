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
  const numbers = new Map<string, number>();
  const number = (name: string): number => {
    const known = numbers.get(name) ?? numbers.size;
    if (known === numbers.size) numbers.set(name, known);
    return known;
  };
  const from = new Grown();
  const to = new Grown();
  for await (const chunk of engine.stream({ sql: `SELECT c0, c1 FROM ${quoteName(`fugu_relation_${relation}`)}`, values: [] })) {
    const { rows, columns } = chunk.open();
    const [a, b] = [columns[0]!, columns[1]!];
    for (let r = 0; r < rows; r++) {
      from.push(number(a[r] as string));
      to.push(number(b[r] as string));
    }
  }
  return buildGraph(numbers.size, from.values(), to.values());
}

/** A typed array that doubles. */
class Grown {
  private list = new Uint32Array(1 << 16);
  private size = 0;
  push(x: number): void {
    if (this.size === this.list.length) {
      const wider = new Uint32Array(2 * this.size);
      wider.set(this.list);
      this.list = wider;
    }
    this.list[this.size++] = x;
  }
  values(): Uint32Array {
    return this.list.subarray(0, this.size);
  }
}
