import { compare, divide, one, rational, toNumber } from '../../../base/exact/rational.js';
import { algorithm21 } from '../../../privacy/mechanism/algorithm21.js';
import { splitShare } from '../../../privacy/mechanism/budget-share.js';
import { exactAnswer } from '../exact-answer.js';
import { coin, domainSize } from '../query/lambda.js';
import { plainOffer } from './plain-noise.js';
import { adversarialGuarantee, comparisonOffer, offer, type PatternOffer, type PatternStrategy } from './strategy.js';

/**
 * Rastogi et al. 2009 with corrections: plain noise is used if it is no larger, and then gives full DP. Absence needs a dense query
 * and one more power; positive correlations are covered in the plain branch only, at a part of epsilon.
 */
export const adversarialPrivacy: PatternStrategy<'algorithm-2.1'> = (task) => {
  const { analysis: a, budgetShare, gamma, absence, together = 1 } = task;
  if (a.pattern.sum || !a.stability.stable || (absence && !a.stability.dense)) return [];
  const m = domainSize(a.pattern);
  const goals = a.pattern.goals.length;
  const spread = a.lambda.used;
  const below = a.bounds.globalSensitivity <= spread;
  const part = splitShare(budgetShare, rational(1, together));
  const not = (note: string): readonly PatternOffer<'algorithm-2.1'>[] => {
    const scale = toNumber(divide(rational(below ? a.bounds.globalSensitivity : spread), part.amount));
    return [comparisonOffer({ mechanism: 'algorithm-2.1', scale, expectedError: scale, note }, adversarialGuarantee)];
  };
  if (a.pattern.relations.some((r) => r.symmetric)) return not('stated for directed relations only');
  if (below)
    return [plainOffer('algorithm-2.1', task, part, 'global sensitivity is below lambda: plain noise, no random branch')];
  if (together > 1) return not('nothing is known about positive correlations when gamma is above zero');
  if (!gamma) return not('weaker than requested: needs a gamma');
  const toss = coin(goals, m, gamma);
  if (compare(toss, one) >= 0) return not(`gamma must be above goals / domain = ${(goals / m).toPrecision(2)}`);
  const noise = algorithm21(a.title, { epsilon: budgetShare.amount, spread, coin: toss, most: a.bounds.most });
  const scale = toNumber(noise.scale);
  return [
    offer(
      {
        mechanism: 'algorithm-2.1',
        scale,
        expectedError: scale,
        note: `with probability ${toNumber(toss).toPrecision(2)} the answer is meaningless`,
        usefulness: { sigma: scale * Math.log(m), gamma: 1 + toNumber(toss) * m },
      },
      {
        mechanisms: [noise],
        answer: async (payment, engine) => noise.answer(payment, (await exactAnswer(engine, a)).open()),
      },
    ),
  ];
};
