import { oneCopy } from '../../../privacy/dependence/model/chain-model.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { groupFor, laplaceFor } from '../group-dp/group.js';
import { chainCalibration } from './calculus.js';
import { chainMechanisms, declaredDistribution } from './chain-mechanisms.js';
import { judge, judgeUnknown, type MechanismComparison } from './judge.js';
import { markovChainOf } from './markov-chain-of.js';
import type { Calibration } from './mechanism.js';
import { SumDistributions } from './sum-distribution.js';
import { SumLoss } from './sum-loss.js';
import { longest } from './sums.js';

/**
 * Frequencies of the states of a chain too long to enumerate: one record
 * changes two counts by one. Undefined for other models and queries.
 */
export function compareHistograms(whole: Model, query: string, epsilon: number): MechanismComparison | undefined {
  const model = oneCopy(whole);
  const chain = query === 'histogram' ? markovChainOf(model) : undefined;
  if (!chain) return undefined;
  const { length } = chain;
  const sensitivity = 2;
  const sensitivities = new Array<number>(length).fill(sensitivity);
  const { found: ofChain, left } = chainMechanisms(chain, sensitivity, epsilon);
  const found: Calibration[] = [
    laplaceFor(sensitivity, epsilon),
    ...ofChain,
    groupFor([[...sensitivities.keys()]], sensitivities, epsilon),
    ...(['uninformed', 'informed'] as const).map((adversary) =>
      chainCalibration({ chain, model }, sensitivities, epsilon, adversary),
    ),
  ];
  const two = chain.transition.length === 2 && length <= longest;
  const losses = length <= longest ? countLosses(model, two) : undefined;
  if (two) {
    const distributions = new SumDistributions(model, occurrence(model, 0));
    const distance = Math.max(...model.ids.map((_, j) => distributions.distance(j)));
    // Both counts change by the same amount.
    found.push({ name: 'wasserstein', scale: (sensitivity * distance) / epsilon, ...declaredDistribution, composes: false });
  } else left.push('The Wasserstein mechanism is computed here for two states, on chains that are not too long.');
  left.push(
    losses
      ? `${two ? 'Losses are exact, of both counts together.' : 'Losses are those of the count of one state by itself: at least so much is lost by all counts together.'} Losses to an informed adversary are not known here.`
      : 'On a chain this long, losses are not computed: certified promises are proven, others are not known to hold.',
    ...(whole.copies === undefined
      ? ['Chains of several people who do not know one another need the noise of the longest ("people" in the file).']
      : []),
  );
  return {
    query,
    epsilon,
    mechanisms: found.map((c) =>
      losses ? judge(c, { uninformed: losses(c.scale), informed: null, atLeast: !two }, epsilon) : judgeUnknown(c),
    ),
    left,
    assumptions: [],
  };
}

/** Frequency of one state, as a sum over the records. */
const occurrence = (model: Model, state: number) => (j: number, value: number) => (value === model.values[j]![state] ? 1 : 0);

/**
 * With two states the second count follows from the first: one count
 * released twice. With more states each count alone gives a lower bound.
 */
function countLosses(model: Model, two: boolean): (scale: number) => number {
  const lossOf = (state: number) => new SumLoss(new SumDistributions(model, occurrence(model, state)), model.ids.length);
  if (two) {
    const loss = lossOf(0);
    return (scale) => loss.atTwice(scale);
  }
  const each = model.values[0]!.map((_, state) => lossOf(state));
  return (scale) => Math.max(...each.map((loss) => loss.at(scale)));
}
