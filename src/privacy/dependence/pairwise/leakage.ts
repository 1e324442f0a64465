import { addUp, divUp, expm1Up, logDown, logUp, mulUp, subUp } from '../../../base/exact/outward.js';
import { nextUp } from '../../../base/exact/rational.js';
import { levelCount, type PairTables, pairTableCells } from './pair-tables.js';

/**
 * Spread of two-column tables, for surveys whose columns are noised separately (uninformed attacker): for a few tilts, the worst
 * F_t over secret pairs (leakage.proof.md).
 */
export interface PairwiseSpread {
  readonly columns: number;
  readonly names: readonly string[];
  readonly tilts: readonly { readonly tilt: number; readonly spread: number }[];
  /** Probability over the sample with which `spread` bounds the population's; 1 when the tables are taken as the truth. */
  readonly confidence: number;
  /** Secrets: groups of levels per column, if not every level is a secret of its own. */
  readonly secrets?: readonly (readonly (readonly number[])[])[];
  /** Within a public form, an answer nobody gave was taken to be impossible there. */
  readonly forms?: boolean;
  /** Only answers that at least this many sampled rows gave are covered. */
  readonly least?: number;
}

/** Closed under inversion, which halves the number of events in the union bound; chosen before any table is seen. */
const tilts = [4 / 5, 1, 5 / 4] as const;

export interface PairwiseSpreadOptions {
  /** 0.95: the tables are a sample of independent rows and the bound holds for the population with this probability. Absent: they are the truth. */
  readonly confidence?: number;
  /** Levels that are one secret together (rare answers), per column; every level by itself when absent. Released cells stay as they are. */
  readonly secrets?: readonly (readonly (readonly number[])[])[];
  /** The strata are questionnaire forms with skip logic: an answer nobody gave on a form is impossible there, so no secret of that form. */
  readonly forms?: boolean;
}

/** Several tables are the strata of a public answer (a form): the attacker knows the stratum, so the worst one counts. */
export function pairwiseSpread(strata: readonly PairTables[], options: PairwiseSpreadOptions = {}): PairwiseSpread {
  const { names, levels } = strata[0]!;
  const secrets = options.secrets ?? levels.map((v) => Array.from({ length: v }, (_, a) => [a]));
  const pairs = strata.length * secrets.reduce((sum, groups) => sum + (groups.length * (groups.length - 1)) / 2, 0);
  const events = 2 * tilts.length * Math.max(pairs, 1);
  const logEvents = options.confidence === undefined ? 0 : Math.log(events / (1 - options.confidence));
  const found = tilts.map((tilt) => ({ tilt, spread: 0 }));
  for (const tables of strata)
    secrets.forEach((groups, i) => {
      const answeredGroups = groups
        .map((group) => answeredBy(tables, i, group))
        .filter((answered) => options.forms !== true || answered.rows > 0);
      for (const a of answeredGroups)
        for (const b of answeredGroups)
          if (a !== b)
            for (const t of found) t.spread = Math.max(t.spread, pairSpread({ tables, column: i, a, b }, t.tilt, logEvents));
    });
  return {
    columns: names.length,
    names,
    // sums of at most 2^13 doubles: far within this
    tilts: found.map(({ tilt, spread }) => ({ tilt, spread: Math.min(spread * (1 + 1e-9), nextUp(tilt * (names.length - 1))) })),
    confidence: options.confidence ?? 1,
    ...(options.secrets && { secrets }),
    ...(options.forms && { forms: true }),
  };
}

/** Rows that gave one of these answers: their number, and their answers to other columns. */
interface Answered {
  readonly rows: number;
  readonly counts: Float64Array;
}
function answeredBy(tables: PairTables, i: number, group: readonly number[]): Answered {
  const cells = pairTableCells(tables);
  const counts = new Float64Array(cells);
  let rows = 0;
  for (const a of group) {
    rows += levelCount(tables, i, a);
    const row = (tables.start[i]! + a) * cells;
    for (let c = 0; c < cells; c++) counts[c]! += tables.counts[row + c]!;
  }
  return { rows, counts };
}

interface SecretPair {
  readonly tables: PairTables;
  readonly column: number;
  readonly a: Answered;
  readonly b: Answered;
}

/**
 * Sum over j of max over S [ tilt P(S|a) - P(S|b) ], plus the radius; at most tilt (columns - 1), its value for disjoint
 * distributions.
 */
function pairSpread({ tables, column: i, a, b }: SecretPair, tilt: number, logEvents: number): number {
  const cells = pairTableCells(tables);
  const others = tables.levels.length - 1;
  if (!(a.rows > 0 && b.rows > 0)) return tilt * others;
  const left = tilt / a.rows;
  const right = 1 / b.rows;
  let sum = 0;
  const add = (from: number, to: number): void => {
    for (let c = from; c < to; c++) {
      const d = left * a.counts[c]! - right * b.counts[c]!;
      if (d > 0) sum += d;
    }
  };
  add(0, tables.start[i]!);
  add(tables.start[i + 1]!, cells);
  const radius = logEvents > 0 ? tilt * Math.sqrt(logEvents / (2 * a.rows)) + Math.sqrt(logEvents / (2 * b.rows)) : 0;
  return Math.min(sum + others * radius, tilt * others);
}

/**
 * Groups of levels with at least `share` of the rows each: rarer levels are pooled with the next smallest. A column with fewer
 * than two groups has no secret of its own. Reads counts, so the result is as private as these.
 */
export function commonAnswers(
  tables: PairTables,
  share: (column: number) => number,
): readonly (readonly (readonly number[])[])[] {
  return tables.levels.map((v, i) => {
    const counts = Array.from({ length: v }, (_, a) => levelCount(tables, i, a));
    const least = share(i) * counts.reduce((sum, c) => sum + c, 0);
    const rare: number[] = [];
    let pool = 0;
    for (const a of counts.map((_, k) => k).sort((x, y) => counts[x]! - counts[y]!))
      if (counts[a]! < least || (rare.length > 0 && pool < least)) {
        rare.push(a);
        pool += counts[a]!;
      }
    const alone = counts.flatMap((_, a) => (rare.includes(a) ? [] : [[a]]));
    return rare.length > 0 ? [...alone, rare.sort((x, y) => x - y)] : alone;
  });
}

/** Upper bound on the leakage of one answer if every column's histogram costs at most `base`. Never above base x columns. */
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
