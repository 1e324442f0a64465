import type { Sensitivity } from '../sensitivity.js';

/**
 * Rooted forest of cells that declared pairs join (forest.proof.md). For every cell but the roots, the count of its subtree is
 * noised; a row that moves along a pair changes one of these by one.
 */
export interface CellForest {
  /** Number of cells. */
  readonly size: number;
  /** The next cell towards the root; -1 for roots. Cells stand in any order. */
  readonly parent: readonly number[];
}

/** The forest of these edges, rooted where it is widest; undefined where some of them close a ring. */
export function forestOf(size: number, edges: readonly (readonly [number, number])[]): CellForest | undefined {
  const joined: number[][] = Array.from({ length: size }, () => []);
  for (const [a, b] of edges) {
    joined[a]!.push(b);
    joined[b]!.push(a);
  }
  const parent = new Array<number>(size).fill(-2);
  const byDegree = joined.map((_, v) => v).sort((a, b) => joined[b]!.length - joined[a]!.length || a - b);
  for (const root of byDegree) {
    if (parent[root] !== -2) continue;
    parent[root] = -1;
    const open = [root];
    for (let v = open.pop(); v !== undefined; v = open.pop())
      for (const w of joined[v]!) {
        if (w === parent[v]) continue;
        if (parent[w] !== -2) return undefined;
        parent[w] = v;
        open.push(w);
      }
  }
  return { size, parent };
}

/** The cells from one to its root, the root not among them. */
const pathToRoot = ({ parent }: CellForest, v: number): readonly number[] => {
  const path: number[] = [];
  for (let at = v; parent[at]! >= 0; at = parent[at]!) path.push(at);
  return path;
};

/** The cells that have a number, in the order of the numbers. */
export const numbered = ({ parent }: CellForest): readonly number[] => parent.flatMap((up, v) => (up >= 0 ? [v] : []));

/** The numbers that are noised, from the counts of the cells. */
export function sumsBeyond(forest: CellForest, counts: readonly bigint[]): bigint[] {
  const sums = new Array<bigint>(forest.size).fill(0n);
  for (const [v, count] of counts.entries()) if (count !== 0n) for (const at of pathToRoot(forest, v)) sums[at]! += count;
  return numbered(forest).map((v) => sums[v]!);
}

/** Signed numbers that add up to the count of a cell; for a root, the total of its tree is added. */
export function signsOf(forest: CellForest): readonly { readonly plus: readonly number[]; readonly minus: readonly number[] }[] {
  const numberOf = new Map(numbered(forest).map((v, k) => [v, k]));
  const beyond: number[][] = forest.parent.map(() => []);
  for (const [v, up] of forest.parent.entries()) if (up >= 0) beyond[up]!.push(numberOf.get(v)!);
  return forest.parent.map((up, v) => ({ plus: up >= 0 ? [numberOf.get(v)!] : [], minus: beyond[v]! }));
}

export const rootsOf = (forest: CellForest): readonly number[] =>
  forest.parent.map((up, v) => (up < 0 ? v : forest.parent[pathToRoot(forest, v).at(-1)!]!));

/** Mean over cells of how many noisy numbers make one. */
export const meanNumbers = (forest: CellForest): number => {
  const all = numbered(forest).length;
  return all === 0 ? 0 : (2 * all) / forest.size;
};

const byOnes = (numbers: number): Sensitivity => ({ l1: BigInt(numbers), l2squared: BigInt(numbers) });
/** Of a row that is there or not. */
export const forestPresence = (forest: CellForest): Sensitivity =>
  byOnes(forest.parent.reduce((most, _, v) => Math.max(most, pathToRoot(forest, v).length), 0));
/** Of a row that moves from one of these cells to another of them. */
export function forestMove(forest: CellForest, cells: Iterable<number>): Sensitivity {
  const paths = [...cells].map((v) => new Set(pathToRoot(forest, v)));
  let most = 0;
  for (const [i, a] of paths.entries())
    for (const b of paths.slice(0, i)) {
      let shared = 0;
      for (const at of a) if (b.has(at)) shared++;
      most = Math.max(most, a.size + b.size - 2 * shared);
    }
  return byOnes(most);
}
