import { Fault, type FaultCode, type Outcome } from '../../base/errors.js';
import { sha256 } from '../../base/platform/hash.js';
import type { Engine, Snapshot } from '../../data/engine/engine.js';
import { namesBefore } from '../../data/ties/slicings.js';
import type { Policy } from '../../policy/policy.js';
import { type Mechanism, totalCostOf } from '../../privacy/mechanism/mechanism.js';
import { Payment } from '../../privacy/mechanism/payment.js';
import { oneTimeCost } from '../../privacy/mechanism/privacy-cost.js';
import type { Account } from '../accountant/account.js';
import { admission } from '../accountant/admission.js';
import { withOthers } from '../accountant/others.js';
import type { RequestReading } from '../accountant/request-reading.js';
import { withoutSource } from '../accountant/sources.js';
import type { Ledger, Reservation, SpendEntry } from '../ledger/ledger.js';
import { type DataClaims, openingFor } from './data-claims.js';
import { keyOnRecord } from './key-on-record.js';
import { attachOutcome, notSpent, type OutcomeLog, withOutcome } from './outcome.js';
import type { Plan } from './plan.js';
import { type PresentData, presentAccount } from './present-account.js';
import { factsByRow, reliedByTies } from './public-facts.js';
import { type PublicReader, publicReader } from './public-read.js';
import type { QueryLog } from './query-log.js';
import { quotaFor } from './quota.js';
import { notOnRecord, type OnRecord } from './replayed.js';
import { sameCost } from './same-cost.js';

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
  /**
   * Name of one run of a request: under another name it is another request,
   * under the same name it is answered from the record.
   */
  readonly once?: string;
  /**
   * The request in the caller's own words: kept with the answer, so that it can be shown by entry number.
   * Not part of the request key.
   */
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

/**
 * Mechanisms that a recorded request paid for and did not draw. Each part may be drawn once:
 * only that is reserved for it.
 */
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

/** Outcome of a charge: whether its answer can be given out again. */
export const outcomeOf = ({ entry, recorded }: Pick<ChargeResult<unknown>, 'entry' | 'recorded'>): Outcome =>
  recorded ? { state: 'recorded', entry: entry.sequence } : { state: 'spent', entry: entry.sequence, resumable: false };

/**
 * The only way to the data: return the recorded answer, or reserve durably, read, record, then return.
 * The path and its outcome depend on the ledger and public structure only, never on rows (charge.proof.md, docs/explanation/decisions/0008, 0013).
 */
export async function charge<T>(context: ReleaseContext, request: ReleaseRequest<T>): Promise<ChargeResult<T>> {
  const ready = await attachOutcome(notSpent, () => prepare<T>(context, request));
  if ('answer' in ready) return ready;
  try {
    const reservation = await attachOutcome(notSpent, async () => ({
      ...reservationOf(context, request, ready),
      ...(await openingFor(context)),
    }));
    const paid = await pay(context, request, reservation, ready.present.data);
    await context.claims?.remember();
    return paid;
  } finally {
    await ready.present.data.close();
  }
}

/** Prepared charge. The data is held open from here to the answer: ties and counts come from the same content. */
interface PreparedCharge {
  readonly present: PresentData;
  readonly key: string;
  readonly payer?: SpendEntry;
}

async function prepare<T>(context: ReleaseContext, request: ReleaseRequest<T>): Promise<PreparedCharge | ChargeResult<T>> {
  const { policy, ledger } = context;
  const payer = request.prepaid && (await payingEntry(context, request, request.prepaid));
  const keyed = (key: string) => (payer ? partKey(key, payer) : key);
  const key = await keyOnRecord(context, { key: keyed(request.key), former: (request.former ?? []).map(keyed) }, request.fresh);
  const before = request.fresh ? undefined : await ledger.replay(policy.population, key);
  if (before) return recordedResult(before);
  if (context.recordedOnly) refuseUnrecorded(context);
  // A request that will be refused, or was paid for already, needs no confirmation.
  const isOpen = ({ fits, refusal, completes }: Plan) => fits && refusal === undefined && completes === undefined;
  if (request.plan && isOpen(request.plan)) await context.decide?.(request.plan);
  const present = await presentAccount(context);
  try {
    await request.still?.(publicReader(policy, present.data));
  } catch (error) {
    await present.data.close();
    throw error;
  }
  return { present, key, ...(payer && { payer }) };
}

function reservationOf<T>(
  context: ReleaseContext,
  request: ReleaseRequest<T>,
  { present: { account }, key, payer }: PreparedCharge,
): Reservation {
  const { policy, as } = context;
  const cost = totalCostOf(request.mechanisms);
  const privacyCost = payer
    ? oneTimeCost(`part ${request.prepaid!.part} of entry ${payer.sequence}`)
    : account.reservedCost(cost, request.reading);
  return {
    population: policy.population,
    terms: account.terms,
    analyst: context.analyst,
    ...(as !== undefined && { as }),
    key,
    label: request.label,
    profile: privacyCost,
    relied: [...new Set([...(request.relied ?? factsByRow(policy, cost)), ...reliedByTies(policy, account)])],
    ...(request.resumable && { resumable: true }),
    ...(!request.fresh && { unlessRecorded: true }),
    admit: (after, before, own) =>
      admission(account, privacyCost, quotaFor(context))(withOthers(account, after), withOthers(account, before), own),
  };
}

/** Makes keys of parts distinct between payments. */
const partKey = (key: string, { sequence, hash }: SpendEntry): string => sha256(JSON.stringify([key, sequence, hash]));

/** The entry that paid, checked to have paid for these mechanisms under the present ties. */
async function payingEntry(context: ReleaseContext, request: ReleaseRequest<unknown>, prepaid: Prepaid): Promise<SpendEntry> {
  const { policy, ledger } = context;
  const { population } = policy;
  if (request.fresh || request.mechanisms.length > 0)
    throw new RangeError('a part of what was paid for is drawn once, and pays nothing');
  const paid = await ledger.replay(population, prepaid.key);
  const { account, data } = await presentAccount(context);
  await data.close();
  const reserved = account.reservedCost(totalCostOf(prepaid.mechanisms), request.reading);
  // The key names the data, so a payment of version 0.2 was for this data.
  const before = withoutSource(reserved, namesBefore(policy));
  if (paid && [reserved, before].some((privacyCost) => sameCost(paid.entry.profile, privacyCost))) return paid.entry;
  throw new Fault(
    'LEDGER_MISMATCH',
    'What was paid for in advance is not what would be drawn now: the terms, the ties or the program have changed since.',
    'Pay for it again with --fresh.',
  );
}

const recordedResult = <T>({ entry, answer }: { readonly entry: SpendEntry; readonly answer: string }): ChargeResult<T> => ({
  answer: JSON.parse(answer) as T,
  entry,
  replayed: true,
  recorded: true,
});

async function pay<T>(
  context: ReleaseContext,
  request: ReleaseRequest<T>,
  reservation: Reservation,
  data: Snapshot,
): Promise<ChargeResult<T>> {
  const entry = await reserve(context, reservation);
  if (entry.settled) return attachOutcome(notSpent, () => answeredMeanwhile<T>(context, entry));
  const spent = spentOutcome(entry, reservation);
  const made = await paidFor(spent, async () => {
    const answer = await request.execute(data, new Payment(request.prepaid?.mechanisms ?? request.mechanisms));
    return { answer, text: recordText(answer, context.wording, request.resumable?.length ?? 0) };
  }).finally(() => logQueries(context, entry, data));
  const recorded = await record(context, entry, made.text, spent);
  if (recorded === undefined || recorded === made.text)
    return { answer: made.answer, entry, replayed: false, recorded: recorded !== undefined };
  if (request.fresh && entry.resumed) {
    // Another process completed it, perhaps with data from before this request.
    context.outcomes?.forget(entry.sequence);
    return pay(context, request, reservation, data);
  }
  const answer = await attachOutcome({ state: 'recorded', entry: entry.sequence }, () => JSON.parse(recorded) as T);
  return { answer, entry, replayed: false, recorded: true };
}

/** Longer texts are not kept. */
const longestWording = 65_536;

/** The request's text takes the same space whatever the answer is: the padded length grows by it. */
function recordText(answer: unknown, origin: RequestWording | undefined, length: number): string {
  const text = JSON.stringify(answer);
  const words = origin === undefined ? '' : JSON.stringify(origin);
  if (words === '' || words.length > longestWording || !text.startsWith('{"')) return text.padEnd(length);
  return `${text.slice(0, -1)},"asked":${words}}`.padEnd(length + words.length + ',"asked":'.length);
}

/** Ends a request of whoever can pay for nothing. */
export function refuseUnrecorded({ replaying }: ReleaseContext): never {
  replaying?.(notOnRecord);
  throw new Fault('DATA_NOT_FOUND', 'This answer is not on record any more under these terms.', 'Ask for it: that pays.', {
    outcome: notSpent,
  });
}

function logQueries(
  { onQueries, outcomes }: ReleaseContext,
  { sequence, analyst, label }: SpendEntry,
  { queries = [] }: Snapshot,
): void {
  const left = { entry: sequence, analyst, label, queries };
  outcomes?.follow?.(left);
  onQueries?.(left);
}

/** Somebody else's identical request was answered between the lookup and the reservation. */
async function answeredMeanwhile<T>({ ledger }: ReleaseContext, { population, key }: SpendEntry): Promise<ChargeResult<T>> {
  const found = await ledger.replay(population, key);
  if (!found) throw new Fault('LEDGER_CORRUPT', 'A recorded answer is gone.', 'Run "fugu ledger POLICY verify".');
  return recordedResult(found);
}

const spentOutcome = ({ sequence }: SpendEntry, { resumable }: Reservation): Outcome => ({
  state: 'spent',
  entry: sequence,
  resumable: resumable === true,
});

async function reserve(context: ReleaseContext, reservation: Reservation): Promise<SpendEntry> {
  const { ledger, outcomes } = context;
  const origin = now();
  return trackWrite(outcomes, async () => {
    try {
      const entry = await ledger.reserve(reservation);
      if (!entry.settled) outcomes?.note(spentOutcome(entry, reservation));
      return entry;
    } catch (error) {
      const outcome =
        error instanceof Fault ? outcomeOfFault(error, reservation) : await findReservation(context, reservation, origin);
      outcomes?.note(outcome);
      throw withOutcome(error, outcome);
    }
  });
}

/** The ledger knows whether it reserved; whether the entry may be resumed is known here. */
const outcomeOfFault = ({ outcome = notSpent }: Fault, { resumable = false }: Reservation): Outcome =>
  outcome.state === 'spent' ? { ...outcome, resumable: outcome.resumable && resumable } : outcome;

const trackWrite = <T>(outcomes: OutcomeLog | undefined, work: () => Promise<T>): Promise<T> =>
  outcomes ? outcomes.during(work) : work();

/** Wall-clock time, and monotonic time that nobody can set. */
const now = () => ({ wallClock: Date.now(), monotonic: performance.now() });
/** Tolerance, in milliseconds, for the date of an entry and for a changed clock. */
const clockTolerance = 1000;

/**
 * Ledger faults state whether they reserved; after any other error the ledger is searched. If the clock was changed
 * meanwhile, dates prove nothing: any unanswered entry of the request then counts as spent, which may overstate.
 */
async function findReservation(
  { ledger, outcomes }: ReleaseContext,
  reservation: Reservation,
  origin: ReturnType<typeof now>,
): Promise<Outcome> {
  const { population, key, analyst } = reservation;
  const entries = await ledger.entries(population).catch((error: unknown) => {
    outcomes?.doubt();
    throw error;
  });
  const { wallClock, monotonic } = now();
  const set = Math.abs(wallClock - origin.wallClock - (monotonic - origin.monotonic)) > clockTolerance;
  const since = set ? Number.NEGATIVE_INFINITY : origin.wallClock - clockTolerance;
  const own = entries.findLast((e) => e.key === key && e.analyst === analyst && !e.settled && e.at >= since);
  return own ? spentOutcome(own, reservation) : notSpent;
}

/**
 * Every failure after the reservation ends in the same fault. Its cause (a limit, an unreadable cell, a broken line) may depend
 * on the data, and the budget pays for the answer only. That it failed remains visible (docs/explanation/known-limits.md).
 */
async function paidFor<T>(spent: Outcome, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // For the owner of the process, who can read the data anyway.
    if (process.env.FUGU_DEBUG) console.error(error);
    throw new Fault(
      'ENGINE_FAILED',
      'The data was read, and there is no answer.',
      'The reason is not shown, because it may depend on the data. Make sure that nobody is writing to the data, that declared bounds (domain, maxSize) hold, and that memory, disk and deadline suffice.',
      { details: { ...('entry' in spent && { entry: spent.entry }) }, outcome: spent },
    );
  }
}

/** No space, no permission, no lock: the answer was paid for and is given out all the same. */
const unwritten: readonly FaultCode[] = ['DISK_FULL', 'DISK_FAILED', 'READ_ONLY', 'LEDGER_BUSY'];

/**
 * The recorded answer; undefined where recording failed and the answer is given out all the same. An entry that may be resumed
 * is answered only from the record: otherwise two answers with two noises could be had for one cost.
 */
async function record(context: ReleaseContext, entry: SpendEntry, text: string, spent: Outcome): Promise<string | undefined> {
  const { ledger, outcomes } = context;
  return trackWrite(outcomes, async () => {
    try {
      const recorded = await ledger.commit(entry, text);
      outcomes?.note({ state: 'recorded', entry: entry.sequence });
      return recorded;
    } catch (error) {
      if (!('resumable' in spent && spent.resumable) && error instanceof Fault && unwritten.includes(error.code))
        return undefined;
      const outcome = outcomeOfCommit(error, spent) ?? (await recordedMeanwhile(context, entry)) ?? spent;
      outcomes?.note(outcome);
      throw withOutcome(error, outcome);
    }
  });
}

/**
 * A ledger that failed to write an answer may know that it is recorded all the same,
 * or that the entry cannot be resumed any more.
 */
function outcomeOfCommit(error: unknown, spent: Outcome): Outcome | undefined {
  const reported = error instanceof Fault ? error.outcome : undefined;
  if (reported?.state === 'recorded') return reported;
  return reported?.state === 'spent' && spent.state === 'spent'
    ? { ...spent, resumable: spent.resumable && reported.resumable }
    : undefined;
}

/** Writing may fail after the answer was recorded. */
async function recordedMeanwhile(
  { ledger }: ReleaseContext,
  { population, key, sequence }: SpendEntry,
): Promise<Outcome | undefined> {
  const found = await ledger.replay(population, key).catch(() => undefined);
  return found?.entry.sequence === sequence ? { state: 'recorded', entry: sequence } : undefined;
}
