import { codesOf } from '../../policy/code.js';
import { declaredColumn, isCoded } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import { pairCliques, type ValueRun } from '../../policy/pairs/cliques.js';
import type { ColumnPairs } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import { type CellForest, forestMove, forestOf, forestPresence } from '../../privacy/mechanism/ordered/forest.js';
import { moveSensitivity, presenceSensitivity, type Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import type { RecordSensitivity, Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { largerSensitivity } from './bounds.js';
import { withDerived } from './derived.js';
import { dropped, keyCell, pieceStarts } from './key-cell.js';
import type { Axis, Counting, GroupKey } from './measure.js';
import { withinGroupSensitivity } from './sensitivity.js';

/**
 * Sensitivity, for the policy's neighbours, of the numbers that a strategy forms of each group's counts.
 * The last key is the position, the others are the group.
 */
export function orderedSensitivity(policy: Policy, counting: Counting, strategy: Strategy): RecordSensitivity {
  const most = presenceSensitivity(strategy);
  const range = largerSensitivity(most, moveSensitivity(strategy, strategy.ends.length - 1));
  const blocks = blockKey(counting.keys.at(-1)!, strategy);
  const { pieces } = cellPieces(withDerived(policy, counting.derived), blocks);
  return withinGroupSensitivity(policy, counting, { most, range }, (pairs) =>
    moveSensitivity(strategy, endsCrossed(pairs, pieces)),
  );
}

/** Sensitivity, for the policy's neighbours, of the sums along a forest of the last key's cells, group by group. */
export function forestSensitivity(policy: Policy, counting: Counting, forest: CellForest): RecordSensitivity {
  const most = forestPresence(forest);
  const range = largerSensitivity(most, forestMove(forest, forest.parent.keys()));
  const { pieces, missing } = cellPieces(policy, counting.keys.at(-1) as Axis);
  return withinGroupSensitivity(policy, counting, { most, range }, (pairs) => {
    let far: Sensitivity = { l1: 0n, l2squared: 0n };
    for (const set of pairCliques(pairs, pieces, missing))
      far = largerSensitivity(
        far,
        forestMove(
          forest,
          [...set].filter((cell) => cell !== dropped),
        ),
      );
    return far;
  });
}

/** Most cells of a key for which a forest of pairs is sought. */
const maxForestCells = 256;

/** Forest of a key's cells under the pairs; undefined where the pairs form a cycle. */
export function forestFor(policy: Policy, key: Axis): CellForest | undefined {
  const pairs = policy.protect.pairs?.columns.get(key.column);
  if (!pairs || key.size > maxForestCells) return undefined;
  const { pieces, missing } = cellPieces(policy, key);
  const edges = new Map<number, readonly [number, number]>();
  for (const set of pairCliques(pairs, pieces, missing)) {
    const cells = [...set].filter((cell) => cell !== dropped);
    // Three positions of which any two are pairs form a cycle.
    if (cells.length > 2) return undefined;
    const [a, b] = [Math.min(...cells), Math.max(...cells)];
    if (cells.length === 2) edges.set(a * key.size + b, [a, b]);
  }
  return forestOf(key.size, [...edges.values()]);
}

/** The cells of a key on the positions that pairs are declared on; no answer is in the last one, or nowhere. */
function cellPieces(policy: Policy, key: Axis): { readonly pieces: readonly ValueRun<number>[]; readonly missing: number } {
  const column = declaredColumn(policy, key.column);
  const cellOf = keyCell(key);
  const missing = cellOf(null);
  if (column.type === 'multi') throw new RangeError('positions of a number or of codes');
  if (isCoded(column)) return { pieces: codesOf(column).map((code, k) => ({ from: k, to: k, kind: cellOf(code) })), missing };
  const { last } = gridOf(column);
  const starts = pieceStarts(last, [], [key]);
  return { pieces: starts.map((from, k) => ({ from, to: (starts[k + 1] ?? last + 1) - 1, kind: cellOf(from) })), missing };
}

/** The blocks of a strategy as cells of a coarser key. */
function blockKey(key: GroupKey, { ends }: Strategy): Axis {
  const starts = [0, ...ends.slice(0, -1)];
  if (key.kind === 'grid')
    return { kind: 'bin', column: key.column, edges: starts.slice(1).map((p) => p * key.width), size: ends.length + 1 };
  if (key.kind !== 'code') throw new RangeError('positions of a number or of codes');
  return { ...key, groups: starts.map((from, b) => key.groups.slice(from, ends[b]).flat()), size: ends.length };
}

/** Largest number of block ends between two answers that are a pair. */
function endsCrossed(pairs: ColumnPairs | undefined, pieces: readonly ValueRun<number>[]): number {
  let most = 0;
  for (const set of pairCliques(pairs, pieces, dropped)) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const block of set)
      if (block !== dropped) {
        if (block < low) low = block;
        if (block > high) high = block;
      }
    if (high - low > most) most = high - low;
  }
  return most;
}
