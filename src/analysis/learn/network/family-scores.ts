import { type CellCounter, cellCounter } from './cell-counter.js';
import type { CodedTable } from './coded.js';

/**
 * For a set T of columns, L(T) = sum over joint cells of N log N. The maximised log-likelihood of a child X given parents P is
 * L(P + X) - L(P), so every family of every network is a difference of two numbers computed once per column set.
 */
export interface FamilyScores {
  /** L(T) by bit mask; meaningful for every set a surviving family needs. */
  readonly value: Float64Array;
  /** Bit X of candidates[P]: parents P of child X survived both bounds (family-scores.proof.md). */
  readonly candidates: Int32Array;
  /** Every P that survived for some child, in ascending order (so subsets come first), and its number of joint cells. */
  readonly sets: Int32Array;
  readonly cells: Float64Array;
}

/**
 * Families that can be optimal under BIC(X | P) = L(P+X) - L(P) - w (r_X - 1) q(P), w = log(n)/2; two lossless bounds discard the
 * rest, size by size (family-scores.proof.md).
 */
export function familyScores(table: CodedTable, maxParents: number): FamilyScores {
  const k = table.columns.length;
  const everyone = (1 << k) - 1;
  const weight = Math.log(Math.max(table.rows, 2)) / 2;
  const widest = Math.max(...table.levels, 2);
  // A surviving P' + Y with child X has weight (r_X - 1) q(P') (r_Y - 1) < n log r_X, and r/(r-1) <= 2: no requested set has more
  // cells.
  const mostCells = Math.ceil((4 * table.rows * Math.log(widest)) / weight) + widest * widest;
  const counter = cellCounter(table, mostCells);
  const ceiling = likelihoodCeilings(table, counter, mostCells);
  const value = new Float64Array(1 << k);
  const known = new Uint8Array(1 << k);
  const candidates = new Int32Array(1 << k);
  candidates[0] = everyone;
  const compute = (wanted: readonly number[]): void => {
    for (const set of missingInOrder(wanted, known, k)) value[set] = counter.likelihood(members(set));
  };
  compute([0, ...table.levels.map((_, x) => 1 << x)]);

  /** Most log-likelihood that further parents can add for x. */
  const mostGain = (x: number, given: number): number => ceiling[x]! - (value[given | (1 << x)]! - value[given]!);
  const survives = (x: number, set: number, cells: number, other: boolean): boolean => {
    for (let left = set; left !== 0; left &= left - 1) {
      const y = 31 - Math.clz32(left & -left);
      const smaller = set ^ (1 << y);
      const radix = table.levels[y]!;
      const cost = weight * (table.levels[x]! - 1) * (cells / radix) * (radix - 1);
      if (cost >= (other ? mostGain(y, smaller) : mostGain(x, smaller))) return false;
    }
    return true;
  };

  const all: Candidate[] = [{ set: 0, cells: 1, top: new Float64Array(k) }];
  /** Best score of each child within the set of parents, over all their subsets. */
  const score = (x: number, set: number, cells: number): number =>
    value[set | (1 << x)]! - value[set]! - weight * (table.levels[x]! - 1) * cells;
  for (let x = 0; x < k; x++) all[0]!.top[x] = score(x, 0, 1);
  const cannotWin = (x: number, { cells, top }: Candidate): boolean =>
    top[x]! >= ceiling[x]! - weight * (table.levels[x]! - 1) * cells;
  const place = new Int32Array(1 << k);
  let level = all.slice();
  for (let size = 1; size <= Math.min(maxParents, k - 1) && level.length > 0; size++) {
    let grown = extend(level, (set) => all[place[set]!]!.top, candidates, table.levels);
    grown = grown.filter((g) => keepPassing(candidates, g.set, (x) => !cannotWin(x, g) && survives(x, g.set, g.cells, false)));
    compute(grown.map((g) => g.set));
    grown = grown.filter(({ set, cells }) => keepPassing(candidates, set, (x) => survives(x, set, cells, true)));
    compute(grown.flatMap((g) => members(candidates[g.set]!).map((x) => g.set | (1 << x))));
    for (const g of grown) {
      for (const x of members(candidates[g.set]!)) g.top[x] = Math.max(g.top[x]!, score(x, g.set, g.cells));
      place[g.set] = all.push(g) - 1;
    }
    level = grown;
  }
  all.sort((a, b) => a.set - b.set);
  return {
    value,
    candidates,
    sets: Int32Array.from(all, (s) => s.set),
    cells: Float64Array.from(all, (s) => s.cells),
  };
}

/** L(X | all): zero is always an upper bound, and close to the truth when there are more cells than rows. */
function likelihoodCeilings(table: CodedTable, counter: CellCounter, mostCells: number): Float64Array {
  const everything = [...table.levels.keys()];
  const allCells = table.levels.reduce((product, r) => product * r, 1);
  return Float64Array.from(everything, (x) => {
    const others = everything.filter((c) => c !== x);
    if (allCells <= Math.min(table.rows, mostCells)) return counter.likelihood(everything) - counter.likelihood(others);
    return table.rows < manyRows ? 0 : likelihoodOf(table, everything) - likelihoodOf(table, others);
  });
}

interface Candidate {
  readonly set: number;
  readonly cells: number;
  /** Per child, the best score over the subsets of `set`. */
  readonly top: Float64Array;
}

/** Rows from which it is worth computing the likelihood of each column given all others. */
const manyRows = 8192;
/** Sum of N log N over the joint cells of these columns, however many there are. */
function likelihoodOf(table: CodedTable, columns: readonly number[]): number {
  const counts = new Map<string, number>();
  for (let r = 0; r < table.rows; r++) {
    let cell = '';
    for (const c of columns) cell += String.fromCharCode(table.columns[c]![r]!);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  let total = 0;
  for (const n of counts.values()) total += n * Math.log(n);
  return total;
}

/** Sets one element larger whose subsets all survived for a common child. */
function extend(
  level: readonly Candidate[],
  topOf: (set: number) => Float64Array,
  candidates: Int32Array,
  levels: readonly number[],
): Candidate[] {
  const k = levels.length;
  const grown: Candidate[] = [];
  for (const { set, cells } of level)
    for (let c = set === 0 ? 0 : 32 - Math.clz32(set); c < k; c++) {
      const next = set | (1 << c);
      let common = ~next;
      for (let left = next; left !== 0; left &= left - 1) common &= candidates[next ^ (left & -left)]!;
      if (common === 0) continue;
      candidates[next] = common;
      const top = new Float64Array(k).fill(Number.NEGATIVE_INFINITY);
      for (let left = next; left !== 0; left &= left - 1) {
        const below = topOf(next ^ (left & -left));
        for (let x = 0; x < k; x++) if (below[x]! > top[x]!) top[x] = below[x]!;
      }
      grown.push({ set: next, cells: cells * levels[c]!, top });
    }
  return grown;
}

/** Drops the children that fail the test; true if one remains. */
function keepPassing(candidates: Int32Array, set: number, test: (x: number) => boolean): boolean {
  let kept = 0;
  for (const x of members(candidates[set]!)) if (test(x)) kept |= 1 << x;
  candidates[set] = kept;
  return kept !== 0;
}

export const members = (set: number): number[] => {
  const list: number[] = [];
  for (let s = set; s !== 0; s &= s - 1) list.push(31 - Math.clz32(s & -s));
  return list;
};

/** Sets that are not known yet, ordered so that adjacent ones share their first columns; they count as known from now on. */
function missingInOrder(wanted: readonly number[], known: Uint8Array, k: number): readonly number[] {
  const missing = [...new Set(wanted)].filter((set) => known[set] === 0);
  for (const set of missing) known[set] = 1;
  const reversed = (set: number): number => {
    let r = 0;
    for (let b = 0; b < k; b++) r = (r << 1) | ((set >> b) & 1);
    return r;
  };
  const order = Int32Array.from(missing, reversed).sort().reverse();
  return Array.from(order, reversed);
}
