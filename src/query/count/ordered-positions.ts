import { codesOf } from '../../policy/code.js';
import { declaredColumn, isCoded } from '../../policy/domain.js';
import { pairCliques, type ValueRun } from '../../policy/pairs/cliques.js';
import type { ColumnPairs } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import type { Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import type { GroupKey } from './measure.js';

/** The blocks of a strategy, on the positions that pairs are declared on. */
export function endsOnPositions(policy: Policy, key: GroupKey, { ends }: Strategy): readonly ValueRun<number>[] {
  const blockAt = blockFinder(ends);
  if (key.kind === 'grid') {
    const starts = [0, ...ends.slice(0, -1)];
    return starts.map((start, b) => ({ from: start * key.width, to: ends[b]! * key.width - 1, kind: b }));
  }
  const column = key.kind === 'code' ? declaredColumn(policy, key.column) : undefined;
  if (key.kind !== 'code' || !column || !isCoded(column)) throw new RangeError('positions of a number or of codes');
  const place = new Map(key.groups.flatMap((codes, p) => codes.map((code) => [code, p] as const)));
  return codesOf(column).map((code, k) => ({ from: k, to: k, kind: blockAt(place.get(code)!) }));
}

/** Largest number of block ends between two values that are a pair. */
export function endsCrossed(pairs: ColumnPairs | undefined, pieces: readonly ValueRun<number>[]): number {
  let most = 0;
  for (const set of pairCliques(pairs, pieces, none)) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const block of set)
      if (block !== none) {
        if (block < low) low = block;
        if (block > high) high = block;
      }
    if (high - low > most) most = high - low;
  }
  return most;
}
const none = -1;

const blockFinder = (ends: readonly number[]) => {
  const blocks: number[] = [];
  ends.forEach((end, b) => {
    while (blocks.length < end) blocks.push(b);
  });
  return (position: number): number => blocks[position]!;
};
