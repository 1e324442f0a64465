import * as z from 'zod';
import { type ClassifyResult, type Prediction, predictRow as predictWith } from '../../analysis/learn/classify/predict.js';
import { currentForm } from '../../analysis/learn/classify/stored.js';
import { asFault } from '../../release/session/outcome.js';
import { parseInput } from './input.js';

const column = z.string();
const bound = z.number().nullable();
const interval = z.tuple([z.number(), z.number()]);
const weighted = { column, weight: z.number(), interval: interval.optional() };
const term = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('level'), level: z.string(), ...weighted }),
  z.object({ kind: z.literal('sign'), plus: z.string(), minus: z.string(), ...weighted }),
  z.object({ kind: z.literal('bin'), from: bound, to: bound, ...weighted }),
  z.object({ kind: z.literal('number'), low: z.number(), high: z.number(), ...weighted }),
]);
const classifier = z.object({
  model: z.enum(['logistic', 'svm']),
  intercept: z.number(),
  interceptInterval: interval.optional(),
  weights: z.array(term),
});
const row = z.record(z.string(), z.union([z.string(), z.number(), z.bigint(), z.boolean(), z.null()]));
/** Row as column: value; an absent column contributes nothing. */
export type PredictRow = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

/**
 * Applies a released classifier to a row. Reads no data and costs nothing. A classifier stored by version 0.2 is refused where the
 * bounds of a column were lost.
 *
 * @example
 * const fugu = await open('policy.yaml');
 * const { result } = await fugu.release({ classify: { label: 'party', positive: ['left'], features: ['age'] } });
 * console.log(predict(result, { age: 40 }).positive);
 * await fugu.close();
 */
export function predict(result: ClassifyResult, given: PredictRow): Prediction {
  try {
    const stored = parseInput(classifier, result, 'The classifier') as Pick<
      ClassifyResult,
      'model' | 'intercept' | 'interceptInterval' | 'weights'
    >;
    return predictWith(currentForm(stored), parseInput(row, given, 'The row'));
  } catch (error) {
    throw asFault(error);
  }
}
