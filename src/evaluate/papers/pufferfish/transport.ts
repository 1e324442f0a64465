/** True if `supply` can be moved to `demand` (equal totals) along allowed pairs only: bipartite maximum flow in exact integers (Dinic). */
export function canTransport(
  supply: readonly bigint[],
  demand: readonly bigint[],
  allowed: (from: number, to: number) => boolean,
): boolean {
  const source = 0;
  const sink = supply.length + demand.length + 1;
  const network = new Network(sink + 1);
  for (const [s, amount] of supply.entries()) network.connect(source, 1 + s, amount);
  for (const [d, amount] of demand.entries()) network.connect(1 + supply.length + d, sink, amount);
  for (const [s, from] of supply.entries())
    for (const [d, to] of demand.entries()) if (allowed(s, d)) network.connect(1 + s, 1 + supply.length + d, lesser(from, to));
  return network.flow(source, sink) === supply.reduce((sum, x) => sum + x, 0n);
}

/** Math.min knows no bigint. */
export function lesser(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

class Network {
  readonly #heads: number[] = [];
  readonly #rooms: bigint[] = [];
  readonly #edges: number[][];
  constructor(nodes: number) {
    this.#edges = Array.from({ length: nodes }, () => []);
  }

  connect(from: number, to: number, capacity: bigint): void {
    this.#edges[from]!.push(this.#heads.length);
    this.#heads.push(to);
    this.#rooms.push(capacity);
    this.#edges[to]!.push(this.#heads.length);
    this.#heads.push(from);
    this.#rooms.push(0n);
  }

  flow(source: number, sink: number): bigint {
    let total = 0n;
    for (let levels = this.#levels(source); levels[sink]! >= 0; levels = this.#levels(source)) {
      const search = { sink, levels, tried: this.#edges.map(() => 0) };
      for (let pushed = this.#push(source, undefined, search); pushed > 0n; pushed = this.#push(source, undefined, search))
        total += pushed;
    }
    return total;
  }

  #levels(source: number): number[] {
    const levels = this.#edges.map(() => -1);
    levels[source] = 0;
    const queue = [source];
    for (const node of queue)
      for (const edge of this.#edges[node]!)
        if (this.#rooms[edge]! > 0n && levels[this.#heads[edge]!]! < 0) {
          levels[this.#heads[edge]!] = levels[node]! + 1;
          queue.push(this.#heads[edge]!);
        }
    return levels;
  }

  #push(
    node: number,
    capacity: bigint | undefined,
    search: { readonly sink: number; readonly levels: readonly number[]; readonly tried: number[] },
  ): bigint {
    const { sink, levels, tried } = search;
    if (node === sink) return capacity ?? 0n;
    for (; tried[node]! < this.#edges[node]!.length; tried[node]!++) {
      const edge = this.#edges[node]![tried[node]!]!;
      const next = this.#heads[edge]!;
      const left = this.#rooms[edge]!;
      if (left === 0n || levels[next] !== levels[node]! + 1) continue;
      const pushed = this.#push(next, capacity === undefined || left < capacity ? left : capacity, search);
      if (pushed === 0n) continue;
      this.#rooms[edge]! -= pushed;
      this.#rooms[edge ^ 1]! += pushed;
      return pushed;
    }
    return 0n;
  }
}
