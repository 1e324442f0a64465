import * as z from 'zod';
import { learnTies, planTies, type TiesRequest } from '../../../analysis/learn/odds/learn-ties.js';
import { type Answer, defineKind } from '../kind.js';
import { type LearnedOdds, oddsOf } from '../odds.js';
import { field } from '../request.js';

const request = z.strictObject({
  relation: field(z.string().min(1), 'Relation whose ties are judged.', { value: 'name', help: 'whose ties (with a policy)' }),
  column: field(z.string().min(1), 'Column whose odds ratio is learned.', {
    value: 'name',
    help: 'which column the tie is about',
  }),
  pairsEach: field(z.number().int().min(1).max(1000).default(1), 'Largest number of pairs that count one record.', {
    value: 'n',
    help: 'with a policy: count every record in at most n pairs',
    showsDefault: true,
    refusal: ['--pairs-each must be a whole number from 1 to 1000.', 'Leave it out for 1.'],
  }),
  confidence: field(z.number().gt(0).lt(1).default(0.95), 'Confidence level of the interval.'),
  pool: field(z.number().min(0).lt(0.5).default(0.05), 'Values rarer than this are merged.'),
});

/** Odds ratio, and the noise scale of every count it was computed from. */
export interface PaidOdds extends LearnedOdds {
  readonly noiseScale: number;
}

/** Odds ratio of tied records, learned from the protected table. */
export const odds = defineKind({
  name: 'odds',
  question: z.strictObject({ odds: request }),
  hint: 'Write {"odds": {"relation": "friend", "column": "party"}}.',
  example({ relations, columns, protect }) {
    const relation = [...relations.values()].find((r) => !r.private && r.columns.length === 2);
    const column = [...columns.values()].find((c) => c.type === 'category' && c.name !== protect.unit);
    return relation && column && protect.secret === 'row'
      ? { odds: { relation: relation.name, column: column.name } }
      : undefined;
  },
  plan: (session, { odds }, options) => planTies(session, tiesRequest(odds), options),
  async release(session, { odds }, options): Promise<Answer<PaidOdds>> {
    const { evidence, unjudged, scale, receipt } = await learnTies(session, tiesRequest(odds), options);
    return { result: { ...oddsOf(evidence, unjudged), noiseScale: scale }, receipt };
  },
});

const tiesRequest = (input: z.input<typeof request>): TiesRequest => request.parse(input);
