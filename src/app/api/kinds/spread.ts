import * as z from 'zod';
import { learnSpreadPaid, planSpreadPaid } from '../../../analysis/learn/network/learn-spread.js';
import type { SpreadTables } from '../../../privacy/dependence/pairwise/spread-file.js';
import { type Answer, defineKind } from '../kind.js';
import { field } from '../request.js';
import { answersTogether } from './askable.js';

const request = z.strictObject({
  least: field(
    z.number().int().min(1).max(1e9),
    'Public least number of people per covered answer; five percent of all people is usual.',
    {
      value: 'rows',
      help: 'with --pairwise, paid: answers that at least this many people gave are covered (5 % of them is usual)',
      refusal: ['--least must be a whole number from 1 to 1000000000.', 'For example --chunk 10.'],
    },
  ),
  confidence: field(z.number().gt(0).lt(1).optional(), 'Probability over the sample and the noise.'),
});

/** Spread that the pairwise bound needs, paid for and fit to be published. */
export const spread = defineKind({
  name: 'spread',
  question: z.strictObject({ spread: request }),
  hint: 'Write {"spread": {"least": 150}}.',
  example: (policy) => (answersTogether(policy).length > 1 ? { spread: { least: 50 } } : undefined),
  plan: (session, { spread }, options) => planSpreadPaid(session, withConfidence(spread), options),
  async release(session, { spread }, options): Promise<Answer<SpreadTables>> {
    const { receipt, ...result } = await learnSpreadPaid(session, withConfidence(spread), options);
    return { result, receipt };
  },
});

const withConfidence = ({ least, confidence = 0.95 }: z.input<typeof request>) => ({ least, confidence });
