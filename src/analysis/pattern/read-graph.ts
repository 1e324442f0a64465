import type { Cell, Engine } from '../../engine/engine.js';
import { Exact } from '../../engine/exact.js';
import { quoteName } from '../../engine/structure.js';
import { buildGraph, type Graph } from '../graph/csr.js';

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
  const numbers = new Numbering();
  const from = new Grown();
  const to = new Grown();
  for await (const chunk of engine.stream({ sql: `SELECT c0, c1 FROM ${quoteName(`fugu_relation_${relation}`)}`, values: [] })) {
    const { rows, columns } = chunk.open();
    const [a, b] = [columns[0]!, columns[1]!];
    for (let r = 0; r < rows; r++) {
      from.push(numbers.of(a[r]!));
      to.push(numbers.of(b[r]!));
    }
  }
  return buildGraph(numbers.size, from.values(), to.values());
}

/** Values in the order they are met. Small whole numbers, the usual names of nodes, are looked up in an array. */
class Numbering {
  size = 0;
  private readonly named = new Map<Cell, number>();
  private small = new Uint32Array(0);

  of(value: Cell): number {
    if (typeof value === 'number' && value >= 0 && value < 1 << 26 && Number.isInteger(value)) return this.ofSmall(value);
    const known = this.named.get(value);
    if (known !== undefined) return known;
    this.named.set(value, this.size);
    return this.size++;
  }

  private ofSmall(value: number): number {
    if (value >= this.small.length) {
      const wider = new Uint32Array(Math.max(1 << 16, 2 * value + 1));
      wider.set(this.small);
      this.small = wider;
    }
    // Zero means not met yet.
    const known = this.small[value]!;
    if (known !== 0) return known - 1;
    this.small[value] = this.size + 1;
    return this.size++;
  }
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
