import type { Engine } from '../../data/engine/engine.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import type { Policy } from '../../policy/policy.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import type { Ledger } from '../../release/ledger/ledger.js';
import { openLedger } from '../../release/ledger/open.js';
import { asFault, type OutcomeLog } from '../../release/session/outcome.js';
import type { Plan } from '../../release/session/plan.js';
import { publicReads, withPublicReader } from '../../release/session/public-read.js';
import type { QueryLog } from '../../release/session/query-log.js';
import { createSession, type PrivacySession } from '../../release/session/session.js';

/** Settings of an opened policy: who pays, who confirms, and callbacks for progress and warnings. */
export interface OpenSettings {
  /** Policy to use in place of the file's. */
  readonly policy?: Policy;
  readonly analyst?: string;
  readonly as?: string;
  readonly outcomes?: OutcomeLog;
  /** Called before any budget is reserved; throws if the payer does not agree. */
  readonly decide?: (plan: Plan) => Promise<void>;
  /** Continues although the budget protects nothing. */
  readonly acceptNoProtection?: boolean;
  /** Reason for opening a budget for data that has another one; kept in the chain. */
  readonly newBudget?: string;
  /** Folder of a service that recognises data, in addition to those of the user and of the ledger. */
  readonly registry?: string;
  /** Claims the data on opening instead of with the first release: for a service that offers it to others. */
  readonly claimAhead?: boolean;
  /** Receives the database queries of each ledger entry, failed ones included. */
  readonly trail?: (trail: QueryLog) => void;
  /** Progress of opening, where it may take long. */
  readonly progress?: (done: number, total: number) => void;
  /** Receives the data source that is about to be opened. */
  readonly opening?: (source: string) => void;
  /** Receives an error of closing; the answer stands. */
  readonly caution?: (error: unknown) => void;
}

export interface OpenHandles {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly session: PrivacySession;
  close(): Promise<void>;
}

/** Policy, data and ledger, opened together and closed together. */
export async function openHandles(file: string, settings: OpenSettings = {}): Promise<OpenHandles> {
  const policy = settings.policy ?? (await readPolicy(file));
  settings.opening?.(policy.data.source);
  const engine = await openEngine(policy);
  return closeOnFault([engine], settings, async () => {
    const ledger = await openLedger(policy.ledger);
    return closeOnFault([ledger], settings, async () => {
      const { analyst, as, outcomes, decide, trail, progress, newBudget, registry, caution = warning } = settings;
      const sessionOptions = {
        ...(analyst && { analyst }),
        ...(as && { as }),
        ...(outcomes && { outcomes }),
        ...(decide && { decide }),
        ...(trail && { onQueries: trail }),
        ...(progress && { progress }),
      };
      const claims = { caution, ...(registry !== undefined && { registry }), ...(newBudget !== undefined && { newBudget }) };
      const session = await createSession({ policy, engine, ledger, claims, ...sessionOptions });
      if (settings.claimAhead) await session.claimAhead();
      return { policy, engine, ledger, session, close: () => closeAll([ledger, engine], settings) };
    });
  });
}

/**
 * Declared ties of a policy's data, one amplifier each; no ledger, so nothing can be paid for. `changed`: read with other ties
 * than the file declares.
 */
export async function tiesOf(policy: Policy, changed: Policy = policy): Promise<readonly Amplifier[]> {
  const engine = await openEngine(policy);
  return withClosing(engine, () =>
    withPublicReader(engine, changed, async (look) => (await look(publicReads.ties, {})).amplifiers),
  );
}

const warning = (error: unknown): void => process.emitWarning(asFault(error).message, 'FuguWarning');

interface Closable {
  close(): Promise<void>;
}

async function closeOnFault<T>(opened: readonly Closable[], settings: OpenSettings, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await closeAll(opened, settings);
    throw error;
  }
}

async function closeAll(opened: readonly Closable[], { caution = warning }: OpenSettings): Promise<void> {
  for (const each of opened) await each.close().catch(caution);
}

/** Runs work and closes its handle: result and error survive even if closing fails. */
export async function withClosing<T>(opened: Closable, work: () => Promise<T>, caution?: (error: unknown) => void): Promise<T> {
  try {
    return await work();
  } finally {
    await closeAll([opened], caution ? { caution } : {});
  }
}
