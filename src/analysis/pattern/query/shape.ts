import type { BoundPattern } from './bind.js';

/** A pattern with its own counting algorithm and local sensitivity. Counts are occurrences in a simple undirected graph. */
export type SubgraphShape =
  | { readonly kind: 'edge' }
  | { readonly kind: 'star'; readonly k: number }
  | { readonly kind: 'clique'; readonly k: number }
  | { readonly kind: 'cycle'; readonly k: 4 }
  /** Two triangles on one edge. */
  | { readonly kind: 'diamond' };

/** The shape of a pattern over one symmetric relation with all variables distinct and counted; undefined for every other pattern. */
export function subgraphShape(q: BoundPattern): SubgraphShape | undefined {
  const v = q.variables.length;
  const plain =
    q.constants.length === 0 && q.filters.length === 0 && !q.sum && q.relations.length === 1 && q.relations[0]!.symmetric;
  if (!plain || q.head.length !== v || q.unequal.length !== (v * (v - 1)) / 2) return undefined;
  const degrees = q.variables.map((_, s) => q.goals.filter((g) => g.symbols.includes(s)).length).sort((a, b) => b - a);
  const edges = q.goals.length;
  if (v === 2) return { kind: 'edge' };
  if (edges === (v * (v - 1)) / 2) return { kind: 'clique', k: v };
  if (edges === v - 1 && degrees[0] === v - 1) return { kind: 'star', k: v - 1 };
  if (v === 4 && edges === 4 && degrees.every((d) => d === 2)) return { kind: 'cycle', k: 4 };
  if (v === 4 && edges === 5) return { kind: 'diamond' };
  return undefined;
}
