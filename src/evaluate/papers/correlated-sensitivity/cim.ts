import { asPublished, type Calibration, type MechanismInput } from '../compare/mechanism.js';
import { queriesOf, type WeightRounds } from '../multiplicative-weights/rounds.js';
import { roundsLoss } from '../multiplicative-weights/rounds-loss.js';
import { correlatedSensitivity } from './pearson.js';

/** Probability that noise alone corrects the histogram; the paper leaves the threshold to the user. */
const beta = 0.05;

/**
 * Every query has an equal share of epsilon, even if it does not correct the
 * histogram. `sensitivity` is that of one query that a record changes by 1.
 */
export function cimRounds(queries: readonly Float64Array[], records: number, sensitivity: number, epsilon: number): WeightRounds {
  const scale = (sensitivity * queries.length) / epsilon;
  const threshold = scale * Math.log(queries.length / beta);
  return { records, queries, scale, threshold, rate: threshold / (2 * records), most: Number.POSITIVE_INFINITY };
}

/** The correlated iteration mechanism of Zhu et al. 2015: noise by their sensitivity, on the answers that correct a histogram. */
export function cim(setting: MechanismInput): Calibration {
  const { joint, epsilon } = setting;
  const { queries, exact, unit } = queriesOf(setting);
  const records = joint.sizes.length;
  const sensitivity = correlatedSensitivity(
    joint,
    joint.sizes.map(() => 1),
  );
  const rounds = cimRounds(queries, records, sensitivity, epsilon);
  return {
    name: 'cim',
    scale: rounds.scale * unit,
    ...asPublished,
    assumption: 'Dependence is linear and pairwise, and correlations carry the whole effect.',
    loss: (adversary) => roundsLoss(joint, exact, rounds, adversary),
  };
}
