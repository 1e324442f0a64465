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

interface WorstCase {
  readonly record: number;
  readonly pair: readonly [number, number];
  readonly known: readonly (readonly [number, number])[];
}
/** The events an adversary conditions on: x_i = a together with any known values, each a set of states. */
interface Events {
  /** Number of cells: each holds the total over the states of one event. */
  readonly total: number;
  sums(weights: ArrayLike<number>, arithmetic: Arithmetic): Float64Array;
  /** Visits the cells that differ in the value of one record only: the first of them, and the step to the next. */
  fibres(visit: (record: number, first: number, step: number) => void): void;
  /** What is known in a cell besides the value of that record. */
  known(record: number, cell: number): WorstCase['known'];
}

export function cellsFor(joint: JointDistribution, possible: readonly number[], adversary: Adversary) {
  const { total, sums, fibres, known } = adversary === 'informed' ? knownSubsets(joint, possible) : nothingKnown(joint, possible);
  /** The largest likelihood ratio between two cells that differ in one record's value only, if above `best`. */
  const widest = (sums: Float64Array, base: Float64Array, { empty, quotient }: Arithmetic, best: number) => {
    const ratio = sums.map((s, cell) => (base[cell] === empty ? Number.NaN : quotient(s, base[cell]!)));
    let gap = best;
    let found: { readonly record: number; readonly pair: readonly [number, number]; readonly cell: number } | undefined;
    fibres((record, first, step) => {
      let [high, low] = [0, 0];
      let [top, bottom] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
      // An impossible cell is NaN and loses every comparison.
      for (let v = 0; v < joint.sizes[record]!; v++) {
        const r = ratio[first + v * step]!;
        if (r > top) {
          top = r;
          high = v;
        }
        if (r < bottom) {
          bottom = r;
          low = v;
        }
      }
      if (high === low || !(quotient(top, bottom) > gap)) return;
      gap = quotient(top, bottom);
      found = { record, pair: [high, low], cell: first + high * step };
    });
    if (!found) return undefined;
    const { record, pair, cell } = found;
    return { gap, where: { record, pair, known: known(record, cell) } };
  };
  return { total, sums, widest };
}

/**
 * Every coordinate takes one more value, "unknown": prod (m_j + 1) cells hold the total over all states that agree with the known ones.
 * A fibre along record i with the other coordinates fixed is one choice of the known set and of its values.
 */
function knownSubsets({ sizes, strides: places }: JointDistribution, possible: readonly number[]): Events {
  const wide = sizes.map((m) => m + 1);
  const strides = stridesOf(wide);
  const total = wide.reduce((product, m) => product * m, 1);
  const home = Int32Array.from(possible, (state) =>
    sizes.reduce((cell, m, j) => cell + (Math.floor(state / places[j]!) % m) * strides[j]!, 0),
  );
  const fibresAlong = (j: number, visit: (first: number, step: number) => void) => {
    const stride = strides[j]!;
    for (let block = 0; block < total; block += stride * wide[j]!)
      for (let cell = block; cell < block + stride; cell++) visit(cell, stride);
  };
  return {
    total,
    sums(weights, arithmetic) {
      const out = new Float64Array(total).fill(arithmetic.empty);
      for (let p = 0; p < home.length; p++) out[home[p]!] = weights[p]!;
      for (const [j, m] of sizes.entries())
        fibresAlong(j, (first, step) => {
          let sum = out[first]!;
          for (let v = 1; v < m; v++) sum = arithmetic.add(sum, out[first + v * step]!);
          out[first + m * step] = sum;
        });
      return out;
    },
    fibres: (visit) => {
      for (const record of sizes.keys()) fibresAlong(record, (first, step) => visit(record, first, step));
    },
    known: (record, cell) =>
      sizes.flatMap((m, j) => {
        const value = Math.floor(cell / strides[j]!) % wide[j]!;
        return j !== record && value < m ? [[j, value] as const] : [];
      }),
  };
}

/** Only x_i = a: sum of m_j cells. */
function nothingKnown({ sizes, strides }: JointDistribution, possible: readonly number[]): Events {
  const starts = sizes.map((_, j) => sizes.slice(0, j).reduce((sum, m) => sum + m, 0));
  const cells = sizes.reduce((sum, m) => sum + m, 0);
  const homes = sizes.map((m, j) => Int32Array.from(possible, (state) => starts[j]! + (Math.floor(state / strides[j]!) % m)));
  return {
    total: cells + possible.length,
    sums(weights, arithmetic) {
      const out = new Float64Array(cells).fill(arithmetic.empty);
      for (const home of homes) for (let p = 0; p < home.length; p++) out[home[p]!] = arithmetic.add(out[home[p]!]!, weights[p]!);
      return out;
    },
    fibres: (visit) => {
      for (const record of sizes.keys()) visit(record, starts[record]!, 1);
    },
    known: () => [],
  };
}
