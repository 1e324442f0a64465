import { Fault } from '../../../base/errors.js';
import { componentsOf } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { readAdditive } from '../../audit/record-query.js';
import { groupFor, laplaceFor } from '../group-dp/group.js';
import { chainCalibration, leakageScale } from './calculus.js';
import { chainMechanisms, declaredDistribution } from './chain-mechanisms.js';
import { judge, type MechanismComparison } from './judge.js';
import { markovChainOf } from './markov-chain-of.js';
import { type Calibration, maximumOf } from './mechanism.js';
import { SumDistributions } from './sum-distribution.js';
import { SumLoss } from './sum-loss.js';

/** Distributions of sums are exact; beyond this size their digits take too long. */
export const longest = 400;

/** Sums and counts on forests too large to enumerate. Undefined for other queries; the informed loss stays open. */
export function compareSums(model: Model, query: string, epsilon: number): MechanismComparison | undefined {
  const contribution = readAdditive(query, model.ids.length);
  if (!contribution || model.ids.length > longest) return undefined;
  const sensitivities = model.values.map((values, j) => {
    const parts = values.map((v) => contribution(j, v));
    return Math.max(...parts) - Math.min(...parts);
  });
  const unit = maximumOf(sensitivities);
  const distributions = new SumDistributions(model, contribution);
  const loss = new SumLoss(distributions, model.ids.length);
  const chain = markovChainOf(model);
  const ofChain = chain
    ? chainMechanisms(chain, unit, epsilon)
    : { found: [], left: ['Markov quilts are computed on chains and on models small enough to enumerate.'] };
  const left = [
    'Losses to an informed adversary are not known here; certified bounds cover them where they say so.',
    ...ofChain.left,
  ];
  const once = { ...declaredDistribution, composes: false };
  const found: Calibration[] = [
    laplaceFor(unit, epsilon),
    ...ofChain.found,
    groupFor(componentsOf(model), sensitivities, epsilon),
    { name: 'wasserstein', scale: maximumOf(model.ids.map((_, j) => distributions.distance(j))) / epsilon, ...once },
    { name: 'exact', scale: loss.least(epsilon), ...once },
    ...(['uninformed', 'informed'] as const).map((adversary) =>
      chain
        ? chainCalibration({ chain, model }, sensitivities, epsilon, adversary)
        : leakageScale(model, sensitivities, epsilon, adversary),
    ),
  ];
  const assumptions = (model.anyPrior ?? []).map(
    (r) => `The own weights of ${model.ids[r]} are left open: equal weights stand for the class in the losses.`,
  );
  if (!found.every((c) => c.scale > 0)) throw nothingToNoise();
  return {
    query,
    epsilon,
    mechanisms: found.map((c) => judge(c, { uninformed: loss.at(c.scale), informed: null }, epsilon)),
    left,
    assumptions,
  };
}

const nothingToNoise = () => new Fault('QUERY_INVALID', 'No record moves this query.', 'Ask for something the records decide.');
