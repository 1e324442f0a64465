import type { Pinned } from '../../data/engine/engine.js';
import { defaultLimits } from '../../data/engine/limits.js';
import type { Paid } from '../../privacy/mechanism/paid.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { Session } from '../../release/session/session.js';
import { refuseSecondBatch } from './adversarial-promise.js';
import { checkDomain } from './exact-answer.js';
import { type PatternPlan, planOf } from './plan.js';
import { type PatternOptions, type PreparedPattern, preparePattern } from './prepare.js';
import { larger, smaller } from './query/sensitivity.js';
import { isAdversarial } from './ways/way.js';
import type { PatternMechanism } from './ways/ways.js';
import { refuseEndless } from './work.js';

export interface PatternResult {
  readonly query: string;
  readonly unit: 'assignments' | 'occurrences';
  readonly value: string;
  readonly mechanism: PatternMechanism;
  readonly expectedError: number;
}

export async function planPattern(session: Session, text: string, options: PatternOptions = {}): Promise<PatternPlan> {
  return planOf(session, await preparePattern(session, text, options));
}

export async function releasePattern(
  session: Session,
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
    still: async () => refuseEndless(prepared.work.expected, defaultLimits()),
    execute: (engine, paid) => answerPattern(engine, prepared, paid),
  });
}

export async function answerPattern(engine: Pinned, prepared: PreparedPattern, paid: Paid): Promise<PatternResult> {
  const { analysis, chosen } = prepared;
  await checkDomain(engine, analysis);
  const value = await noisyAnswer(engine, prepared, paid);
  return {
    query: analysis.text,
    unit: analysis.unit,
    value: `${value}`,
    mechanism: chosen.mechanism,
    expectedError: chosen.expectedError,
  };
}

/** Possible answers are public, so a noisy answer is clamped to their range. */
async function noisyAnswer(engine: Pinned, { analysis, drawn }: PreparedPattern, paid: Paid): Promise<bigint> {
  const { least, most } = analysis.bounds;
  return smaller(larger(await drawn.answer(paid, engine), least), most);
}
