import { Fault } from '../../../base/errors.js';
import { componentsOf } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { readAdditive } from '../../audit/record-query.js';
import { robustScale } from '../dependent-dp/robust-quilt.js';
import { laplaceFor } from '../group-dp/group.js';
import { inferentialBase, inferentialOnChain, notApplicable } from '../pufferfish/inferential.js';
import { type MarkovChain, quiltOnChain } from '../pufferfish/markov-quilt.js';
import { approximateQuilt, mixing } from '../pufferfish/markov-quilt-approx.js';
import { matrix, stationaryVector } from '../pufferfish/matrix.js';
import { chainCalibration, leakageScale } from './calculus.js';
import { judge, type MechanismComparison } from './judge.js';
import { markovChainOf } from './markov-chain-of.js';
import { type Calibration, maximumOf, total } from './mechanism.js';
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
  const left = ['Losses to an informed adversary are not known here; certified bounds cover them where they say so.'];
  const group = {
    certified: true,
    against: 'informed',
    composes: true,
    assumption: 'Records in different components are independent.',
  } as const;
  const declared = {
    certified: true,
    against: 'uninformed',
    assumption: 'The declared distribution is the true one, and the adversary knows no record.',
  } as const;
  const found: Calibration[] = [
    laplaceFor(unit, epsilon),
    {
      name: 'group',
      scale: maximumOf(componentsOf(model).map((c) => total(c.map((j) => sensitivities[j]!)))) / epsilon,
      ...group,
    },
    {
      name: 'wasserstein',
      scale: maximumOf(model.ids.map((_, j) => distributions.distance(j))) / epsilon,
      ...declared,
      composes: false,
    },
    { name: 'exact', scale: loss.least(epsilon), ...declared, composes: false },
    ...(['uninformed', 'informed'] as const).map((adversary) =>
      chain
        ? chainCalibration(chain, model, sensitivities, epsilon, adversary)
        : leakageScale(model, sensitivities, epsilon, adversary),
    ),
  ];
  if (chain) {
    const robust = {
      certified: true,
      against: 'informed',
      composes: true,
      assumption: 'The declared transition is the true one.',
    } as const;
    found.splice(1, 0, { name: 'markov-quilt', scale: quiltOnChain(chain, epsilon).scale * unit, ...declared, composes: true });
    found.splice(2, 0, { name: 'zhao-robust', scale: robustScale(chain, epsilon).value * unit, ...robust });
    const approximate = approximateScale(chain, epsilon);
    if (approximate !== undefined)
      found.splice(2, 0, { name: 'markov-quilt-approximate', scale: approximate * unit, ...declared, composes: true });
    else left.push('The approximate Markov quilt needs a chain that forgets where it began.');
    if (inferentialBase(chain, epsilon) !== undefined) found.splice(3, 0, inferentialOnChain(chain, unit, epsilon));
    else left.push(notApplicable().message);
  } else left.push('Markov quilts are computed on chains and on models small enough to enumerate.');
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

/** From the mixing rate of the chain alone, whatever its start. */
export const approximateScale = ({ transition, length }: MarkovChain, epsilon: number): number | undefined =>
  stationaryVector(matrix(transition)) && approximateQuilt(length, mixing([transition], 'general'), epsilon).scale;

const nothingToNoise = () => new Fault('QUERY_INVALID', 'No record moves this query.', 'Ask for something the records decide.');
