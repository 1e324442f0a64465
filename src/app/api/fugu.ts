import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { noProtection } from '../../policy/no-protection.js';
import type { Policy } from '../../policy/policy.js';
import type { Verification } from '../../release/ledger/ledger.js';
import { attachOutcome, notSpent } from '../../release/session/outcome.js';
import type { Plan } from '../../release/session/plan.js';
import type { QueryLog } from '../../release/session/query-log.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { Payer, PrivacySession } from '../../release/session/session.js';
import type { EstimatedTables, EstimateRequest } from './estimate.js';
import { amountShape, type FileName, fileNamed, newBudgetShape, parseOptions, withFaults } from './input.js';
import type { QuestionMethods } from './kinds.js';
import { entriesOf, type LedgerEntry, type Spending, spendingOf } from './ledger.js';
import { type OpenHandles, type OpenSettings, openHandles } from './open-handles.js';
import { planOnRecord } from './plan-on-record.js';
import { parseQuestion } from './question.js';
import { defineRequest, field } from './request.js';

export const askOptions = defineRequest('AskOptions', {
  epsilon: field(
    amountShape.optional(),
    `Share of the policy's epsilon to use: 0.5, "0.5" or "1/2". A tenth when absent; a survey takes all that remains.`,
    { value: 'part', help: "part of the policy's epsilon to use (default: a tenth; --survey: all that is left)" },
  ),
  tidy: field(z.boolean().optional(), 'No negative counts, totals that agree (post-processing).'),
  fresh: field(
    z.boolean().optional(),
    'Answers from the current data and pays, even if an answer to the same request is recorded.',
    { help: 'ask the data as it is now and pay, also when an answer to the same request is recorded' },
  ),
  label: field(z.string().min(1).max(120).optional(), 'Label in the ledger; made from the question when absent.'),
});
export type AskOptions = z.input<typeof askOptions>;

export const openOptions = defineRequest('OpenOptions', {
  analyst: field(
    z.string().min(1).max(120).optional(),
    'Analyst who pays: listed in the ledger, and the key of quotas. The user of the process when absent.',
  ),
  as: field(z.string().max(120).optional(), 'Self-chosen name of the analyst; listed, never relied on.'),
  acceptNoProtection: field(
    z.boolean().optional(),
    'Plans and releases under a budget so large that it protects nothing; the answers are not certified.',
    { help: 'go on although the budget is so large that it protects nothing; the answer is not certified' },
  ),
  newBudget: field(
    newBudgetShape,
    "Reason for opening a budget for data that has another one; permanent in the ledger's chain.",
    { value: 'reason', help: 'open a budget although this data has another one; the reason is written into the chain' },
  ),
  trail: field(
    z.custom<(trail: QueryLog) => void>((x) => typeof x === 'function', 'expected a function').optional(),
    "Receives the names under which the database's own log lists the queries of a ledger entry, failed ones included. For an audit log, not for publication.",
  ),
});
export type OpenOptions = z.input<typeof openOptions>;

/** One policy with its data and its ledger: plans are free, releases spend budget. */
export interface Fugu extends QuestionMethods<AskOptions> {
  /** Tables from all recorded answers, with their errors; reads no data and spends nothing. */
  estimate(request?: EstimateRequest): Promise<EstimatedTables>;
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
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const options = parseOptions(openOptions, given);
    return fuguFrom(await openHandles(file, options), options.acceptNoProtection);
  });
}

/** One opened policy for many analysts: data, ties and bounds are read once, each analyst pays under their own name. */
export interface SharedFugu {
  readonly policy: Policy;
  of(payer: Payer): Fugu;
  /** Session of one payer, for calls that `Fugu` does not have. */
  session(payer: Payer): PrivacySession;
  close(): Promise<void>;
}

export async function openShared(file: string, settings: OpenSettings = {}): Promise<SharedFugu> {
  const opened = await openHandles(file, settings);
  return {
    policy: opened.policy,
    of: (payer) =>
      fuguFrom({ ...opened, session: opened.session.forPayer(payer), close: async () => undefined }, settings.acceptNoProtection),
    session: (payer) => opened.session.forPayer(payer),
    close: () => opened.close(),
  };
}

/** Opens a policy while `work` runs, and passes its declarations, which hold the labels of answers. */
export async function withFugu<T>(
  file: string,
  settings: OpenSettings,
  work: (fugu: Fugu, policy: Policy) => Promise<T>,
): Promise<T> {
  const opened = await openHandles(file, settings);
  try {
    return await work(fuguFrom(opened, settings.acceptNoProtection), opened.policy);
  } finally {
    await opened.close();
  }
}

/** Fugu on open handles, which stay private to it. */
function fuguFrom(opened: OpenHandles, acceptNoProtection = false): Fugu {
  let closed: Promise<void> | undefined;
  const whileOpen = <T>(work: (opened: OpenHandles) => T | Promise<T>): Promise<T> =>
    withFaults(() => {
      if (closed) throw new Fault('USAGE', 'This policy was closed.', 'Open it again with open().');
      return work(opened);
    });
  const ask = <T>(verb: 'plan' | 'release', question: unknown, given: unknown): Promise<T> =>
    whileOpen(async ({ session }) => {
      if (!acceptNoProtection) await attachOutcome(notSpent, () => refuseNoProtection(session.policy));
      const { kind, request, options } = await attachOutcome(notSpent, async () => ({
        options: parseOptions(askOptions, given),
        ...(await parseQuestion(question)),
      }));
      return (verb === 'release'
        ? kind.release(session.withQuestion(request, options), request, options)
        : planOnRecord(kind, session, request, options)) as unknown as Promise<T>;
    });
  const close = (): Promise<void> => (closed ??= withFaults(() => opened.close()));
  const fugu = {
    plan: (question: unknown, options?: unknown) => ask<Plan>('plan', question, options),
    release: (question: unknown, options?: unknown) => ask<{ readonly receipt: Receipt }>('release', question, options),
    estimate: (request?: unknown) =>
      whileOpen(async ({ session }) => (await import('./estimate.js')).estimated(session, request)),
    spent: () => whileOpen(spendingOf),
    entries: () =>
      whileOpen(async ({ ledger, policy, session }) =>
        entriesOf(await ledger.entries(policy.population), session.account, await session.spent()),
      ),
    verify: () => whileOpen(({ ledger }) => ledger.verify()),
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
