import type { Snapshot } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import { type Mechanism, totalCostOf } from '../../privacy/mechanism/mechanism.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import { type StoredCost, toStored, withoutZcdp } from '../../privacy/mechanism/privacy-cost.js';
import type { Allowance } from './allowance.js';
import { attachOutcome, outcomeOf } from './outcome.js';
import type { Plan } from './plan.js';
import type { PublicFact } from './public-facts.js';
import type { PublicReader } from './public-read.js';
import { type Receipt, type ReceiptParts, replayedOf } from './receipt.js';
import type { ChargeResult, ReleaseContext, ReleaseRequest } from './release-context.js';
import { readingText } from './request-key.js';

export type CanonicalRequest<T> = Omit<ReleaseRequest<T>, 'key'> & {
  /** Canonical text of the request and its budget; two requests with one text are the same request. */
  readonly canonical: string;
};

export interface Analysis<T> {
  readonly kind: string;
  readonly allowance: Allowance;
  readonly canonical: string;
  readonly plan: Plan;
  readonly mechanisms: readonly Mechanism[];
  readonly relied?: readonly PublicFact[];
  /** Check of the data that will be read, before anything is reserved (charge.ts). */
  readonly still?: (look: PublicReader) => Promise<void>;
  readonly execute: (engine: Snapshot, paid: Payment) => Promise<T>;
}

interface AnalysisContext {
  readonly policy: Policy;
  readonly charge: <A>(request: CanonicalRequest<A>) => Promise<ChargeResult<A>>;
  readonly receipt: (parts: ReceiptParts) => Receipt;
  readonly replaying: ReleaseContext['replaying'];
}

/** Pays for and runs an analysis whose whole cost is known in advance; a repeated request returns the recorded result. */
export async function runAnalysis<T>(
  { policy, charge, receipt, replaying }: AnalysisContext,
  request: Analysis<T>,
): Promise<{ readonly result: T; readonly receipt: Receipt }> {
  const { epsilonText, fresh, reading } = request.allowance;
  const { answer, ...paid } = await charge<{ plan: Plan; profile: StoredCost; result: T }>({
    canonical: JSON.stringify([request.kind, epsilonText, request.canonical, readingText(policy)]),
    label: request.plan.label,
    mechanisms: request.mechanisms,
    plan: request.plan,
    reading,
    ...(request.relied && { relied: request.relied }),
    ...(fresh && { fresh: true }),
    ...(request.still && { still: request.still }),
    execute: async (engine, paid) => ({
      plan: request.plan,
      profile: toStored(withoutZcdp(totalCostOf(request.mechanisms))),
      result: await request.execute(engine, paid),
    }),
  });
  return attachOutcome(outcomeOf(paid), () => {
    const own = receipt({ plan: answer.plan, profile: answer.profile, ...paid });
    if (paid.replayed) replaying?.(replayedOf(answer.plan, own));
    return { result: answer.result, receipt: own };
  });
}
