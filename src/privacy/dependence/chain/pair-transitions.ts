import { addUp, logDown, logUp, mulUp, subUp, tanhUp } from '../../../base/exact/outward.js';

/** Tables of the same number of steps, every entry right to a relative error; one of them is the true one. */
export interface StepTables {
  readonly steps: number;
  readonly tables: readonly { readonly rows: readonly ArrayLike<number>[]; readonly relative: number }[];
}

/**
 * Contraction of the privacy loss between two values at one step on its way to two values at another, for every two pairs of
 * values.
 */
export interface PairLeap {
  readonly steps: number;
  /** tanh(D/4), rounded up: one row for each pair of values here, one column for each pair there. */
  readonly contraction: Float64Array;
}

/** Odds ratios for every two values here and two there, instead of one D, the largest of all (chain.proof.md, "Pair by pair"). */
export interface PairTransitions {
  readonly pairs: number;
  /** One step first, then further ones. */
  readonly backward: readonly PairLeap[];
  readonly forward: readonly PairLeap[];
}

export function pairTransitions(all: readonly StepTables[]): PairTransitions {
  const states = all[0]!.tables[0]!.rows.length;
  const pairs = (states * (states - 1)) / 2;
  const backward = all.map(({ steps, tables }) => ({ steps, contraction: passingOf(tables, states, pairs) }));
  return {
    pairs,
    backward,
    forward: backward.map(({ steps, contraction }) => ({ steps, contraction: turned(contraction, pairs) })),
  };
}

/** Rows: two values after the steps. Columns: two values before them. */
function passingOf(tables: StepTables['tables'], states: number, pairs: number): Float64Array {
  const passing = new Float64Array(pairs * pairs);
  for (const { rows, relative } of tables) {
    const above = rows.map((row) => Float64Array.from(row, logUp));
    const below = rows.map((row) => Float64Array.from(row, logDown));
    let at = 0;
    for (let s = 1; s < states; s++)
      for (let t = 0; t < s; t++)
        for (let u = 1; u < states; u++)
          for (let v = 0; v < u; v++, at++) {
            const d = Math.max(cross(above, below, [u, v], [s, t]), cross(above, below, [u, v], [t, s]));
            passing[at] = Math.max(passing[at]!, tanhUp(addUp(d, mulUp(4.1, relative)) / 4));
          }
  }
  return passing;
}

/**
 * |log P(u,s) P(v,t) / (P(u,t) P(v,s))|, from bounds. Ratios impossible under both values are skipped; impossible under one:
 * Infinity.
 */
function cross(
  above: readonly Float64Array[],
  below: readonly Float64Array[],
  [u, v]: readonly [number, number],
  [s, t]: readonly [number, number],
): number {
  const none = Number.NEGATIVE_INFINITY;
  const [us, vt, ut, vs] = [above[u]![s]!, above[v]![t]!, below[u]![t]!, below[v]![s]!];
  if ((us === none && above[u]![t] === none) || (vt === none && above[v]![s] === none)) return 0;
  if (us === none || vt === none || ut === none || vs === none) return Number.POSITIVE_INFINITY;
  return Math.max(0, addUp(subUp(us, ut), subUp(vt, vs)));
}

const turned = (passing: Float64Array, pairs: number): Float64Array =>
  passing.map((_, at) => passing[(at % pairs) * pairs + Math.floor(at / pairs)]!);
