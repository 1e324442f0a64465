import type { Adversary } from '../../policy/policy.js';
import { type JointDistribution, stridesOf } from '../../privacy/dependence/model/joint.js';

/** Sums of likelihoods, kept either as they are or as logarithms. */
export interface Arithmetic {
  readonly none: number;
  readonly empty: number;
  of(probability: number): number;
  /** A sum times e^exponent. */
  scaled(a: number, exponent: number): number;
  add(a: number, b: number): number;
  /** Likelihood ratio of one value to another. */
  quotient(a: number, b: number): number;
  loss(gap: number): number;
}
export const linearArithmetic: Arithmetic = {
  none: 1,
  empty: 0,
  of: (p) => p,
  scaled: (a, exponent) => a * Math.exp(exponent),
  add: (a, b) => a + b,
  quotient: (a, b) => a / b,
  loss: (gap) => Math.log(gap),
};
export const logArithmetic: Arithmetic = {
  none: 0,
  empty: Number.NEGATIVE_INFINITY,
  of: (p) => Math.log(p),
  scaled: (a, exponent) => a + exponent,
  add: (a, b) => {
    if (a === Number.NEGATIVE_INFINITY) return b;
    if (b === Number.NEGATIVE_INFINITY) return a;
    return Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
  },
  quotient: (a, b) => a - b,
  loss: (gap) => gap,
};

export interface WorstCase {
  readonly record: number;
  readonly pair: readonly [number, number];
  readonly known: readonly (readonly [number, number])[];
}
/** The events an adversary conditions on: x_i = a together with any known values, each a set of states. */
export interface KnowledgeCells {
  readonly total: number;
  sums(weights: ArrayLike<number>, arithmetic: Arithmetic): Float64Array;
  /** The largest likelihood ratio between two cells that differ in one record's value only, if above `best`. */
  widest(
    sums: Float64Array,
    base: Float64Array,
    arithmetic: Arithmetic,
    best: number,
  ): { gap: number; where: WorstCase } | undefined;
}

export const cellsFor = (joint: JointDistribution, possible: readonly number[], adversary: Adversary): KnowledgeCells =>
  adversary === 'informed' ? knownSubsets(joint, possible) : nothingKnown(joint, possible);

/**
 * Every coordinate takes one more value, "unknown": prod (m_j + 1) cells hold the total over all states that agree with the known ones.
 * A fibre along record i with the other coordinates fixed is one choice of the known set and of its values.
 */
function knownSubsets(joint: JointDistribution, possible: readonly number[]): KnowledgeCells {
  const wide = joint.sizes.map((m) => m + 1);
  const strides = stridesOf(wide);
  const total = wide.reduce((product, m) => product * m, 1);
  const home = Int32Array.from(possible, (state) =>
    joint.sizes.reduce((cell, m, j) => cell + (Math.floor(state / joint.strides[j]!) % m) * strides[j]!, 0),
  );
  const position = (cell: number, j: number) => Math.floor(cell / strides[j]!) % wide[j]!;
  return {
    total,
    sums(weights, arithmetic) {
      const out = new Float64Array(total).fill(arithmetic.empty);
      for (let p = 0; p < home.length; p++) out[home[p]!] = weights[p]!;
      joint.sizes.forEach((m, j) => {
        const stride = strides[j]!;
        for (let block = 0; block < total; block += stride * (m + 1))
          for (let cell = block; cell < block + stride; cell++) {
            let sum = out[cell]!;
            for (let v = 1; v < m; v++) sum = arithmetic.add(sum, out[cell + v * stride]!);
            out[cell + m * stride] = sum;
          }
      });
      return out;
    },
    widest(sums, base, arithmetic, best) {
      const ratio = sums.map((s, cell) => (base[cell] === arithmetic.empty ? Number.NaN : arithmetic.quotient(s, base[cell]!)));
      let gap = best;
      let where: [record: number, high: number, low: number] | undefined;
      joint.sizes.forEach((m, i) => {
        const stride = strides[i]!;
        for (let block = 0; block < total; block += stride * (m + 1))
          for (let cell = block; cell < block + stride; cell++) {
            let high = cell;
            let low = cell;
            let top = Number.NEGATIVE_INFINITY;
            let bottom = Number.POSITIVE_INFINITY;
            // An impossible cell is NaN and loses every comparison.
            for (let c = cell; c < cell + m * stride; c += stride) {
              const r = ratio[c]!;
              if (r > top) {
                top = r;
                high = c;
              }
              if (r < bottom) {
                bottom = r;
                low = c;
              }
            }
            if (high === low) continue;
            const found = arithmetic.quotient(top, bottom);
            if (found > gap) {
              gap = found;
              where = [i, high, low];
            }
          }
      });
      if (!where) return undefined;
      const [record, high, low] = where;
      const known = joint.sizes.flatMap((m, j) =>
        j !== record && position(high, j) < m ? [[j, position(high, j)] as const] : [],
      );
      return { gap, where: { record, pair: [position(high, record), position(low, record)], known } };
    },
  };
}

/** Only x_i = a: sum of m_j cells. */
function nothingKnown(joint: JointDistribution, possible: readonly number[]): KnowledgeCells {
  const starts: number[] = [];
  let total = 0;
  for (const m of joint.sizes) {
    starts.push(total);
    total += m;
  }
  const homes = joint.sizes.map((m, j) =>
    Int32Array.from(possible, (state) => starts[j]! + (Math.floor(state / joint.strides[j]!) % m)),
  );
  return {
    total: total + possible.length,
    sums(weights, arithmetic) {
      const out = new Float64Array(total).fill(arithmetic.empty);
      for (const home of homes) for (let p = 0; p < home.length; p++) out[home[p]!] = arithmetic.add(out[home[p]!]!, weights[p]!);
      return out;
    },
    widest(sums, base, arithmetic, best) {
      let gap = best;
      let where: WorstCase | undefined;
      joint.sizes.forEach((m, record) => {
        const ratios: [number, number][] = [];
        for (let v = 0; v < m; v++) {
          const cell = starts[record]! + v;
          if (base[cell] !== arithmetic.empty) ratios.push([arithmetic.quotient(sums[cell]!, base[cell]!), v]);
        }
        if (ratios.length < 2) return;
        const high = ratios.reduce((x, y) => (y[0] > x[0] ? y : x));
        const low = ratios.reduce((x, y) => (y[0] < x[0] ? y : x));
        const found = arithmetic.quotient(high[0], low[0]);
        if (found > gap) {
          gap = found;
          where = { record, pair: [high[1], low[1]], known: [] };
        }
      });
      return where && { gap, where };
    },
  };
}
