import type { Adversary } from '../../policy/policy.js';
import { enumerationTooLarge, type JointDistribution } from '../../privacy/dependence/model/joint.js';
import { type Arithmetic, cellsFor, linearArithmetic, logArithmetic } from './known-cells.js';
import { leastRoot } from './least-root.js';
import type { StateAnswers } from './record-query.js';

/** Worst-case loss of `answer + Laplace(scale)` on one joint distribution. See exact-loss.proof.md. */
export interface ExactLoss {
  readonly loss: number;
  /** A bound on the rounding of `loss`: the true loss is at most loss + slack. */
  readonly slack: number;
  /** The worst case; absent if nothing is learnt. */
  readonly worst?: {
    readonly record: number;
    /** The two values that are distinguished, as positions in the record's list. */
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
const largestAudit = 1e9;

/** The exact loss. By note F1 the worst output lies on the product grid of the answer's coordinates, so the search is finite. */
export function exactLoss(joint: JointDistribution, answers: StateAnswers, scale: number, options: LossOptions): ExactLoss {
  const possible = possibleStates(joint);
  const grid = coordinates(answers, possible);
  const cells = cellsFor(joint, possible, options.adversary);
  const outputs = grid.reduce((product, axis) => product * axis.length, 1);
  const steps = outputs * (cells.total * joint.sizes.length + possible.length * answers.width);
  const limit = options.limit ?? largestAudit;
  if (!(steps <= limit)) throw enumerationTooLarge('steps', steps, limit);

  const span = spanOf(answers, possible) / scale;
  const lightest = possible.reduce((least, state) => Math.min(least, joint.probabilities[state]!), 1);
  // Below this no likelihood leaves the normal range of a double, so plain sums keep full relative precision; beyond it sums run on logarithms.
  const arithmetic: Arithmetic = span - Math.log(lightest) < 650 ? linearArithmetic : logArithmetic;
  const prior = possible.map((state) => arithmetic.of(joint.probabilities[state]!));
  const base = cells.sums(prior, arithmetic);
  const kernel = (k: number, s: number) =>
    Float64Array.from(possible, (state) => -Math.abs(answers.points[state * answers.width + k]! - s) / scale);
  const factors = grid.map((axis, k) => axis.map((s) => kernel(k, s)));

  let best = arithmetic.none;
  let worst: ExactLoss['worst'];
  const likelihood = new Float64Array(possible.length);
  for (const position of positions(grid.map((axis) => axis.length))) {
    for (let p = 0; p < possible.length; p++) {
      let exponent = 0;
      for (let k = 0; k < position.length; k++) exponent += factors[k]![position[k]!]![p]!;
      likelihood[p] = arithmetic.scaled(prior[p]!, exponent);
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

/** Loss of an answer without noise: infinite unless every answer is possible under all values. */
export function lossWithoutNoise(joint: JointDistribution, answers: StateAnswers, options: LossOptions): number {
  const possible = possibleStates(joint);
  const cells = cellsFor(joint, possible, options.adversary);
  const base = cells.sums(
    possible.map((state) => joint.probabilities[state]!),
    linearArithmetic,
  );
  const key = (state: number) => answers.points.subarray(state * answers.width, (state + 1) * answers.width).join();
  const keys = possible.map(key);
  let best = linearArithmetic.none;
  for (const atom of new Set(keys)) {
    const sums = cells.sums(
      possible.map((state, p) => (keys[p] === atom ? joint.probabilities[state]! : 0)),
      linearArithmetic,
    );
    best = cells.widest(sums, base, linearArithmetic, best)?.gap ?? best;
  }
  return linearArithmetic.loss(best);
}

export const possibleStates = ({ probabilities }: JointDistribution): number[] =>
  [...probabilities.keys()].filter((state) => probabilities[state]! > 0);

const coordinates = (answers: StateAnswers, possible: readonly number[]): number[][] =>
  Array.from({ length: answers.width }, (_, k) =>
    [...new Set(possible.map((state) => answers.points[state * answers.width + k]!))].sort((a, b) => a - b),
  );

/** The widest L1 distance two answers can have, from the sides of the bounding box. */
function spanOf(answers: StateAnswers, possible: readonly number[]): number {
  return coordinates(answers, possible).reduce((total, axis) => total + axis.at(-1)! - axis[0]!, 0);
}

/** Every position in a grid; one list that is overwritten. */
export function* positions(lengths: readonly number[]): Generator<readonly number[]> {
  const at = lengths.map(() => 0);
  for (;;) {
    yield at;
    let k = lengths.length - 1;
    while (k >= 0 && ++at[k]! === lengths[k]!) at[k--] = 0;
    if (k < 0) return;
  }
}

/**
 * The least Laplace scale whose exact loss is at most epsilon, rounded up. Sound because the loss never
 * increases with the scale (note F2): larger noise is smaller noise plus independent noise, so post-processing.
 */
export function leastScale(joint: JointDistribution, answers: StateAnswers, epsilon: number, options: LossOptions): number {
  if (lossWithoutNoise(joint, answers, options) <= epsilon * (1 - 1e-9)) return 0;
  const excess = (scale: number) => {
    const { loss, slack } = exactLoss(joint, answers, scale, options);
    return Math.log((loss + slack) / epsilon);
  };
  // No two answers are farther from each other than the span, so this scale is safe even after rounding.
  return leastRoot(excess, (spanOf(answers, possibleStates(joint)) / epsilon) * (1 + 1e-9));
}

/** The same worst case in the user's words. */
export function nameWorst(joint: JointDistribution, worst: NonNullable<ExactLoss['worst']>) {
  return {
    record: joint.ids[worst.record]!,
    values: worst.pair.map((v) => joint.values[worst.record]![v]!),
    known: Object.fromEntries(worst.known.map(([j, v]) => [joint.ids[j]!, joint.values[j]![v]!])),
    output: worst.output.length === 1 ? worst.output[0]! : [...worst.output],
  };
}
