import { Fault } from '../../../base/errors.js';
import { toNumber } from '../../../base/exact/rational.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { closingPenalty } from '../../../release/accountant/choose.js';
import { descentTrainer } from './descent.js';
import type { FeatureMap } from './features.js';
import { linearisedLogistic } from './loss.js';
import { objectiveTrainer } from './objective.js';
import { outputTrainer } from './output.js';
import type { ClassifyRequest } from './request.js';
import { tiltTrainer } from './tilt.js';
import type { ClassifySetting, Trainer } from './trainer.js';

/** A training method as a function of the features that are kept and of the budget that is left for them. */
type MakeTrainer = (map: FeatureMap, budgetShare: BudgetShare) => Trainer;

/** A setting whose penalty is not fixed yet. */
type OpenSetting = Omit<ClassifySetting, 'regularisation'>;

/** Length of noise that does no harm to weights of length about ten: the exact minimiser then beats any number of steps. */
const harmlessNoise = 0.5;
/** Length of noise that still leaves a useful classifier. */
const bearableNoise = 2.5;
const defaultPenalty = { output: 1e-3, sgd: 1e-4, objective: 1e-3 };
/** Penalties of output perturbation that are chosen without request. */
const [leastPenalty, mostPenalty] = [defaultPenalty.sgd, 0.1];

/** Method and kind of noise, chosen from public numbers alone. `closes`: pure noise would rule out Gaussian noise for later questions. */
export function chooseTrainer(
  { method, regularisation }: Pick<ClassifyRequest, 'method' | 'regularisation'>,
  base: OpenSetting,
  shares: readonly BudgetShare[],
  closes?: boolean,
): { readonly budgetShare: BudgetShare; readonly makeTrainer: MakeTrainer } {
  const withPenalty = (map: FeatureMap, penalty: number): ClassifySetting => ({
    ...base,
    map,
    regularisation: regularisation ?? penalty,
  });
  const outputAt =
    (penalty: number): MakeTrainer =>
    (map, budgetShare) =>
      outputTrainer(withPenalty(map, penalty), budgetShare);
  const trainers: Readonly<Record<Trainer['method'], MakeTrainer>> = {
    objective: (map, { amount }) => objectiveTrainer(withPenalty(map, defaultPenalty.objective), amount),
    tilt: (map, budgetShare) => {
      const { loss, regularisation: penalty } = tiltSetting(base, toNumber(budgetShare.amount));
      return tiltTrainer({ ...withPenalty(map, penalty), loss }, budgetShare);
    },
    // The noise is inversely proportional to the penalty: the smallest penalty that keeps the noise bearable.
    output: (map, budgetShare) => {
      const { expectedNoise } = outputAt(defaultPenalty.output)(map, budgetShare);
      const bearable = (defaultPenalty.output * expectedNoise) / bearableNoise;
      return outputAt(Math.min(mostPenalty, Math.max(leastPenalty, bearable)))(map, budgetShare);
    },
    sgd: (map, budgetShare) => descentTrainer(withPenalty(map, defaultPenalty.sgd), budgetShare),
  };
  const pure = shares.find(({ noise }) => noise === 'pure');
  const choice = (chosen: Trainer['method'], budgetShare: BudgetShare) => ({ budgetShare, makeTrainer: trainers[chosen] });
  if (method === 'objective' || method === 'tilt') {
    if (!pure)
      throw new Fault('QUERY_UNSUPPORTED', 'A random linear term needs pure epsilon.', 'Use the method "output" or "sgd".');
    return choice(method, pure);
  }
  /** The budget share under which a method has least noise, all features kept. */
  const leastNoise = (makeTrainer: MakeTrainer) => {
    const weigh = ({ noise }: BudgetShare) => (closes && noise === 'pure' ? Math.sqrt(closingPenalty) : 1);
    return shares
      .map((budgetShare) => ({ budgetShare, expectedNoise: makeTrainer(base.map, budgetShare).expectedNoise }))
      .reduce((a, b) => (b.expectedNoise * weigh(b.budgetShare) < a.expectedNoise * weigh(a.budgetShare) ? b : a));
  };
  if (method !== 'sgd') {
    const once = leastNoise(outputAt(leastPenalty));
    if (method === 'output' || once.expectedNoise <= harmlessNoise) return choice('output', once.budgetShare);
    // Gaussian noise grows with the root of the number of steps only; without it, noise added once is better than in every step.
    if (pure && shares.length === 1) return choice('tilt', pure);
  }
  return choice('sgd', leastNoise(trainers.sgd).budgetShare);
}

/**
 * Slope limit of the loss and strength of the penalty, fitted to census data of 400 to 70,000 rows: under much noise wrongly
 * classified rows should pull less. The curvature costs at most an eighth of the budget.
 */
function tiltSetting(
  { records, rowsPerRecord, loss }: OpenSetting,
  epsilon: number,
): Pick<ClassifySetting, 'loss' | 'regularisation'> {
  const signal = (records / rowsPerRecord) * epsilon;
  const penalty = Math.max(3 * (30_000 / signal) ** 0.25, (8 * loss.curvature * rowsPerRecord) / epsilon);
  const regularisation = penalty / records;
  if (loss.name === 'svm' || signal >= 100_000) return { regularisation, loss };
  return { regularisation, loss: linearisedLogistic(signal < 10_000 ? 9 / 16 : 3 / 4) };
}
