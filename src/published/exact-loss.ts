import { type Joint, stridesOf, tooLarge } from '../dependence/joint.js';
import type { Adversary } from '../policy/policy.js';
import type { Answers } from './workload.js';

/** What an adversary gains at worst from `answer + Laplace(scale)` on one joint distribution. See exact-loss.proof.md. */
export interface ExactLoss {
  readonly loss: number;
  /** A bound on the rounding of `loss`: the true loss is at most loss + slack. */
  readonly slack: number;
  /** Where it happens; absent when nothing is learnt. */
  readonly worst?: {
    readonly record: number;
    /** The two values told apart, as positions in the record's list. */
    readonly pair: readonly [number, number];
    /** Known records and the positions of their values. */
    readonly known: readonly (readonly [number, number])[];
    readonly output: readonly number[];
  };
}

export type { Adversary };
export interface LossOptions {
  readonly adversary: Adversary;
  /** Elementary steps allowed before the request is refused. */
  readonly limit?: number;
}
export const largestAudit = 1e9;

/** The exact loss. By note F1 the worst output lies on the product grid of the answer's coordinates, so the search is finite. */
export function exactLoss(joint: Joint, answers: Answers, scale: number, options: LossOptions): ExactLoss {
  const possible = possibleStates(joint);
  const grid = coordinates(answers, possible);
  const cells = cellsFor(joint, possible, options.adversary);
  const outputs = grid.reduce((product, axis) => product * axis.length, 1);
  const steps = outputs * (cells.total * joint.sizes.length + possible.length * answers.width);
  const limit = options.limit ?? largestAudit;
  if (!(steps <= limit)) throw tooLarge('steps', steps, limit);

  const span = spanOf(answers, possible) / scale;
  const lightest = possible.reduce((least, state) => Math.min(least, joint.probabilities[state]!), 1);
  // Below this no likelihood leaves the normal range of a double, so plain sums keep full relative precision; beyond it sums run on logarithms.
  const arithmetic: Arithmetic = span - Math.log(lightest) < 650 ? plain : logarithmic;
  const base = cells.sums(
    possible.map((state) => arithmetic.of(joint.probabilities[state]!)),
    arithmetic,
  );
  const factors = grid.map((axis, k) => axis.map((s) => kernel(answers, possible, k, s, scale)));

  let best = arithmetic.none;
  let worst: ExactLoss['worst'];
  const likelihood = new Float64Array(possible.length);
  for (const position of product(grid.map((axis) => axis.length))) {
    for (let p = 0; p < possible.length; p++) {
      let exponent = 0;
      for (let k = 0; k < position.length; k++) exponent += factors[k]![position[k]!]![p]!;
      likelihood[p] = arithmetic.times(joint.probabilities[possible[p]!]!, exponent);
    }
    const found = cells.widest(cells.sums(likelihood, arithmetic), base, arithmetic, best);
    if (!found) continue;
    best = found.gap;
    worst = { ...found.where, output: position.map((c, k) => grid[k]![c]!) };
  }
  return {
    loss: arithmetic.loss(best),
    // Each likelihood is a sum of at most N rounded terms whose exponents carry an error of their own size.
    slack: (possible.length + joint.sizes.length + 2 * span + 16) * 2 ** -50,
    ...(worst && { worst }),
  };
}

/** The loss when the answer is released as it is: infinite unless every answer is possible under all values. */
export function lossWithoutNoise(joint: Joint, answers: Answers, options: LossOptions): number {
  const possible = possibleStates(joint);
  const cells = cellsFor(joint, possible, options.adversary);
  const base = cells.sums(
    possible.map((state) => joint.probabilities[state]!),
    plain,
  );
  const key = (state: number) => answers.points.subarray(state * answers.width, (state + 1) * answers.width).join();
  const keys = possible.map(key);
  let best = plain.none;
  for (const atom of new Set(keys)) {
    const sums = cells.sums(
      possible.map((state, p) => (keys[p] === atom ? joint.probabilities[state]! : 0)),
      plain,
    );
    best = cells.widest(sums, base, plain, best)?.gap ?? best;
  }
  return plain.loss(best);
}

const possibleStates = (joint: Joint): number[] => {
  const states: number[] = [];
  joint.probabilities.forEach((p, state) => {
    if (p > 0) states.push(state);
  });
  return states;
};

const coordinates = (answers: Answers, possible: readonly number[]): number[][] =>
  Array.from({ length: answers.width }, (_, k) =>
    [...new Set(possible.map((state) => answers.points[state * answers.width + k]!))].sort((a, b) => a - b),
  );

const kernel = (answers: Answers, possible: readonly number[], k: number, s: number, scale: number): Float64Array =>
  Float64Array.from(possible, (state) => -Math.abs(answers.points[state * answers.width + k]! - s) / scale);

/** The widest L1 distance two answers can have, from the sides of the bounding box. */
export function spanOf(answers: Answers, possible: readonly number[]): number {
  return coordinates(answers, possible).reduce((total, axis) => total + axis.at(-1)! - axis[0]!, 0);
}

function* product(lengths: readonly number[]): Generator<number[]> {
  const at = lengths.map(() => 0);
  for (;;) {
    yield at;
    let k = lengths.length - 1;
    while (k >= 0 && ++at[k]! === lengths[k]!) at[k--] = 0;
    if (k < 0) return;
  }
}

/** Sums of likelihoods, kept either as they are or as logarithms. */
interface Arithmetic {
  readonly none: number;
  readonly empty: number;
  of(probability: number): number;
  times(probability: number, exponent: number): number;
  add(a: number, b: number): number;
  /** How much more likely under one value than another. */
  quotient(a: number, b: number): number;
  loss(gap: number): number;
}
const plain: Arithmetic = {
  none: 1,
  empty: 0,
  of: (p) => p,
  times: (p, exponent) => p * Math.exp(exponent),
  add: (a, b) => a + b,
  quotient: (a, b) => a / b,
  loss: (gap) => Math.log(gap),
};
const logarithmic: Arithmetic = {
  none: 0,
  empty: Number.NEGATIVE_INFINITY,
  of: (p) => Math.log(p),
  times: (p, exponent) => Math.log(p) + exponent,
  add: (a, b) => {
    if (a === Number.NEGATIVE_INFINITY) return b;
    if (b === Number.NEGATIVE_INFINITY) return a;
    return Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
  },
  quotient: (a, b) => a - b,
  loss: (gap) => gap,
};

interface Where {
  readonly record: number;
  readonly pair: readonly [number, number];
  readonly known: readonly (readonly [number, number])[];
}
/** The events an adversary conditions on: x_i = a together with any known values, each a set of states. */
interface Cells {
  readonly total: number;
  sums(weights: ArrayLike<number>, arithmetic: Arithmetic): Float64Array;
  /** The largest likelihood ratio between two cells that differ in one record's value only, if above `best`. */
  widest(sums: Float64Array, base: Float64Array, arithmetic: Arithmetic, best: number): { gap: number; where: Where } | undefined;
}

const cellsFor = (joint: Joint, possible: readonly number[], adversary: Adversary): Cells =>
  adversary === 'informed' ? knownSubsets(joint, possible) : nothingKnown(joint, possible);

/**
 * Every coordinate takes one more value, "unknown": prod (m_j + 1) cells hold the total over all states that agree with the known ones.
 * A fibre along record i with the other coordinates fixed is one choice of the known set and of its values.
 */
function knownSubsets(joint: Joint, possible: readonly number[]): Cells {
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
function nothingKnown(joint: Joint, possible: readonly number[]): Cells {
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
      let where: Where | undefined;
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

/** The same place in the user's words. */
export function nameWorst(joint: Joint, worst: NonNullable<ExactLoss['worst']>) {
  return {
    record: joint.ids[worst.record]!,
    values: worst.pair.map((v) => joint.values[worst.record]![v]!),
    known: Object.fromEntries(worst.known.map(([j, v]) => [joint.ids[j]!, joint.values[j]![v]!])),
    output: worst.output.length === 1 ? worst.output[0]! : [...worst.output],
  };
}
