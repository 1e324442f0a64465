import * as z from 'zod';
import { amount, type FileName, faulting, readOptions } from './door.js';
import { type Leakage, leakageInFile } from './leakage-figures.js';

const options = z.strictObject({
  /** Every record spends this base epsilon. */
  base: amount.optional(),
  /** Base epsilon per record, in the order of the model file. */
  profile: z.array(amount).optional(),
  /** Find the largest common base with worst leakage at most this. */
  epsilon: amount.optional(),
  adversary: z.enum(['informed', 'uninformed']).default('informed'),
});
export type LeakageOptions = z.input<typeof options>;

/**
 * What an attacker who knows the ties gains about each record of a model, or the largest base budget that keeps it within epsilon.
 *
 * @example
 * const { worst } = await leakage('model.json', { base: 0.1 });
 * const { base } = await leakage('model.json', { epsilon: 1 });
 */
export async function leakage(model: FileName, given: LeakageOptions): Promise<Leakage> {
  return faulting(() => leakageInFile(model, readOptions(options, given)));
}
