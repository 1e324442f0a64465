import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { noProtection } from '../../policy/no-protection.js';
import type { Policy } from '../../policy/policy.js';
import type { Verification } from '../../release/ledger/ledger.js';
import { notSpent, sayingOutcome } from '../../release/session/outcome.js';
import type { Plan } from '../../release/session/plan.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { Payer, Session } from '../../release/session/session.js';
import type { Trail } from '../../release/session/trail.js';
import { amount, type FileName, faulting, fileNamed, newBudget, readOptions } from './door.js';
import type { EstimateAsked, Estimated } from './estimate.js';
import type { Asking } from './kinds.js';
import { entriesOf, type LedgerEntry, type Spending, spendingOf } from './ledger.js';
import { type Opened, type Opener, openAll } from './opened.js';
import { planOnRecord } from './plan-on-record.js';
import { questionOf } from './question.js';

const askOptions = z.strictObject({
  /** Share of the policy's epsilon to use: 0.5, "0.5" or "1/2". A tenth when absent; a survey takes all that remains. */
  epsilon: amount.optional(),
  /** No negative counts, totals that agree (post-processing). */
  tidy: z.boolean().optional(),
  /** Answers from the current data and pays, even if an answer to the same request is recorded. */
  fresh: z.boolean().optional(),
  /** Label in the ledger; made from the question when absent. */
  label: z.string().min(1).max(120).optional(),
});
export type AskOptions = z.input<typeof askOptions>;

const openOptions = z.strictObject({
  /** Analyst who pays: listed in the ledger, and the key of quotas. The user of the process when absent. */
  analyst: z.string().min(1).max(120).optional(),
  /** Self-chosen name of the analyst; listed, never relied on. */
  as: z.string().max(120).optional(),
  /** Plans and releases under a budget so large that it protects nothing; the answers are not certified. */
  acceptNoProtection: z.boolean().optional(),
  /** Reason for opening a budget for data that has another one; permanent in the ledger's chain. */
  newBudget,
  /**
   * Receives the names under which the database's own log lists the queries of a ledger entry, failed ones included. For an audit
   * log, not for publication.
   */
  trail: z.custom<(trail: Trail) => void>((x) => typeof x === 'function', 'expected a function').optional(),
});
export type OpenOptions = z.input<typeof openOptions>;

/** One policy with its data and its ledger: plans are free, releases spend budget. */
export interface Fugu extends Asking<AskOptions> {
  /** Tables from all recorded answers, with their errors; reads no data and spends nothing. */
  estimate(asked?: EstimateAsked): Promise<Estimated>;
  /** Spent and remaining budget of this population. */
  spent(): Promise<Spending>;
  /** All ledger entries of this population. */
  entries(): Promise<readonly LedgerEntry[]>;
  /** Verifies the chain of the ledger. */
  verify(): Promise<Verification>;
  /** Closes data and ledger; may be called twice. Any later call fails with a Fault. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens a policy, its data and its ledger.
 *
 * @example
 * const fugu = await open('policy.yaml');
 * const plan = await fugu.plan({ kind: 'mean', column: 'age' }, { epsilon: 0.1 });
 * const { tables, receipt } = await fugu.release({ kind: 'mean', column: 'age' }, { epsilon: 0.1 });
 * console.log(plan.fits, tables[0].rows[0].value, receipt.guarantee.sentences[0]);
 * await fugu.close();
 */
export async function open(policy: FileName, given?: OpenOptions): Promise<Fugu> {
  return faulting(async () => {
    const file = fileNamed(policy, 'The policy');
    const said = readOptions(openOptions, given);
    return fuguOf(await openAll(file, said), said.acceptNoProtection);
  });
}

/** One opened policy for many analysts: data, ties and bounds are read once, each analyst pays under their own name. */
export interface SharedFugu {
  readonly policy: Policy;
  of(payer: Payer): Fugu;
  /** Session of one payer, for calls that `Fugu` does not have. */
  session(payer: Payer): Session;
  close(): Promise<void>;
}

export async function openShared(file: string, opener: Opener = {}): Promise<SharedFugu> {
  const opened = await openAll(file, opener);
  return {
    policy: opened.policy,
    of: (payer) =>
      fuguOf({ ...opened, session: opened.session.of(payer), close: async () => undefined }, opener.acceptNoProtection),
    session: (payer) => opened.session.of(payer),
    close: () => opened.close(),
  };
}

/** Opens a policy while `work` runs, and passes its declarations, which hold the labels of answers. */
export async function withFugu<T>(file: string, opener: Opener, work: (fugu: Fugu, policy: Policy) => Promise<T>): Promise<T> {
  const opened = await openAll(file, opener);
  try {
    return await work(fuguOf(opened, opener.acceptNoProtection), opened.policy);
  } finally {
    await opened.close();
  }
}

/** Fugu on open handles, which stay private to it. */
function fuguOf(opened: Opened, acceptNoProtection = false): Fugu {
  let closed: Promise<void> | undefined;
  const asking = <T>(work: (opened: Opened) => T | Promise<T>): Promise<T> =>
    faulting(() => {
      if (closed) throw new Fault('USAGE', 'This policy was closed.', 'Open it again with open().');
      return work(opened);
    });
  const ask = <T>(verb: 'plan' | 'release', question: unknown, given: unknown): Promise<T> =>
    asking(async ({ session }) => {
      if (!acceptNoProtection) await sayingOutcome(notSpent, () => refuseNoProtection(session.policy));
      const { kind, asked, options } = await sayingOutcome(notSpent, async () => ({
        options: readOptions(askOptions, given),
        ...(await questionOf(question)),
      }));
      return (verb === 'release'
        ? kind.release(session.asking(asked, options), asked, options)
        : planOnRecord(kind, session, asked, options)) as unknown as Promise<T>;
    });
  const close = (): Promise<void> => (closed ??= faulting(() => opened.close()));
  const fugu = {
    plan: (question: unknown, options?: unknown) => ask<Plan>('plan', question, options),
    release: (question: unknown, options?: unknown) => ask<{ readonly receipt: Receipt }>('release', question, options),
    estimate: (asked?: unknown) => asking(async ({ session }) => (await import('./estimate.js')).estimated(session, asked)),
    spent: () => asking(spendingOf),
    entries: () =>
      asking(async ({ ledger, policy, session }) =>
        entriesOf(await ledger.entries(policy.population), session.account, await session.spent()),
      ),
    verify: () => asking(({ ledger }) => ledger.verify()),
    close,
    [asyncDispose]: close,
  };
  return fugu as unknown as Fugu;
}

export function refuseNoProtection(policy: Policy): void {
  const why = noProtection(policy);
  if (why === undefined) return;
  const { places, file } = policy;
  throw new Fault(
    'BUDGET_INVALID',
    `This budget protects nothing: ${why}.`,
    'Choose a smaller one ("fugu epsilon" helps), or go on all the same with --accept-no-protection (acceptNoProtection); nothing is certified then.',
    { place: places?.get('budget') ?? { file } },
  );
}

/** Before Node had this symbol, `await using` compiled by TypeScript looked for it. */
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
