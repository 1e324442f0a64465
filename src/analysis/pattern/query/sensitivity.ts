import type { BoundPattern } from './bind.js';

/**
 * Bounds for every database over the declared domains (sensitivity.proof.md), in assignments of the head (for a sum: times the
 * largest absolute value it may add).
 */
export interface AnswerBounds {
  readonly most: bigint;
  /** Lower bound of the answer: 0 unless a sum may add negative values. */
  readonly least: bigint;
  /** Sensitivity to one tuple added, removed or replaced by another. */
  readonly globalSensitivity: bigint;
}

export function answerBounds(q: BoundPattern): AnswerBounds {
  const counted = q.sum ? everyVariable(q) : q.head;
  const all = bindingCount(q, counted, []);
  const sensitivity = privateRelations(q).reduce((worst, relation) => {
    const total = q.goals
      .filter((g) => g.relation === relation)
      .reduce(
        (sum, g) =>
          sum +
          bindingCount(
            q,
            counted.filter((s) => !g.symbols.includes(s)),
            g.symbols,
          ),
        0n,
      );
    // Each goal can use a tuple of a symmetric relation in two directions.
    const directed = q.relations[relation]!.symmetric ? 2n * total : total;
    return larger(directed, worst);
  }, 0n);
  return {
    most: q.sum ? all * (q.sum.bounds[1] > 0n ? q.sum.bounds[1] : 0n) : all,
    least: q.sum ? all * (q.sum.bounds[0] < 0n ? q.sum.bounds[0] : 0n) : 0n,
    globalSensitivity: largestAdded(q) * smaller(sensitivity, all),
  };
}

export const smaller = (a: bigint, b: bigint): bigint => [a, b][Number(b < a)]!;
export const larger = (a: bigint, b: bigint): bigint => [a, b][Number(b > a)]!;
/** The largest absolute value that a result of the pattern may add. */
export const largestAdded = ({ sum }: BoundPattern): bigint => (sum ? larger(-sum.bounds[0], sum.bounds[1]) : 1n);
export const everyVariable = (q: BoundPattern): number[] => q.variables.map((_, i) => q.constants.length + i);
export const privateRelations = (q: BoundPattern): number[] => [...q.relations.keys()].filter((r) => q.relations[r]!.private);

/** Longest order for which all permutations are tried; any order gives a valid bound. */
const maxPermuted = 6;

/**
 * Number of ways to bind `free` once `fixed` is bound. A variable has its smallest declared domain, less the largest set of bound
 * symbols of that domain that must differ from it and from one another.
 */
export function bindingCount(q: BoundPattern, free: readonly number[], fixed: readonly number[]): bigint {
  const differ = (a: number, b: number): boolean =>
    (a < q.constants.length && b < q.constants.length && a !== b) ||
    q.unequal.some(([x, y]) => (x === a && y === b) || (x === b && y === a));
  const occursIn = (s: number, relation: number): boolean =>
    q.goals.some((g) => g.relation === relation && g.symbols.includes(s));
  const domainOf = new Map<number, number>();
  for (const s of free) {
    const mine = [...q.relations.keys()].filter((r) => occursIn(s, r));
    domainOf.set(
      s,
      mine.reduce((best, r) => (q.relations[r]!.domain < q.relations[best]!.domain ? r : best), mine[0]!),
    );
  }
  const choices = (s: number, bound: readonly number[]): bigint => {
    const relation = domainOf.get(s)!;
    const rivals = bound.filter((b) => differ(s, b) && occursIn(b, relation));
    const left = BigInt(q.relations[relation]!.domain) - BigInt(largestClique(rivals, differ));
    return left > 0n ? left : 0n;
  };
  const search = (left: readonly number[], bound: readonly number[]): bigint => {
    if (left.length === 0) return 1n;
    const firsts = left.length <= maxPermuted ? left : left.slice(0, 1);
    return firsts
      .map(
        (s) =>
          choices(s, bound) *
          search(
            left.filter((x) => x !== s),
            [...bound, s],
          ),
      )
      .reduce(smaller);
  };
  return search(free, [...new Set(fixed)]);
}

function largestClique(items: readonly number[], differ: (a: number, b: number) => boolean): number {
  const grow = (from: number, chosen: readonly number[]): number => {
    let best = chosen.length;
    for (let i = from; i < items.length; i++)
      if (chosen.every((c) => differ(c, items[i]!))) best = Math.max(best, grow(i + 1, [...chosen, items[i]!]));
    return best;
  };
  return grow(0, []);
}
