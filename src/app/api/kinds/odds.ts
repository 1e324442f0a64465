import * as z from 'zod';
import { learnTies, planTies, type TiesRequest } from '../../../analysis/learn/odds/learn-ties.js';
import { type Answer, defineKind } from '../kind.js';
import { type LearnedOdds, oddsOf } from '../odds.js';
import { field } from '../request.js';

const request = z.strictObject({
  relation: field(z.string().min(1), 'Relation whose ties are judged.'),
  column: field(z.string().min(1), 'Column whose odds ratio is learned.'),
  pairsEach: field(z.number().int().min(1).max(1000).optional(), 'Largest number of pairs that count one record.'),
  confidence: z.number().gt(0).lt(1).optional(),
  pool: field(z.number().min(0).lt(0.5).optional(), 'Values rarer than this are merged.'),
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

const tiesRequest = ({ pairsEach = 1, confidence = 0.95, pool = 0.05, ...more }: z.input<typeof request>): TiesRequest => ({
  pairsEach,
  confidence,
  pool,
  ...more,
});
