import { Fault } from '../../../base/errors.js';
import { componentsOf } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { readAdditive } from '../../audit/record-query.js';
import { clippedShift, correlationBound, type GaussianModel, shift, worstShift } from '../bayesian-dp/gaussian.js';
import type { GaussianRecords } from '../bayesian-dp/gaussian-file.js';
import { groupFor, laplaceFor } from '../group-dp/group.js';
import { inverse } from '../pufferfish/matrix.js';
import { leakageScale } from './calculus.js';
import { judge, judgeUnknown, type MechanismComparison } from './judge.js';
import { asPublished, type Calibration, maximumOf, provenAgainst } from './mechanism.js';

/** A weighted sum of jointly Gaussian records: the noise of each mechanism, and its loss under that distribution. */
export function compareGaussians(records: GaussianRecords, query: string, epsilon: number): MechanismComparison {
  const n = records.ids.length;
  const contribution = /^sum(:|$)/.test(query) ? readAdditive(query, n) : undefined;
  if (!contribution)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Of Gaussian records only sums are compared.',
      'Write sum, or sum:W1,W2,… with a weight for each.',
    );
  const weights = records.ids.map((_, r) => contribution(r, 1));
  const gaussian: GaussianModel = { precision: records.precision, weights };
  const widths = records.bounds.map(([low, high]) => high - low);
  const sensitivities = widths.map((width, r) => Math.abs(weights[r]!) * width);
  const model = oddsModel(records, widths);
  const moved = (measure: typeof shift) => worstShift(gaussian, (m, i, known) => measure(m, i, known) * widths[i]!).shift;
  const informed = moved(shift);
  const uninformed = maximumOf(widths.map((width, i) => Math.abs(shift(gaussian, i)) * width));
  if (!(informed > 0)) throw new Fault('QUERY_INVALID', 'No record moves this query.', 'Ask for something the records decide.');
  const found: Calibration[] = [
    laplaceFor(maximumOf(sensitivities), epsilon),
    groupFor(
      componentsOf(model),
      sensitivities,
      epsilon,
      'Records that the matrix does not connect are independent, and every value lies between its bounds.',
    ),
    {
      name: 'gaussian-bayesian',
      scale: informed / epsilon,
      ...asPublished,
      assumption: 'The records follow the declared Gaussian law, without bounds except for the attacked one.',
    },
    ...correlated(records, weights, widths, epsilon),
    {
      name: 'gaussian-clipped',
      scale: moved(clippedShift) / epsilon,
      ...provenAgainst('informed'),
      composes: false,
      assumption: 'The records follow the declared Gaussian law and are then pulled to their bounds.',
    },
    {
      ...leakageScale(model, sensitivities, epsilon, 'informed'),
      assumption: 'The records follow the declared Gaussian law given that all lie between their bounds.',
    },
  ];
  return {
    query,
    epsilon,
    mechanisms: found.map((c) =>
      c.certified ? judgeUnknown(c) : judge(c, { uninformed: uninformed / c.scale, informed: informed / c.scale }, epsilon),
    ),
    left: [
      'Losses are those of the declared Gaussian law, with bounds for the attacked record alone. What is certified takes all records to lie between their bounds: that is proven, and its losses are not computed.',
    ],
    assumptions: [],
  };
}

/** The published bound from the largest correlation: for sums without weights, of records with one width. */
function correlated(
  { precision }: GaussianRecords,
  weights: readonly number[],
  widths: readonly number[],
  epsilon: number,
): readonly Calibration[] {
  const covariance = inverse(precision);
  const alike = weights.every((w) => w === 1) && widths.every((w) => w === widths[0]);
  if (!covariance || !alike) return [];
  const most = maximumOf(
    covariance.flatMap((row, i) =>
      row.flatMap((c, j) => (i === j ? [] : [Math.abs(c) / Math.sqrt(covariance[i]![i]! * covariance[j]![j]!)])),
    ),
  );
  return [
    {
      name: 'gaussian-correlation',
      scale: (correlationBound(weights.length, most) * widths[0]!) / epsilon,
      ...asPublished,
      assumption: 'The records follow a Gaussian law of which only the largest correlation is known.',
    },
  ];
}

/** exp(-Q_ij x_i x_j) between bounds: its log odds ratio is |Q_ij| times both widths (data/ties/gaussian.ts). */
function oddsModel({ ids, precision, bounds }: GaussianRecords, widths: readonly number[]): Model {
  return {
    ids,
    values: bounds.map(([low, high]) => [low, high]),
    factors: ids.flatMap((_, i) =>
      ids.flatMap((_, j) =>
        j > i && precision[i]![j] !== 0
          ? [{ records: [i, j], oddsRatio: Math.exp(Math.abs(precision[i]![j]!) * widths[i]! * widths[j]!) * (1 + 2 ** -40) }]
          : [],
      ),
    ),
  };
}
