import { everyRecord } from '../record-class.js';
import { encodedSensitivity } from '../running/continual-strategy.js';
import { treeStrategy } from '../running/tree.js';
import { type Sensitivity, sensitivityOn } from '../sensitivity.js';

/**
 * Strategy for counts over ordered positions (ordered.proof.md): prefix counts at block ends, and a tree of sums in every block,
 * each with a multiple. All numbers get the same noise, so multiples divide the cost.
 */
export interface Strategy {
  /** Number of positions. */
  readonly size: number;
  /** Ends of blocks, increasing; the last is `size`. */
  readonly ends: readonly number[];
  readonly arity: number;
  /** Multiples of prefix counts and of the sums in trees; no sums (0) only where all blocks have one position. */
  readonly prefix: number;
  readonly tree: number;
}

export const widthsOfBlocks = ({ ends }: Strategy): readonly number[] => ends.map((end, b) => end - (ends[b - 1] ?? 0));

/** Numbers that noise is added to, from the counts at the positions: linear, with whole coefficients. */
export function encoded(strategy: Strategy, counts: readonly bigint[]): bigint[] {
  const [prefix, tree] = [BigInt(strategy.prefix), BigInt(strategy.tree)];
  const numbers: bigint[] = [];
  let [before, at] = [0n, 0];
  for (const end of strategy.ends) {
    const encode = treeStrategy(end - at, strategy.arity).encoder();
    for (; at < end; at++) {
      const count = counts[at]!;
      before += count;
      if (tree > 0n) for (const sum of encode(count)) numbers.push(tree * sum);
    }
    numbers.push(prefix * before);
  }
  return numbers;
}

/** Number of sums in the tree of one block. */
export const numbersInTree = ({ arity, tree }: Strategy, width: number): number =>
  tree > 0 ? treeStrategy(width, arity).numbers(1, width) : 0;
export const noisedCount = (strategy: Strategy): number =>
  widthsOfBlocks(strategy).reduce((sum, width) => sum + numbersInTree(strategy, width) + 1, 0);

/** The most that one count adds to the sums of a tree. */
function treeColumn(strategy: Strategy): Sensitivity {
  if (strategy.tree === 0) return { l1: 0n, l2squared: 0n };
  const one = sensitivityOn([everyRecord], { l1: 1n, l2squared: 1n });
  const tree = BigInt(strategy.tree);
  let most = 0n;
  for (const width of new Set(widthsOfBlocks(strategy))) {
    const { l1 } = encodedSensitivity(treeStrategy(width, strategy.arity), one, 'within a step').get(everyRecord)!;
    if (l1 > most) most = l1;
  }
  return { l1: tree * most, l2squared: tree ** 2n * most };
}

/** Of a count that is there or not. */
export const presenceSensitivity = (strategy: Strategy): Sensitivity => sensitivityOver(strategy, strategy.ends.length, 1n);
/** Sensitivity to a count that moves between positions, across at most this many block ends. */
export const moveSensitivity = (strategy: Strategy, crossed: number): Sensitivity => sensitivityOver(strategy, crossed, 2n);

function sensitivityOver(strategy: Strategy, crossed: number, columns: bigint): Sensitivity {
  const { l1, l2squared } = treeColumn(strategy);
  const [prefix, ends] = [BigInt(strategy.prefix), BigInt(crossed)];
  return { l1: prefix * ends + columns * l1, l2squared: prefix ** 2n * ends + columns * l2squared };
}
