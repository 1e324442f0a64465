import { within } from '../../../base/input/limits.js';
import type { BoundPattern } from './bind.js';
import { privateRelations, smaller } from './sensitivity.js';

/**
 * Parts whose largest groups bound the effect of a change: for a changed goal i and any set A of other private goals served by
 * changed tuples, the remaining goals F have at most T(F) assignments with the shared symbols fixed.
 */
export interface ResidualPart {
  readonly part: readonly number[];
  /** Symbols they share with the changed goals. */
  readonly boundary: readonly number[];
  /** Occurrences of this part with |A| = size, per changed relation: uses[relation][size]. */
  readonly uses: ReadonlyMap<number, readonly number[]>;
}

export function residualParts(q: BoundPattern): readonly ResidualPart[] {
  const isPrivate = new Set(privateRelations(q));
  const all = [...q.goals.keys()];
  const secret = all.filter((g) => isPrivate.has(q.goals[g]!.relation));
  within('privateGoals', secret.length);
  const found: { part: number[]; boundary: number[]; uses: Map<number, number[]> }[] = [];
  for (let set = 1; set < 1 << secret.length; set++) {
    const changed = secret.filter((_, b) => set & (1 << b));
    const part = all.filter((g) => !changed.includes(g));
    const outside = new Set(changed.flatMap((g) => q.goals[g]!.symbols));
    const boundary = [...new Set(part.flatMap((g) => q.goals[g]!.symbols))].filter(
      (s) => s >= q.constants.length && outside.has(s),
    );
    const uses = new Map<number, number[]>();
    for (const { relation } of changed.map((g) => q.goals[g]!)) {
      const sizes = uses.get(relation) ?? Array.from({ length: secret.length }, () => 0);
      sizes[changed.length - 1]!++;
      uses.set(relation, sizes);
    }
    found.push({ part, boundary, uses });
  }
  return found;
}

/** The coefficients of residualLadder for each private relation, from T of every part (T of no goals is 1). */
export function residualTerms(
  parts: readonly ResidualPart[],
  largest: (part: ResidualPart) => bigint,
): ReadonlyMap<number, readonly bigint[]> {
  const terms = new Map<number, bigint[]>();
  for (const part of parts) {
    const t = part.part.length === 0 ? 1n : largest(part);
    for (const [relation, uses] of part.uses) {
      const sums = terms.get(relation) ?? uses.map(() => 0n);
      for (const [size, times] of uses.entries()) sums[size]! += t * BigInt(times);
      terms.set(relation, sums);
    }
  }
  return terms;
}

/**
 * T of a part if each value occurs in at most `fanOut(relation)` tuples of a column: goals reached through a bound symbol have that
 * many choices, others one start per domain value. Constants count as bound.
 */
export function largestUnderDegree(
  q: BoundPattern,
  part: Pick<ResidualPart, 'part' | 'boundary'>,
  fanOut: (relation: number) => bigint,
): bigint {
  const bound = new Set(part.boundary);
  const left = [...part.part];
  let total = 1n;
  const free = (g: number) => q.goals[g]!.symbols.filter((s) => s >= q.constants.length && !bound.has(s)).length;
  // A goal that shares no symbol comes last.
  const order = (g: number) => (free(g) === q.goals[g]!.symbols.length ? 100 : free(g));
  while (left.length > 0) {
    const next = left.reduce((best, g) => (order(g) < order(best) ? g : best));
    const { relation, symbols } = q.goals[next]!;
    const roof = BigInt(q.relations[relation]!.domain);
    const degree = fanOut(relation);
    const open = free(next);
    if (open > 0) total *= open === symbols.length ? roof * smaller(degree, roof) : smaller(degree, roof ** BigInt(open));
    for (const s of symbols) bound.add(s);
    left.splice(left.indexOf(next), 1);
  }
  return total;
}
