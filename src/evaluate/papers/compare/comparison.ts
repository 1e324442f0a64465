import { Fault } from '../../../base/errors.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { prepareAudit } from '../../audit/audit.js';
import { type Adversary, exactLoss, lossWithoutNoise } from '../../audit/exact-loss.js';
import type { ReadTable } from '../../audit/record-query.js';
import { leakageScale } from './calculus.js';
import { compareHistograms } from './histograms.js';
import { type ComparedMechanism, judge, type MechanismComparison } from './judge.js';
import type { MechanismInput } from './mechanism.js';
import { mechanisms } from './mechanisms.js';
import { compareSums } from './sums.js';

/** Every mechanism on one model: by enumeration, or, where the model is too large for it, sums and counts on forests by messages. */
export function compareOnModel(model: Model, query: string, epsilon: number, readTable?: ReadTable): MechanismComparison {
  if (model.values.every((values) => values.length === 1))
    throw new Fault(
      'MODEL_INVALID',
      'Every record of the model has one value only: nothing is secret, so there is no noise to compare.',
      'Give the records, or the states of the chain, at least two values.',
    );
  try {
    return compareByEnumeration(model, query, epsilon, readTable);
  } catch (error) {
    const large =
      error instanceof Fault && error.code === 'MODEL_TOO_LARGE'
        ? (compareSums(model, query, epsilon) ?? compareHistograms(model, query, epsilon))
        : undefined;
    if (!large) throw error;
    return { ...large, left: [(error as Fault).message, ...large.left] };
  }
}

function compareByEnumeration(model: Model, query: string, epsilon: number, readTable?: ReadTable): MechanismComparison {
  const { joint, answers } = prepareAudit(model, query, readTable);
  const setting: MechanismInput = { model, joint, answers, epsilon };
  const loss = (scale: number, adversary: Adversary) => {
    if (scale === 0) return lossWithoutNoise(joint, answers, { adversary });
    return scale === Number.POSITIVE_INFINITY ? 0 : exactLoss(joint, answers, scale, { adversary }).loss;
  };
  const calculus = (adversary: Adversary) => () => leakageScale(model, answers.sensitivities, epsilon, adversary);
  const left: string[] = [];
  const found: ComparedMechanism[] = [];
  for (const calibrate of [...mechanisms, calculus('uninformed'), calculus('informed')]) {
    try {
      const { loss: own, ...calibration } = calibrate(setting);
      const lost = own ?? ((adversary: Adversary) => loss(calibration.scale, adversary));
      found.push(judge(calibration, { uninformed: lost('uninformed'), informed: lost('informed') }, epsilon));
    } catch (error) {
      // One mechanism may need more enumeration than another; the audit itself refuses as a whole.
      if (!(error instanceof Fault) || found.length === 0) throw error;
      if (!left.includes(error.message)) left.push(error.message);
    }
  }
  return { query, epsilon, mechanisms: found, left, assumptions: joint.assumptions };
}
