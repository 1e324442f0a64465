import { asPublished, type Calibration, type MechanismInput } from '../compare/mechanism.js';
import { queriesOf, type WeightRounds } from './rounds.js';
import { roundsLoss } from './rounds-loss.js';

/** Probability with which its promises may fail: of privacy, and of accuracy. */
const delta = 1e-6;
const beta = 0.05;

/** The parameters of Hardt and Rothblum 2010, for answers that one record moves by 1: their errors are shares of the records. */
export function pmwRounds(queries: readonly Float64Array[], records: number, epsilon: number): WeightRounds {
  const root = Math.log(queries[0]!.length) ** 0.25;
  const sigma = (10 * Math.log(1 / delta) * root) / (epsilon * Math.sqrt(records));
  return {
    records,
    queries,
    scale: records * sigma,
    threshold: records * 4 * sigma * Math.log(queries.length / beta),
    rate: root / Math.sqrt(records),
    most: Math.ceil(records * root ** 2),
  };
}

/** Private multiplicative weights as published: an answer with a delta, about records that do not depend on one another. */
export function pmw(setting: MechanismInput): Calibration {
  const { queries, exact, unit } = queriesOf(setting);
  const rounds = pmwRounds(queries, setting.joint.sizes.length, setting.epsilon);
  return {
    name: 'pmw',
    scale: rounds.scale * unit,
    ...asPublished,
    assumption: `Records are independent, and a failure with probability ${delta} is let pass.`,
    loss: (adversary) => roundsLoss(setting.joint, exact, rounds, adversary),
  };
}
