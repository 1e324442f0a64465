import { within } from '../../base/input/limits.js';

/** A junction tree whose cliques cover every given set: columns common to two cliques are in all cliques between them. */
export interface JunctionTree {
  /** Columns in increasing order; no clique inside another. The first is the root, and parents come before children. */
  readonly cliques: readonly (readonly number[])[];
  /** By clique: its neighbour towards the root, -1 for the root. */
  readonly parents: readonly number[];
  /**
   * Cells of all cliques together: the memory of a model over them. Infinite if one clique is beyond all bounds; the other fields are
   * then empty.
   */
  readonly cells: number;
}

/** Largest table size considered; the search for cliques stops when it would be needed. */
const maxTableCells = 2 ** 40;

/**
 * Elimination orders by smallest clique and by least fill-in; the one with fewer cells is used. Infinite if the former exceeds
 * `maxTableCells`.
 */
export function junctionTree(sizes: readonly number[], sets: readonly (readonly number[])[]): JunctionTree {
  const bySize = cliquesOf(sizes, sets, 'cells');
  if (!Number.isFinite(bySize.cells)) return { cliques: [], parents: [], cells: bySize.cells };
  const byFill = cliquesOf(sizes, sets, 'fill');
  const [cliques, cells] = bySize.cells <= byFill.cells ? [bySize.cliques, bySize.cells] : [byFill.cliques, byFill.cells];
  return { ...spanningTree(cliques, sizes), cells };
}

interface FoundCliques {
  readonly cliques: readonly (readonly number[])[];
  readonly cells: number;
}

function cliquesOf(sizes: readonly number[], sets: readonly (readonly number[])[], by: 'cells' | 'fill'): FoundCliques {
  const k = sizes.length;
  const near = new Uint8Array(k * k);
  for (const set of sets) for (const a of set) for (const b of set) if (a !== b) near[a * k + b] = 1;
  const left = new Uint8Array(k).fill(1);
  const score = new Float64Array(k);
  const around = (a: number): number[] => {
    const list: number[] = [];
    for (let b = 0; b < k; b++) if (left[b] && near[a * k + b]) list.push(b);
    return list;
  };
  const rate = (a: number): number => {
    const own = around(a);
    const cells = own.reduce((n, b) => n * sizes[b]!, sizes[a]!);
    if (by === 'cells') return cells;
    let strangers = 0;
    for (let i = 0; i < own.length; i++) for (let j = i + 1; j < own.length; j++) if (!near[own[i]! * k + own[j]!]) strangers++;
    // Ties in fill-in are broken by size.
    return strangers + 1 - 1 / (1 + Math.log(cells));
  };
  for (let a = 0; a < k; a++) score[a] = rate(a);
  const cliques: number[][] = [];
  let all = 0;
  for (let step = 0; step < k; step++) {
    let best = -1;
    for (let a = 0; a < k; a++) if (left[a] && (best < 0 || score[a]! < score[best]!)) best = a;
    const own = around(best);
    left[best] = 0;
    const clique = [best, ...own].sort((a, b) => a - b);
    if (!cliques.some((held) => isWithin(clique, held))) {
      const cells = clique.reduce((n, a) => n * sizes[a]!, 1);
      if (cells > maxTableCells) return { cliques: [], cells: Number.POSITIVE_INFINITY };
      all += cells;
      cliques.push(clique);
    }
    for (const a of own) for (const b of own) if (a !== b) near[a * k + b] = 1;
    const touched = by === 'cells' ? own : [...new Set(own.flatMap((a) => [a, ...around(a)]))];
    for (const a of touched) score[a] = rate(a);
  }
  return { cliques, cells: all };
}

/** Both column lists in increasing order. */
export function isWithin(inner: readonly number[], outer: readonly number[]): boolean {
  let at = 0;
  for (const a of inner) {
    while (at < outer.length && outer[at]! < a) at++;
    if (outer[at] !== a) return false;
  }
  return true;
}

/** A maximum spanning tree by number of shared columns, which is a junction tree. */
export function spanningTree(
  cliques: readonly (readonly number[])[],
  sizes: readonly number[],
): Pick<JunctionTree, 'cliques' | 'parents'> {
  const cells = cliques.map((own) => own.reduce((n, a) => n * sizes[a]!, 1));
  const root = cells.indexOf(Math.max(...cells));
  const order = [root];
  const parents = [-1];
  const share = cliques.map((own) => shared(own, cliques[root]!));
  const towards = cliques.map(() => 0);
  const inside = new Set(order);
  while (order.length < cliques.length) {
    let best = -1;
    for (let c = 0; c < cliques.length; c++) if (!inside.has(c) && (best < 0 || share[c]! > share[best]!)) best = c;
    inside.add(best);
    parents.push(towards[best]!);
    order.push(best);
    for (let c = 0; c < cliques.length; c++) {
      if (inside.has(c)) continue;
      const common = shared(cliques[c]!, cliques[best]!);
      // Ties are broken by the smallest clique.
      if (common > share[c]! || (common === share[c] && cells[best]! < cells[order[towards[c]!]!]!))
        [share[c], towards[c]] = [common, order.length - 1];
    }
  }
  return { cliques: order.map((c) => cliques[c]!), parents };
}

const shared = (a: readonly number[], b: readonly number[]): number => a.filter((x) => b.includes(x)).length;

/** Refusal of a table that is too large, before it is allocated. */
export const refuseLargeModel = (cells: number): void => within('graphicalCells', cells);
