import { rational } from '../../../base/exact/rational.js';
import type { Network } from '../../../privacy/dependence/model/network.js';
import { levelCell, levelCount, type PairTables, pairCount } from '../../../privacy/dependence/pairwise/pair-tables.js';
import { type AdditiveMechanism, additiveMechanism } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import { type ExponentialMechanism, exponentialMechanism } from '../../../privacy/mechanism/exponential-mechanism.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import { perRecordSensitivity, tableSensitivity } from '../record-sensitivity.js';
import { fitNetwork, type NetworkShape } from './fit.js';
import { independenceDistance, scoreGrid } from './score-grid.js';

/** The two randomised steps, each once per edge. */
export interface TreeNoise {
  readonly structure: ExponentialMechanism;
  readonly tables: AdditiveMechanism;
}

/** Half the budget for structure, half for tables, both split evenly over the edges; one row is one record (private-tree.proof.md). */
export function treeNoise(levels: readonly number[], rows: number, budgetShare: BudgetShare): TreeNoise {
  const edges = Math.max(1, levels.length - 1);
  const { reach } = scoreGrid(rows);
  const many = BigInt(edges);
  const [widest = 1, next = 1] = [...levels].sort((a, b) => b - a);
  const half = splitShare(budgetShare, rational(1, 2));
  return {
    structure: exponentialMechanism(
      {
        name: 'edges of the tree',
        cells: edges,
        sensitivity: perRecordSensitivity({ l1: many * reach, l2squared: many * reach * reach }),
      },
      half,
    ),
    tables: additiveMechanism(
      { name: 'table of each edge', cells: widest * next, times: edges, sensitivity: tableSensitivity(1) },
      half,
    ),
  };
}

export interface PrivateTree {
  /** Parent of each column, -1 at the root (column 0). */
  readonly parent: readonly number[];
  /** Noisy tables: for the child of each edge, counts over parent x child. */
  readonly tables: readonly Float64Array[];
}

/**
 * A private tree in the manner of PrivBayes, grown from column 0: the exponential mechanism picks each (child, parent) by its L1
 * distance from independence, then the chosen tables get noise (private-tree.proof.md).
 */
export function learnTree(
  pairs: PairTables,
  { structure, tables }: TreeNoise,
  payment: Payment,
  progress?: (done: number, total: number) => void,
): PrivateTree {
  const d = pairs.levels.length;
  const penalty = penalties(pairs);
  const parent = new Array<number>(d).fill(-1);
  const inside = [0];
  const outside = new Set(Array.from({ length: d - 1 }, (_, c) => c + 1));
  while (outside.size > 0) {
    const candidates = [...outside].flatMap((child) => inside.map((p) => [child, p] as const));
    const values = candidates.map(([child, p]) => penalty(child, p));
    const [child, p] = candidates[structure.choose(payment, values)]!;
    parent[child] = p;
    inside.push(child);
    outside.delete(child);
    progress?.(inside.length - 1, d - 1);
  }
  const noisy = parent.map((p, child) => {
    if (p < 0) return new Float64Array(0);
    const add = tables.prepare(payment, pairs.levels[p]! * pairs.levels[child]!);
    return Float64Array.from(add(pairCells(pairs, p, child)), Number);
  });
  return { parent, tables: noisy };
}

/** Distance from independence as a penalty for the exponential mechanism: the public maximum minus the score, in units of the grid. */
function penalties(pairs: PairTables): (i: number, j: number) => bigint {
  const rows = rowsIn(pairs);
  const { unit, most } = scoreGrid(rows);
  const known = new Map<string, bigint>();
  return (i, j) => {
    const key = `${Math.min(i, j)} ${Math.max(i, j)}`;
    const penalty = known.get(key) ?? most - independenceDistance(pairCells(pairs, i, j), pairs.levels[j]!, rows) / unit;
    known.set(key, penalty);
    return penalty;
  };
}

/** Every row has one answer to every question. */
export const rowsIn = (pairs: PairTables): number =>
  Array.from({ length: pairs.levels[0] ?? 0 }, (_, a) => levelCount(pairs, 0, a)).reduce((n, own) => n + own, 0);

/** Counts in C order. */
function pairCells(pairs: PairTables, i: number, j: number): bigint[] {
  const [rows, width] = [pairs.levels[i]!, pairs.levels[j]!];
  return Array.from({ length: rows * width }, (_, cell) =>
    BigInt(pairCount(pairs, levelCell(pairs, i, Math.floor(cell / width)), levelCell(pairs, j, cell % width))),
  );
}

/** The root's distribution comes from the first noisy table with it as parent (postprocessing). */
export function treeNetwork(
  { parent, tables }: PrivateTree,
  shape: Omit<NetworkShape, 'parents' | 'origin'>,
  payment: { readonly epsilon: string; readonly delta: string },
): Network {
  const rootCounts = (root: number): Float64Array => {
    const own = new Float64Array(shape.values[root]!.length);
    const child = parent.indexOf(root);
    const width = shape.values[child]?.length ?? 1;
    (tables[child] ?? []).forEach((count, cell) => {
      own[Math.floor(cell / width)]! += Math.max(0, count);
    });
    return own;
  };
  const parents = parent.map((p) => (p < 0 ? [] : [p]));
  return fitNetwork({ ...shape, parents, origin: { learned: 'paid', ...payment } }, (x) =>
    parent[x]! < 0 ? rootCounts(x) : tables[x]!,
  );
}
