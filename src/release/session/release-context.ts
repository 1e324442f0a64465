import type { Engine, Snapshot } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import type { Account } from '../accountant/account.js';
import type { RequestReading } from '../accountant/request-reading.js';
import type { Ledger, SpendEntry } from '../ledger/ledger.js';
import type { DataClaims } from './data-claims.js';
import type { OutcomeLog } from './outcome.js';
import type { Plan } from './plan.js';
import type { PublicReader } from './public-read.js';
import type { QueryLog } from './query-log.js';
import type { OnRecord } from './receipt.js';

/** Context of every release, whatever the request. */
export interface ReleaseContext {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly account: Account;
  /** Called before an account is opened under its population's name: refuses a second budget (policy/population.ts). */
  readonly opening: (others: readonly string[]) => void;
  /** Called then, too: refuses data that has another account (data-claims.ts). */
  readonly claims?: DataClaims;
  /** Payer, as known to the operating system or the service. */
  readonly analyst: string;
  /** Name that the analyst goes by. */
  readonly as?: string;
  /** Name of one run: under another name it is another request, under the same one it is answered from the record. */
  readonly once?: string;
  /** The request in the caller's own words, kept with the answer to be shown; not part of the request key. */
  readonly wording?: RequestWording;
  /** Return the recorded answer or nothing: never pays. */
  readonly recordedOnly?: true;
  /** Called with every recorded answer that is given, and with its absence where nothing can be paid. */
  readonly replaying?: (found: OnRecord) => void;
  /** Receives the outcome of every reservation. */
  readonly outcomes?: OutcomeLog;
  /** Called before anything is reserved, where somebody can confirm; throws where they do not agree. */
  readonly decide?: (plan: Plan) => Promise<void>;
  /** Receives the queries sent to a database, also after a failure. */
  readonly onQueries?: (log: QueryLog) => void;
  /** Content of the data whose ties the account's bounds were computed for; absent when they depend on no data. */
  readonly tiesOf?: string;
}

export interface RequestWording {
  readonly question: unknown;
  readonly epsilon?: string;
  readonly label?: string;
  readonly once?: string;
}

/** One request, to be paid for and then answered. `T` is plain data, as it is recorded and given out again. */
export interface ReleaseRequest<T> {
  /** Request and budget as a hash (release/session/request-key.ts): two requests with one key are the same request. */
  readonly key: string;
  /** Keys that version 0.2 may have recorded it under. */
  readonly former?: readonly string[];
  /** Label in the ledger's list; from the request's own text only. */
  readonly label: string;
  /** All mechanisms to be drawn: their cost is reserved, and they draw for this request only. */
  readonly mechanisms: readonly Mechanism[];
  /** The plan that was shown; a request without one was confirmed by its caller. */
  readonly plan?: Plan;
  readonly reading: RequestReading;
  /** The earlier request that paid for these draws, of which this is one part; `mechanisms` is empty then. */
  readonly prepaid?: Prepaid;
  /** Facts that it takes for known to everybody and pays nothing for; in the words of release/session/public-facts.ts. */
  readonly relied?: readonly string[];
  /** Read the data as it is now and pay, whatever is recorded. */
  readonly fresh?: boolean;
  /**
   * Present where failures do not depend on the noise, so that an unanswered entry may be resumed. `length`:
   * length that its text is padded to, because disk space depends on it.
   */
  readonly resumable?: { readonly length: number };
  /** Refuses, before anything is reserved, if the public facts behind the plan have changed in the data to be read. */
  readonly still?: (look: PublicReader) => Promise<void>;
  /** Reads the data and adds the noise; runs only after the cost is durably reserved. */
  readonly execute: (engine: Snapshot, paid: Payment) => Promise<T>;
}

/** Mechanisms that a recorded request paid for and did not draw. Each part may be drawn once: only that is reserved for it. */
export interface Prepaid {
  /** Key of the request that paid. */
  readonly key: string;
  readonly mechanisms: readonly Mechanism[];
  readonly part: number;
}

export interface ChargeResult<T> {
  readonly answer: T;
  readonly entry: SpendEntry;
  readonly replayed: boolean;
  /** False when the answer was paid for but could not be recorded: the same request then pays again. */
  readonly recorded: boolean;
}
