import * as z from 'zod';
import { askOptions } from '../../api/fugu.js';

/** Number that may be unbounded. */
export const figureShape = z.union([z.number(), z.literal('inf'), z.literal('-inf')]);
/** Common parts of answers. Objects may carry more than is listed: fields are only ever added. */
export const budgetFigures = z.looseObject({
  total: z.number().describe('Epsilon of the policy.'),
  spent: z.number(),
  remaining: z.number(),
  delta: z.number(),
});
const guarantee = z.looseObject({ certified: z.boolean(), sentences: z.array(z.string()) });
export const planShape = z.looseObject({
  label: z.string(),
  epsilon: z.number().describe('Share of the budget that it would use, ties included, in epsilon.'),
  budget: budgetFigures,
  fits: z.boolean().describe('True if the budget admits it now.'),
  recorded: z
    .looseObject({ entry: z.number().int(), at: z.string() })
    .optional()
    .describe('The recorded answer that a release gives, free.'),
  refusal: z.string().optional().describe('Reason for refusing a release.'),
  warnings: z.array(z.string()).optional(),
  mechanism: z.string(),
  why: z.string(),
  guarantee,
});
export const receiptShape = z.looseObject({
  label: z.string(),
  population: z.string(),
  at: z.string(),
  epsilon: z.number(),
  guarantee,
  ledger: z.looseObject({ entry: z.number().int(), hash: z.string(), replayed: z.boolean() }),
});
const table = z.looseObject({ rows: z.array(z.looseObject({})) });
export const releaseShape = z.looseObject({
  receipt: receiptShape.optional().describe('Absent only for a stream none of whose steps is over.'),
  tables: z.array(table).optional().describe('Tables, for queries and surveys.'),
  steps: z
    .array(z.looseObject({ step: z.number().int(), entry: z.number().int() }))
    .optional()
    .describe('Steps, for streams.'),
  result: z.unknown().optional().describe('Result of every other kind.'),
});
const question = z
  .union([z.looseObject({}), z.array(z.looseObject({}))])
  .describe(
    'A query ({"kind": "count"}), a list of queries, or one field that names a kind: sql, survey, workload, pattern, kmeans, classify, network, synth, stream.',
  );
/** A question with the options that the library takes. */
export const questionShape = z.strictObject({ question, ...askOptions.shape });
