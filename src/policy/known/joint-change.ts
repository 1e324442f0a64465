import { gcd } from '../../base/exact/rational.js';

/** Contribution of one row to each of the known totals. */
export type TotalsOfRow = readonly bigint[];

export interface JointChange {
  /** Largest number of records in a minimal change that keeps all totals. */
  readonly most: number;
  /** True if the totals determine the number of rows of each kind. */
  readonly singles: boolean;
}

/**
 * Largest number of records in a minimal change among rows of these kinds (known.proof.md); undefined if the search takes too
 * long. Affinely independent kinds give cycles through all kinds; on one line, partition identities (Diaconis et al. 1995).
 */
export function largestJointChange(kinds: readonly TotalsOfRow[], work = mostWork): JointChange | undefined {
  if (kinds.length <= 1) return { most: 1, singles: true };
  const [first, ...rest] = kinds as readonly [TotalsOfRow, ...TotalsOfRow[]];
  const from = rest.map((kind) => kind.map((x, d) => x - first[d]!));
  const pivots = pivotsOf(from);
  if (pivots.length === kinds.length - 1) return { most: kinds.length, singles: true };
  const points = [pivots.map(() => 0n), ...from.map((kind) => pivots.map((d) => kind[d]!))];
  const long = pivots.length === 1 && points.length > fewOnLine;
  const found = long ? alongLine(points.map(([x]) => x!)) : longestChange(points, work);
  return found === undefined ? undefined : { most: found, singles: false };
}

/** Steps that looking through all changes may take. */
const mostWork = 1_500_000;
/** Kinds along one line of which all changes are looked through. */
const fewOnLine = 8;

/** Coordinates on which the projection of the vectors' span is injective: as many as its dimension. */
function pivotsOf(vectors: readonly TotalsOfRow[]): readonly number[] {
  const rows = vectors.map((v) => [...v]);
  const pivots: number[] = [];
  for (let d = 0; d < (rows[0]?.length ?? 0); d++) {
    const at = rows.findIndex((row, r) => r >= pivots.length && row[d] !== 0n);
    if (at < 0) continue;
    const top = pivots.length;
    [rows[top], rows[at]] = [rows[at]!, rows[top]!];
    const pivot = rows[top]!;
    for (let r = top + 1; r < rows.length; r++) {
      const row = rows[r]!;
      if (row[d] === 0n) continue;
      const [a, b] = [pivot[d]!, row[d]!];
      const shared = gcd(a, b);
      rows[r] = row.map((x, k) => (x * a - pivot[k]! * b) / shared);
    }
    pivots.push(d);
  }
  return pivots;
}

/** Parts up to D on two sides of one sum, none of them a sum of fewer: at most 2 D - 1 in all. */
function alongLine(points: readonly bigint[]): number {
  const least = points.reduce((a, b) => (b < a ? b : a));
  const steps = points.map((x) => x - least);
  const far = steps.reduce((a, b) => (b > a ? b : a)) / steps.reduce(gcd, 0n);
  return far === 1n ? 2 : Number(2n * far - 1n);
}

/**
 * Largest minimal solution of moves that sum to zero, by the procedure of Contejean and Devie 1994, which terminates. Partial
 * sums grow only by moves that lead back; those containing a solution are dropped.
 */
function longestChange(points: readonly TotalsOfRow[], work: number): number | undefined {
  const moves = movesBetween(inSteps(points));
  if (moves.some((move) => move.some((x) => Math.abs(x) > widestMove))) return undefined;
  const solutions: (readonly number[])[] = [];
  let longest = 1;
  let left = work;
  let level: readonly Partial[] = moves.map((move, m) => ({ uses: [m], sum: move }));
  for (let length = 2; level.length > 0; length++) {
    const next = new Map<string, Partial>();
    const closed = new Map<string, readonly number[]>();
    for (const { uses, sum } of level)
      for (const [m, move] of moves.entries()) {
        left -= 1;
        if (dot(sum, move) >= 0) continue;
        const more = [...uses, m].sort((a, b) => a - b);
        const key = more.join();
        if (next.has(key) || closed.has(key)) continue;
        left -= solutions.length;
        if (left < 0) return undefined;
        if (solutions.some((solution) => holds(more, solution))) continue;
        const after = sum.map((x, d) => x + move[d]!);
        if (after.every((x) => x === 0)) closed.set(key, more);
        else next.set(key, { uses: more, sum: after });
      }
    if (closed.size > 0) longest = length;
    solutions.push(...closed.values());
    level = [...next.values()].filter(({ uses }) => ![...closed.values()].some((solution) => holds(uses, solution)));
  }
  return longest;
}

/**
 * Bound on the work that keeps all products exact in doubles: a partial sum grows only by moves that lead back, so its square is
 * at most the sum of the squared moves.
 */
const widestMove = 2 ** 19;

/** Every coordinate in steps of its own, from the first point: what adds up to nothing stays the same. */
function inSteps(points: readonly TotalsOfRow[]): readonly (readonly number[])[] {
  const from = points.map((point) => point.map((x, d) => x - points[0]![d]!));
  const step = points[0]!.map((_, d) => from.reduce((s, point) => gcd(s, point[d]!), 0n) || 1n);
  return from.map((point) => point.map((x, d) => Number(x / step[d]!)));
}

/** Moves so far, as sorted indices, and their sum. */
interface Partial {
  readonly uses: readonly number[];
  readonly sum: readonly number[];
}

function movesBetween(points: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const moves = new Map<string, readonly number[]>();
  for (const a of points)
    for (const b of points) {
      const move = b.map((x, d) => x - a[d]!);
      if (move.some((x) => x !== 0)) moves.set(move.join(), move);
    }
  return [...moves.values()];
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, d) => sum + x * b[d]!, 0);

/** True if a sorted list contains another as a sub-multiset. */
function holds(list: readonly number[], part: readonly number[]): boolean {
  let at = 0;
  for (const x of list) if (at < part.length && part[at] === x) at++;
  return at === part.length;
}
