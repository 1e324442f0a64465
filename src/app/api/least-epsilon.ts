import * as z from 'zod';
import { surveyBatch } from '../../analysis/survey/query.js';
import { parseRational, type Rational, toNumber } from '../../base/exact/rational.js';
import { readPolicy } from '../../data/terms/read.js';
import { posteriorAtMost } from '../../policy/belief.js';
import { betweenValues, neighboursOf } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import { bindBatch } from '../../query/bind.js';
import { batchForms, parseBatch } from '../../query/parse.js';
import { readSql } from '../../query/sql/sql.js';
import {
  type AccuracyTarget,
  type AccuracyTask,
  checkTarget,
  errorWith,
  leastEpsilonFor as least,
  type TradeOff,
  tradeOff,
} from '../../release/accountant/accuracy.js';
import { readProbability } from '../../release/accountant/belief.js';
import { amountShape, type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { tiesOf } from './open-handles.js';
import { defineRequest, field } from './request.js';

const options = defineRequest('AccuracyOptions', {
  question: field(z.unknown(), 'Question to be released: queries, {sql} or {survey: true}.'),
  error: field(
    amountShape.optional(),
    'Half width that every answer must reach, in its own unit; when absent, only the trade-off is computed.',
  ),
  confidence: amountShape.default('0.95'),
  rows: field(amountShape.optional(), 'Approximate number of rows in the smallest group (means and shares): public knowledge.'),
  prior: field(amountShape.default('0.1'), 'Highest prior of the attacker.'),
});
const forms = z.union([batchForms, z.strictObject({ sql: z.string() }), z.strictObject({ survey: z.literal(true) })]);
export type AccuracyQuestion = z.input<typeof forms>;
export type AccuracyOptions = Omit<z.input<typeof options>, 'question'> & { readonly question: AccuracyQuestion };

/** Accuracy that a budget buys when all of it is spent on one question. */
export interface Accuracy extends Partial<TradeOff> {
  /** Requested error. */
  readonly target?: number;
  readonly confidence: number;
  readonly prior: number;
  readonly delta: number;
  readonly policyEpsilon: number;
  /** Expected errors compared with the highest posterior of an attacker. */
  readonly tradeOff: readonly TradeOff[];
  /** Warnings to read before anything is released. */
  readonly warnings?: readonly string[];
}

/**
 * Least epsilon that reaches an error, and the trade-off around it. Reads ties but no answer, and spends nothing.
 *
 * @example
 * const { epsilon, tradeOff } = await leastEpsilon('policy.yaml', { question: { kind: 'count', by: ['party'] }, error: 50 });
 */
export async function leastEpsilon(policy: FileName, given: AccuracyOptions): Promise<Accuracy> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const chosen = parseOptions(options, given);
    const target: Omit<AccuracyTarget, 'error'> = {
      confidence: readNumber(chosen.confidence, 'confidence'),
      ...(chosen.rows !== undefined && { rows: readNumber(chosen.rows, 'number of rows') }),
    };
    const error = chosen.error === undefined ? undefined : readNumber(chosen.error, 'error');
    checkTarget({ ...target, error: error ?? 1 });
    const prior = readProbability(chosen.prior, 'prior');
    const read = await readPolicy(file);
    const { batch, warnings } = batchOf(chosen.question, read);
    const bound = bindBatch(parseBatch(batch), read);
    const bench: AccuracyTask = { policy: read, bound, amplifiers: await tiesOf(read) };
    return {
      ...(error !== undefined && { ...solve(bench, { ...target, error }, prior), target: error }),
      confidence: target.confidence,
      prior: toNumber(prior),
      delta: toNumber(bench.policy.budget.delta),
      policyEpsilon: toNumber(bench.policy.budget.epsilon),
      tradeOff: tradeOff(bench, target, prior),
      ...(warnings.length > 0 && { warnings }),
    };
  });
}

function batchOf(question: unknown, policy: Policy): { readonly batch: unknown; readonly warnings: readonly string[] } {
  const asIs = (batch: unknown) => ({ batch, warnings: [] });
  if (typeof question !== 'object' || question === null) return asIs(question);
  if ('sql' in question && typeof question.sql === 'string') {
    const { batch, instead } = readSql(question.sql, policy);
    return { batch, warnings: instead };
  }
  return asIs('survey' in question && question.survey === true ? surveyBatch(policy) : question);
}

const readNumber = (text: string, what: string): number => toNumber(parseRational(text, what));

function solve(bench: AccuracyTask, target: AccuracyTarget, prior: Rational): TradeOff {
  const epsilon = least(bench, target);
  return {
    epsilon: toNumber(epsilon),
    error: errorWith(bench, epsilon, target),
    posterior: posteriorAtMost(prior, betweenValues(neighboursOf(bench.policy), epsilon)),
  };
}
