import { Fault } from '../../base/errors.js';
import type { Snapshot } from '../../data/engine/engine.js';
import { defaultLimits } from '../../data/engine/limits.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { PrivacySession } from '../../release/session/session.js';
import { refuseTooLong } from './counting-time.js';
import { checkDomain } from './exact-answer.js';
import { type PatternPlan, planOf } from './plan.js';
import { type PatternOptions, type PreparedPattern, preparePattern } from './prepare.js';
import { larger, smaller } from './query/sensitivity.js';
import type { PatternMechanism } from './strategies/strategies.js';
import { isAdversarial } from './strategies/strategy.js';

export interface PatternResult {
  readonly query: string;
  readonly unit: 'assignments' | 'occurrences';
  readonly value: string;
  readonly mechanism: PatternMechanism;
  readonly expectedError: number;
}

export async function planPattern(session: PrivacySession, text: string, options: PatternOptions = {}): Promise<PatternPlan> {
  return planOf(session, await preparePattern(session, text, options));
}

export async function releasePattern(
  session: PrivacySession,
  text: string,
  options: PatternOptions = {},
): Promise<{ result: PatternResult; receipt: Receipt }> {
  const prepared = await preparePattern(session, text, options);
  const { allowance, canonical, drawn, relied } = prepared;
  const plan = planOf(session, prepared);
  if (isAdversarial(drawn)) await refuseSecondBatch(session, plan.label);
  return session.analyse<PatternResult>({
    kind: isAdversarial(drawn) ? 'adversarial' : 'pattern',
    allowance,
    canonical: JSON.stringify(canonical),
    plan,
    mechanisms: drawn.mechanisms,
    relied,
    still: async () => refuseTooLong(prepared.work.expected, defaultLimits()),
    execute: (engine, payment) => answerPattern(engine, prepared, payment),
  });
}

/**
 * One declared batch per population, answered from the record ever after: adversarial privacy does not compose. This refusal is only
 * the early one; the ledger admits the one-time cost only once, under any concurrency and gamma.
 */
async function refuseSecondBatch(session: PrivacySession, label: string): Promise<void> {
  const before = (await session.entries()).find((e) => e.label.startsWith('adversarial privacy: '));
  if (before && before.label !== label)
    throw new Fault(
      'BUDGET_EXCEEDED',
      'This population has already answered one query under adversarial privacy.',
      'Its guarantee does not compose: ask without --gamma, which uses the DP budget.',
    );
}

export async function answerPattern(engine: Snapshot, prepared: PreparedPattern, payment: Payment): Promise<PatternResult> {
  const { analysis, chosen } = prepared;
  await checkDomain(engine, analysis);
  const value = await noisyAnswer(engine, prepared, payment);
  return {
    query: analysis.text,
    unit: analysis.unit,
    value: `${value}`,
    mechanism: chosen.mechanism,
    expectedError: chosen.expectedError,
  };
}

/** Possible answers are public, so a noisy answer is clamped to their range. */
async function noisyAnswer(engine: Snapshot, { analysis, drawn }: PreparedPattern, payment: Payment): Promise<bigint> {
  const { least, most } = analysis.bounds;
  return smaller(larger(await drawn.answer(payment, engine), least), most);
}
