import * as z from 'zod';
import { learnPaidNetwork, planPaidNetwork } from '../../../analysis/learn/network/learn-columns.js';
import type { Network } from '../../../privacy/dependence/model/network.js';
import { progressShape } from '../input.js';
import { type Answer, defineKind } from '../kind.js';
import { answersTogether } from './askable.js';

/** Dependence between the answers of one person: a tree over all columns, paid for and fit to be published. */
export const network = defineKind({
  name: 'network',
  question: z.strictObject({ network: z.literal(true), progress: progressShape.optional() }),
  hint: 'Write {"network": true}.',
  example: (policy) => (answersTogether(policy).length > 1 ? { network: true as const } : undefined),
  plan: (session, _, options) => planPaidNetwork(session, options),
  async release(session, { progress }, options): Promise<Answer<Network>> {
    const { network, receipt } = await learnPaidNetwork(session, options, progress);
    return { result: network, receipt };
  },
});
