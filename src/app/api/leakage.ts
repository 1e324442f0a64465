import * as z from 'zod';
import { amountShape, type FileName, parseOptions, withFaults } from './input.js';
import { type Leakage, leakageInFile } from './leakage-figures.js';
import { defineRequest, field } from './request.js';

const options = defineRequest('LeakageOptions', {
  base: field(amountShape.optional(), 'Base epsilon of every record.'),
  profile: field(z.array(amountShape).optional(), 'Base epsilon per record, in the order of the model file.'),
  epsilon: field(amountShape.optional(), 'Finds the largest common base whose worst leakage is at most this.'),
  adversary: z.enum(['informed', 'uninformed']).default('informed'),
});
export type LeakageOptions = z.input<typeof options>;

/**
 * Leakage of each record of a model to an attacker who knows the ties, or the largest base budget that keeps it within epsilon.
 *
 * @example
 * const { worst } = await leakage('model.json', { base: 0.1 });
 * const { base } = await leakage('model.json', { epsilon: 1 });
 */
export async function leakage(model: FileName, given: LeakageOptions): Promise<Leakage> {
  return withFaults(() => leakageInFile(model, parseOptions(options, given)));
}
