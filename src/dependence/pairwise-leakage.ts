import { addUp, divUp, expm1Up, logDown, logUp, mulUp, subUp } from '../exact/outward.js';
import { nextUp } from '../exact/rational.js';
import { cellCount, levelCount, type PairTables } from './pair-tables.js';

/**
 * What two-column tables say about a survey whose columns are noised one by one, uninformed attacker: for a few tilts, the worst over secret
 * pairs (i; a, b) of sum over j of max over sets S of [ tilt P(x_j in S | a) - P(x_j in S | b) ]. See pairwise-leakage.proof.md.
 */
export interface PairwiseSpread {
  readonly columns: number;
  readonly names: readonly string[];
  readonly tilts: readonly { readonly tilt: number; readonly spread: number }[];
  /** Probability over the sample with which `spread` bounds the population's; 1 when the tables are taken as the truth. */
  readonly confidence: number;
  /** The pair of answers that decides at tilt 1. */
  readonly worst: { readonly column: string; readonly a: number; readonly b: number };
}

/** Closed under inversion, which halves the number of events in the union bound; chosen before any table is seen. */
const tilts = [4 / 5, 1, 5 / 4] as const;

export interface SpreadOptions {
  /** 0.95: the tables are a sample of independent rows and the bound holds for the population with this probability. Absent: they are the truth. */
  readonly confidence?: number;
  /** Which pairs of levels of a column are a secret; all by default. */
  readonly secret?: (column: number, a: number, b: number) => boolean;
}

/** Several tables are the strata of a public answer (a form): the attacker knows the stratum, so the worst one counts. */
export function pairwiseSpread(strata: readonly PairTables[], options: SpreadOptions = {}): PairwiseSpread {
  const columns = strata[0]!.levels.length;
  const secret = options.secret ?? (() => true);
  let pairs = 0;
  for (const tables of strata)
    tables.levels.forEach((v, i) => {
      for (let a = 0; a < v; a++) for (let b = 0; b < a; b++) if (secret(i, a, b)) pairs++;
    });
  const events = 2 * tilts.length * Math.max(pairs, 1);
  const logEvents = options.confidence === undefined ? 0 : Math.log(events / (1 - options.confidence));
  let top = -1;
  let worst = { column: strata[0]!.names[0]!, a: 0, b: 0 };
  const found = tilts.map((tilt) => {
    let spread = 0;
    for (const tables of strata)
      for (let i = 0; i < columns; i++)
        for (let a = 0; a < tables.levels[i]!; a++)
          for (let b = 0; b < tables.levels[i]!; b++) {
            if (a === b || !secret(i, a, b)) continue;
            const here = pairSpread(tables, i, a, b, tilt, logEvents);
            spread = Math.max(spread, here);
            if (tilt === 1 && here > top) {
              top = here;
              worst = { column: tables.names[i]!, a, b };
            }
          }
    // sums of at most 2^13 doubles: far within this
    return { tilt, spread: Math.min(spread * (1 + 1e-9), nextUp(tilt * (columns - 1))) };
  });
  return { columns, names: strata[0]!.names, tilts: found, confidence: options.confidence ?? 1, worst };
}

/** sum over j of max over S [ tilt P(S|a) - P(S|b) ], plus the radius; never above tilt (columns - 1), its value for disjoint laws. */
function pairSpread(tables: PairTables, i: number, a: number, b: number, tilt: number, logEvents: number): number {
  const { counts, start } = tables;
  const cells = cellCount(tables);
  const others = tables.levels.length - 1;
  const na = levelCount(tables, i, a);
  const nb = levelCount(tables, i, b);
  if (!(na > 0 && nb > 0)) return tilt * others;
  const rowA = (start[i]! + a) * cells;
  const rowB = (start[i]! + b) * cells;
  const left = tilt / na;
  const right = 1 / nb;
  let sum = 0;
  const from = start[i]!;
  const to = start[i + 1]!;
  for (let c = 0; c < from; c++) {
    const d = left * counts[rowA + c]! - right * counts[rowB + c]!;
    if (d > 0) sum += d;
  }
  for (let c = to; c < cells; c++) {
    const d = left * counts[rowA + c]! - right * counts[rowB + c]!;
    if (d > 0) sum += d;
  }
  const radius = logEvents > 0 ? tilt * Math.sqrt(logEvents / (2 * na)) + Math.sqrt(logEvents / (2 * nb)) : 0;
  return Math.min(sum + others * radius, tilt * others);
}

/** What an attacker gains about one answer when every column's histogram costs at most `base`; rounded up. Never above base x columns. */
export function pairwiseLeakage(spread: PairwiseSpread, base: number): number {
  const group = mulUp(base, spread.columns);
  const rest = mulUp(base, spread.columns - 1);
  if (!(rest > 0)) return group;
  const slope = divUp(expm1Up(rest), rest);
  let least = group;
  for (const { tilt, spread: worst } of spread.tilts) {
    const curve = addUp(divUp(tilt, slope), subUp(logUp(slope), logDown(tilt)));
    least = Math.min(least, addUp(base, addUp(subUp(curve, 1), mulUp(base, worst))));
  }
  return least;
}

/** The largest base whose leakage stays within epsilon (a double below the limit). */
export function largestPairwiseBase(spread: PairwiseSpread, epsilon: number): number {
  let low = 0;
  let high = epsilon;
  for (let step = 0; step < 200 && high > low; step++) {
    const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    if (pairwiseLeakage(spread, middle) <= epsilon) low = middle;
    else high = middle;
  }
  return low;
}
