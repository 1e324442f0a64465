import { type ColumnPairs, isPair, noAnswerPosition } from './pairs.js';

/**
 * Length of the shortest path of pairs between two values: the promise is this many epsilon; infinity if they may be
 * distinguished. Between rows, the largest over columns, since all columns change at once.
 */
export function distance(pairs: ColumnPairs | undefined, a: number, b: number): number {
  if (a === b) return 0;
  if (isPair(pairs, a, b)) return 1;
  // Path through no answer, which is a pair with everything or with nothing.
  const around = pairs?.missing === 'any' ? 2 : Number.POSITIVE_INFINITY;
  if (pairs === undefined || a === noAnswerPosition || b === noAnswerPosition) return around;
  return Math.min(around, among(pairs, a, b));
}

function among(pairs: ColumnPairs, a: number, b: number): number {
  if (pairs.form === 'steps' && pairs.steps > 0) return Math.ceil(Math.abs(a - b) / pairs.steps);
  return pairs.form === 'graph' ? (reached(pairs.joined, a).get(b) ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
}

/** Positions reachable through pairs from here, with the number of pairs. */
function reached(joined: readonly (readonly number[])[], from: number): ReadonlyMap<number, number> {
  const found = new Map([[from, 0]]);
  const queue = [from];
  for (const p of queue)
    for (const q of joined[p]!)
      if (!found.has(q)) {
        found.set(q, found.get(p)! + 1);
        queue.push(q);
      }
  return found;
}
