import * as z from 'zod';
import { type ClassifyResult, type Prediction, predict as predictWith } from '../learn/classify/predict.js';
import { asFault } from '../release/outcome.js';
import { read } from './door.js';

const column = z.string();
const bound = z.number().nullable();
const term = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('level'), column, level: z.string(), weight: z.number() }),
  z.object({ kind: z.literal('sign'), column, plus: z.string(), minus: z.string(), weight: z.number() }),
  z.object({ kind: z.literal('bin'), column, from: bound, to: bound, weight: z.number() }),
  z.object({ kind: z.literal('number'), column, low: z.number(), high: z.number(), weight: z.number() }),
]);
const classifier = z.object({ model: z.enum(['logistic', 'svm']), intercept: z.number(), weights: z.array(term) });
const row = z.record(z.string(), z.union([z.string(), z.number(), z.bigint(), z.boolean(), z.null()]));
/** A row as column: value; what is absent counts for nothing. */
export type PredictRow = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

/**
 * Applies a released classifier to a row. Reads no data and costs nothing.
 *
 * @example
 * const fugu = await open('policy.yaml');
 * const { result } = await fugu.release({ classify: { label: 'party', positive: ['left'], features: ['age'] } });
 * console.log(predict(result, { age: 40 }).positive);
 * await fugu.close();
 */
export function predict(result: ClassifyResult, given: PredictRow): Prediction {
  try {
    return predictWith(read(classifier, result, 'The classifier'), read(row, given, 'The row'));
  } catch (error) {
    throw asFault(error);
  }
}
