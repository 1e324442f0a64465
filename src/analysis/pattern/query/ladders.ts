import { larger, smaller } from './sensitivity.js';

/**
 * Local sensitivity after t changed tuples: width(0) bounds the effect of one change, width(t) of a neighbour is at most width(t + 1)
 * here, never above `widest` (ladders.proof.md; exhaustively tested).
 */
export interface SensitivityLadder {
  readonly width: (t: number) => bigint;
  readonly widest: bigint;
}

const choose = (n: bigint, k: number): bigint => {
  if (n < BigInt(k)) return 0n;
  let c = 1n;
  for (let i = 0; i < k; i++) c = (c * (n - BigInt(i))) / BigInt(i + 1);
  return c;
};
const capped = (width: (t: number) => bigint, widest: bigint): SensitivityLadder => ({
  width: (t) => smaller(width(t), widest),
  widest,
});
/** A ladder given by its first rung and its steps. */
const stepped = (first: bigint, step: (t: bigint) => bigint, widest: bigint): SensitivityLadder => {
  const known = [first];
  return capped((t) => {
    for (let s = known.length; s <= t && known.at(-1)! < widest; s++) known.push(known[s - 1]! + step(BigInt(s - 1)));
    return known[Math.min(t, known.length - 1)]!;
  }, widest);
};

/** A pair of nodes as the triangle count sees it: `common` neighbours, and `single` nodes adjacent to exactly one of the two. */
export interface NodePair {
  readonly common: number;
  readonly single: number;
}

/** Triangles of a simple graph of n nodes: t changes give a pair at most t/2 common neighbours, or one each where only one end is missing. */
export function triangleLadder(pairs: readonly NodePair[], n: number): SensitivityLadder {
  const widest = Math.max(0, n - 2);
  return capped((t) => {
    // A pair without common neighbours adds at most one per change.
    let most = t;
    for (const { common, single } of pairs) most = Math.max(most, common + Math.floor((t + Math.min(t, single)) / 2));
    return BigInt(most);
  }, BigInt(widest));
}

/** k-stars: `pairs` are the degrees of two nodes, the edge between them not counted, the larger first. */
export function starLadder(k: number, pairs: readonly (readonly [number, number])[], n: number): SensitivityLadder {
  const roof = Math.max(0, n - 2);
  return capped(
    (t) => {
      let most = 0n;
      for (const [high, low] of pairs) {
        const u = Math.min(t, roof - high);
        const w = Math.min(t - u, roof - low);
        most = larger(most, choose(BigInt(high + u), k - 1) + choose(BigInt(low + w), k - 1));
      }
      return most;
    },
    2n * choose(BigInt(roof), k - 1),
  );
}

/** k-cliques: `local` is the most any one edge takes part in (present or not), `common` the most common neighbours of any pair. */
export function cliqueLadder(k: number, local: bigint, common: number, n: number): SensitivityLadder {
  const roof = BigInt(Math.max(0, n - 2));
  return stepped(local, (t) => choose(smaller(BigInt(common) + t, roof), k - 3), choose(roof, k - 2));
}

/** Two triangles on one edge, with the same two numbers. */
export function diamondLadder(local: bigint, common: number, n: number): SensitivityLadder {
  const roof = BigInt(Math.max(0, n - 2));
  const widest = choose(roof, 2) + 2n * roof * choose(smaller(roof, BigInt(Math.max(0, n - 3))), 1);
  return stepped(local, (t) => 3n * (BigInt(common) + t) + (BigInt(common) + t), widest);
}

/**
 * Residual ladder: terms[j] = sum over goals i and sets A of j other private goals of T(goals - i - A), where each change can serve a
 * goal in `directions` ways. Divided by `divisor` for occurrences.
 */
export function residualLadder(
  terms: readonly bigint[],
  directions: 1 | 2,
  divisor: bigint,
  globalSensitivity: bigint,
): SensitivityLadder {
  const d = BigInt(directions);
  return capped((t) => {
    const changes = d * BigInt(t + 1);
    let total = 0n;
    let power = 1n;
    for (const term of terms) {
      total += term * power;
      power *= changes;
    }
    return (d * total) / divisor;
  }, globalSensitivity);
}

/**
 * Ladder of all ties of one person, with persons of more than `degree` ties left out: perPerson bounds one person's contribution at
 * that degree, near(t) counts persons whose number of ties is within t of the threshold.
 */
export function truncationLadder(perPerson: bigint, near: (t: number) => number, people: number): SensitivityLadder {
  return capped((t) => perPerson * BigInt(1 + t + near(t)), perPerson * BigInt(people));
}
export { choose };
