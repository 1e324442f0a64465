import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { parseRational, toNumber } from '../../base/exact/rational.js';
import { type Audit, audit, type Calibrated, calibrate, prepareAudit } from '../../evaluate/audit/audit.js';
import { compareOnModel as compareOn } from '../../evaluate/papers/compare/comparison.js';
import { compareGaussians } from '../../evaluate/papers/compare/gaussians.js';
import type { MechanismComparison } from '../../evaluate/papers/compare/judge.js';
import { amountShape, type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { readGaussianFile, readModelFile, tableReader } from './model-file.js';
import { defineRequest, field } from './request.js';

export const auditOptions = defineRequest('AuditOptions', {
  query: field(z.string(), 'sum, sum:W1,W2,…, product, atLeast:T, histogram, identity or table:FILE.', {
    value: 'query',
    help: 'sum | sum:W1,W2,… | product | atLeast:T | histogram | identity | table:FILE',
    needed: true,
  }),
  scale: field(amountShape.optional(), 'Laplace scale to audit.', { value: 'scale', help: 'Laplace scale to audit' }),
  epsilon: field(
    amountShape.optional(),
    'Alternative to `scale`: find the least scale whose privacy loss is at most this epsilon.',
    { value: 'epsilon', help: 'find the least scale whose loss is at most epsilon' },
  ),
  adversary: field(
    z.enum(['informed', 'uninformed']).default('informed'),
    'What the attacker knows besides the ties: any other records (informed), or nothing.',
    {
      value: 'who',
      help: 'informed (knows any other records) or uninformed',
      showsDefault: true,
      refusal: [
        'The adversary is either informed or uninformed.',
        'informed: knows any other records; uninformed: knows the ties only.',
      ],
    },
  ),
});
export type AuditOptions = z.input<typeof auditOptions>;

/**
 * Exact privacy loss of a Laplace release on a small model, by enumeration; or the least scale that keeps it within epsilon.
 *
 * @example
 * const { loss } = await auditScale('model.json', { query: 'sum', scale: 1 });
 * const { scale } = await auditScale('model.json', { query: 'sum', epsilon: 0.5 });
 */
export async function auditScale(model: FileName, given: AuditOptions): Promise<Audit | Calibrated> {
  return withFaults(async () => {
    const file = fileNamed(model, 'The model');
    const { query, scale, epsilon, adversary } = parseOptions(auditOptions, given);
    if ((scale === undefined) === (epsilon === undefined))
      throw new Fault('USAGE', 'Give either a scale or an epsilon.', 'For example { scale: 1 }.');
    const prepared = prepareAudit(await readModelFile(file), query, tableReader(file));
    return epsilon === undefined
      ? audit(prepared, positive(scale!, '--scale'), adversary)
      : calibrate(prepared, positive(epsilon, '--calibrate'), adversary);
  });
}

export const compareOptions = defineRequest('CompareOptions', { query: z.string(), epsilon: amountShape });
/** The query as for `auditScale`, and the promised epsilon. */
export type CompareOptions = z.input<typeof compareOptions>;

/**
 * Comparison of all mechanisms on a small model, a chain, or jointly Gaussian records: noise, promise and actual privacy loss.
 *
 * @example
 * const { mechanisms } = await compareMechanisms('model.json', { query: 'sum', epsilon: 1 });
 */
export async function compareMechanisms(model: FileName, given: CompareOptions): Promise<MechanismComparison> {
  return withFaults(async () => {
    const file = fileNamed(model, 'The model');
    const { query, epsilon } = parseOptions(compareOptions, given);
    const gaussian = await readGaussianFile(file);
    if (gaussian) return compareGaussians(gaussian, query, positive(epsilon, '--epsilon'));
    return compareOn(await readModelFile(file), query, positive(epsilon, '--epsilon'), tableReader(file));
  });
}

function positive(text: string, what: string): number {
  const value = toNumber(parseRational(text, what));
  if (value > 0) return value;
  throw new Fault('USAGE', `${what} must be above zero.`, 'Write a plain decimal such as 0.5.');
}
