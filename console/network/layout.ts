export interface Node {
  readonly id: number;
  readonly degree: number;
  /** Latent variable: what several records share and nobody observes. */
  readonly kind?: string | undefined;
}
export interface Edge {
  readonly a: number;
  readonly b: number;
  readonly kind: string;
  readonly oddsRatio: number | 'inf' | '-inf' | null;
}
export interface NodePosition extends Node {
  readonly x: number;
  readonly y: number;
}

/**
 * Force layout of a network: ties attract, other pairs repel, and all are drawn to the middle. Records start on a spiral,
 * not at random, so the same network gives the same picture.
 */
export function layout(nodes: readonly Node[], edges: readonly Edge[], rounds = 140): readonly NodePosition[] {
  const turn = Math.PI * (3 - Math.sqrt(5));
  const order = componentOrder(nodes, edges);
  const [x, y] = [new Float64Array(nodes.length), new Float64Array(nodes.length)];
  order.forEach((k, place) => {
    x[k] = 8 * Math.sqrt(place + 0.5) * Math.cos(place * turn);
    y[k] = 8 * Math.sqrt(place + 0.5) * Math.sin(place * turn);
  });
  const at = new Map(nodes.map(({ id }, k) => [id, k]));
  const pairs = edges.flatMap(({ a, b }) => (at.has(a) && at.has(b) ? [[at.get(a)!, at.get(b)!] as const] : []));
  for (let round = 0; round < rounds; round++) {
    const heat = 1 - round / rounds;
    const [dx, dy] = [new Float64Array(nodes.length), new Float64Array(nodes.length)];
    for (let i = 0; i < nodes.length; i++)
      for (let j = 0; j < i; j++) {
        const [ex, ey] = [x[i]! - x[j]!, y[i]! - y[j]!];
        const square = Math.max(1, ex * ex + ey * ey);
        if (square > 10_000) continue;
        const push = 110 / square;
        dx[i]! += ex * push;
        dy[i]! += ey * push;
        dx[j]! -= ex * push;
        dy[j]! -= ey * push;
      }
    for (const [i, j] of pairs) {
      const [ex, ey] = [x[i]! - x[j]!, y[i]! - y[j]!];
      const pull = 0.12 * (1 - 12 / Math.max(1, Math.hypot(ex, ey)));
      dx[i]! -= ex * pull;
      dy[i]! -= ey * pull;
      dx[j]! += ex * pull;
      dy[j]! += ey * pull;
    }
    for (let k = 0; k < nodes.length; k++) {
      const most = 6 * heat + 0.5;
      x[k]! += Math.max(-most, Math.min(most, dx[k]! - 0.012 * x[k]!));
      y[k]! += Math.max(-most, Math.min(most, dy[k]! - 0.012 * y[k]!));
    }
  }
  return nodes.map((node, k) => ({ ...node, x: x[k]!, y: y[k]! }));
}

/** Records of one component start next to one another. */
function componentOrder(nodes: readonly Node[], edges: readonly Edge[]): readonly number[] {
  const at = new Map(nodes.map(({ id }, k) => [id, k]));
  const near = nodes.map((): number[] => []);
  for (const { a, b } of edges) {
    const [i, j] = [at.get(a), at.get(b)];
    if (i === undefined || j === undefined) continue;
    near[i]!.push(j);
    near[j]!.push(i);
  }
  const seen = new Set<number>();
  const biggestFirst = nodes.map((_, k) => k).sort((i, j) => near[j]!.length - near[i]!.length || i - j);
  for (const first of biggestFirst) {
    const waiting = [first];
    while (waiting.length > 0) {
      const k = waiting.shift()!;
      if (seen.has(k)) continue;
      seen.add(k);
      waiting.push(...near[k]!);
    }
  }
  return [...seen];
}
