import type { Pinned } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import { costTogether, type Mechanism } from '../../privacy/mechanism/mechanism.js';
import type { Paid } from '../../privacy/mechanism/paid.js';
import { type StoredProfile, toStored, withoutZcdp } from '../../privacy/mechanism/profile.js';
import type { Allowance } from './allowance.js';
import { type Charged, type Desk, outcomeOf, type Request } from './charge.js';
import { sayingOutcome } from './outcome.js';
import type { Plan } from './plan.js';
import type { Look } from './public-read.js';
import { type Receipt, receiptOf } from './receipt.js';
import type { Relied } from './relied.js';
import { replayedOf } from './replayed.js';
import { readingOf } from './request-key.js';

export type AskedFor<T> = Omit<Request<T>, 'key'> & {
  /** Canonical text of the request and its budget; two requests with one text are the same request. */
  readonly canonical: string;
};

export interface Analysis<T> {
  readonly kind: string;
  readonly allowance: Allowance;
  /** Canonical text of the parameters. */
  readonly canonical: string;
  readonly plan: Plan;
  readonly mechanisms: readonly Mechanism[];
  readonly relied?: readonly Relied[];
  /** Check of the data that will be read, before anything is reserved (charge.ts). */
  readonly still?: (look: Look) => Promise<void>;
  readonly execute: (engine: Pinned, paid: Paid) => Promise<T>;
}

interface Paying {
  readonly policy: Policy;
  readonly charge: <A>(asked: AskedFor<A>) => Promise<Charged<A>>;
  readonly replaying: Desk['replaying'];
}

/** Pays for and runs an analysis whose whole cost is known in advance; a repeated request returns the recorded result. */
export async function paidAnalysis<T>(
  { policy, charge, replaying }: Paying,
  request: Analysis<T>,
): Promise<{ readonly result: T; readonly receipt: Receipt }> {
  const { asked, fresh, reading } = request.allowance;
  const { answer, ...paid } = await charge<{ plan: Plan; profile: StoredProfile; result: T }>({
    canonical: JSON.stringify([request.kind, asked, request.canonical, readingOf(policy)]),
    label: request.plan.label,
    mechanisms: request.mechanisms,
    plan: request.plan,
    reading,
    ...(request.relied && { relied: request.relied }),
    ...(fresh && { fresh: true }),
    ...(request.still && { still: request.still }),
    execute: async (engine, paid) => ({
      plan: request.plan,
      profile: toStored(withoutZcdp(costTogether(request.mechanisms))),
      result: await request.execute(engine, paid),
    }),
  });
  return sayingOutcome(outcomeOf(paid), () => {
    const receipt = receiptOf({ policy, plan: answer.plan, profile: answer.profile, ...paid });
    if (paid.replayed) replaying?.(replayedOf(answer.plan, receipt));
    return { result: answer.result, receipt };
  });
}
