import { conditionalDistribution } from '../../../privacy/dependence/model/joint.js';
import { leastRoot } from '../../audit/least-root.js';
import { asPublished, type Calibration, type MechanismInput, maximumOf, total } from '../compare/mechanism.js';
import { pairwiseDependent } from '../group-dp/group.js';

/** Dependent perturbation of Liu et al. 2016: sensitivity max_i sum_j rho_ij dQ_j, with rho from one of two equations. */
export type Coefficient = (rows: readonly Float64Array[], values: readonly number[], scale: number) => number;

const width = (values: readonly number[]) => Math.max(...values) - Math.min(...values);
const possibleRows = (rows: readonly Float64Array[]) => rows.filter((row) => row.some((p) => p > 0));

/** log of sum over v of row[v] e^exponent[v], without overflow. */
function logMean(row: Float64Array, exponents: readonly number[]): number {
  let top = Number.NEGATIVE_INFINITY;
  row.forEach((p, v) => {
    if (p > 0 && exponents[v]! > top) top = exponents[v]!;
  });
  let sum = 0;
  row.forEach((p, v) => {
    if (p > 0) sum += p * Math.exp(exponents[v]! - top);
  });
  return top + Math.log(sum);
}

/** Eq. 14: the exact log ratio of D_j's noisy value under two values of D_i, worst over outputs (which are atoms). */
export const equation14: Coefficient = (rows, values, scale) => {
  const domain = width(values);
  if (domain === 0) return 0;
  const outputs = values.map((s) => {
    const exponents = values.map((v) => -Math.abs(v - s) / scale);
    const logs = possibleRows(rows).map((row) => logMean(row, exponents));
    return Math.max(...logs) - Math.min(...logs);
  });
  return (maximumOf(outputs) * scale) / domain;
};

/** Eq. 18: the paper's simplification, with the farthest point taken inside the sum, separately for every value. */
export const equation18: Coefficient = (rows, values, scale) => {
  const far = values.map((v) => Math.max(...values.map((u) => Math.abs(u - v))) / scale);
  return eighteen(rows, values, scale, [far]);
};

/** Eq. 18 with one farthest point for the whole sum (the other reading of the text). */
export const equation18Fixed: Coefficient = (rows, values, scale) =>
  eighteen(
    rows,
    values,
    scale,
    values.map((u) => values.map((v) => Math.abs(u - v) / scale)),
  );

function eighteen(
  rows: readonly Float64Array[],
  values: readonly number[],
  scale: number,
  exponents: readonly number[][],
): number {
  const domain = width(values);
  if (domain === 0) return 0;
  return (maximumOf(possibleRows(rows).flatMap((row) => exponents.map((e) => logMean(row, e)))) * scale) / domain;
}

export type Partners = 'all' | 'pairwise';

/**
 * The root of scale x epsilon = max_i sum_j rho_ij(scale) dQ_j. There is exactly one: the right side over the scale falls strictly
 * (each term is a Laplace loss, or log E e^{X/scale}), and it lies between max dQ_i and sum dQ_j. Returns the upper end.
 */
export function fixedPoint({ joint, answers, epsilon }: MechanismInput, equation: Coefficient, partners: Partners): number {
  const { sensitivities } = answers;
  if (maximumOf(sensitivities) === 0) return 0;
  const counted = partners === 'all' ? joint.sizes.map(() => joint.sizes.map(() => true)) : pairwiseDependent(joint);
  const tables = joint.sizes.map((_, i) => joint.sizes.map((_, j) => conditionalDistribution(joint, i, j)));
  const sensitivity = (scale: number) =>
    maximumOf(
      sensitivities.map((own, i) =>
        total(
          sensitivities.map((dQ, j) => {
            if (i === j) return own;
            return counted[i]![j] ? equation(tables[i]![j]!, joint.values[j]!, scale) * dQ : 0;
          }),
        ),
      ),
    );
  return fixedPointOf(sensitivity, total(sensitivities), epsilon);
}

/** The root of scale x epsilon = sensitivity(scale), which is at most `most`. */
export const fixedPointOf = (sensitivity: (scale: number) => number, most: number, epsilon: number): number =>
  leastRoot((scale) => Math.log(sensitivity(scale) / (scale * epsilon)), (most / epsilon) * (1 + 1e-12));

export const dpm14 = (setting: MechanismInput, partners: Partners = 'pairwise'): Calibration => ({
  name: `dpm-eq14${partners === 'all' ? '-all' : ''}`,
  scale: fixedPoint(setting, equation14, partners),
  ...asPublished,
  assumption: 'At most two dependent records, and a query that moves with the records’ own numbers.',
});

export const dpm18 = (setting: MechanismInput, partners: Partners = 'pairwise'): Calibration => ({
  name: `dpm-eq18${partners === 'all' ? '-all' : ''}`,
  scale: fixedPoint(setting, equation18, partners),
  ...asPublished,
  composes: true,
  assumption:
    'The adversary knows no record, all dependent records are counted, and the query moves with the records’ own numbers.',
});
