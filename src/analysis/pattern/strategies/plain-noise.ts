import { additiveMechanism, noiseWidth } from '../../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { exactAnswer } from '../exact-answer.js';
import { domainSize } from '../query/lambda.js';
import { secretSensitivity } from '../secret.js';
import { type DrawnMechanisms, offer, type PatternStrategy, type PatternTask } from './strategy.js';

/** Noise scaled to the global sensitivity of any record in any data. */
export const plainNoise: PatternStrategy<'laplace'> = (task) => [plainOffer('laplace', task, task.budgetShare)];

export function plainOffer<Name extends string>(
  mechanism: Name,
  { analysis: a, hidden }: PatternTask,
  part: BudgetShare,
  note?: string,
) {
  const noise = additiveMechanism({ name: a.title, cells: 1, sensitivity: secretSensitivity(hidden) }, part);
  const drawn: DrawnMechanisms = {
    mechanisms: [noise],
    answer: async (payment, engine) => {
      const noisy = noise.prepare(payment);
      return noisy([(await exactAnswer(engine, a)).open()])[0]!;
    },
  };
  const scale = noiseWidth(noise.distribution);
  const usefulness = { sigma: scale * Math.log(domainSize(a.pattern)), gamma: 1 };
  return offer({ mechanism, scale, expectedError: scale, ...(note && { note }), usefulness }, drawn);
}
