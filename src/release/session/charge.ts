import { createHash } from 'node:crypto';
import { Fault, type FaultCode, type Outcome } from '../../base/errors.js';
import type { Engine, Pinned } from '../../data/engine/engine.js';
import { namesBefore } from '../../data/ties/slicings.js';
import type { Policy } from '../../policy/policy.js';
import { costTogether, type Mechanism } from '../../privacy/mechanism/mechanism.js';
import { Paid } from '../../privacy/mechanism/paid.js';
import { onceOnly } from '../../privacy/mechanism/profile.js';
import { type Account, admission } from '../accountant/account.js';
import { withOthers } from '../accountant/others.js';
import type { Reading } from '../accountant/reading.js';
import { withoutSource } from '../accountant/sources.js';
import type { Entry, Ledger, Reservation } from '../ledger/ledger.js';
import { type DataClaims, openingFor } from './data-claims.js';
import { keyOnRecord } from './key-on-record.js';
import { notSpent, type Outcomes, sayingOutcome, withOutcome } from './outcome.js';
import type { Plan } from './plan.js';
import { type Present, presentAccount } from './present-account.js';
import { type Look, lookAt } from './public-read.js';
import { quotaFor } from './quota.js';
import { reliedByRow, reliedByTies } from './relied.js';
import { notOnRecord, type OnRecord } from './replayed.js';
import { sameProfile } from './same-profile.js';
import type { Trail } from './trail.js';

/** Context of every release, whatever the request. */
export interface Desk {
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
  readonly asked?: AskedInWords;
  /** Return the recorded answer or nothing: never pays. */
  readonly recordedOnly?: true;
  /** Called with every recorded answer that is given, and with its absence where nothing can be paid. */
  readonly replaying?: (found: OnRecord) => void;
  /** Receives the outcome of every reservation. */
  readonly outcomes?: Outcomes;
  /** Called before anything is reserved, where somebody can confirm; throws where they do not agree. */
  readonly decide?: (plan: Plan) => Promise<void>;
  /** Receives the queries sent to a database, also after a failure. */
  readonly trail?: (trail: Trail) => void;
  /** Content of the data whose ties the account's bounds were computed for; absent when they depend on no data. */
  readonly tiesOf?: string;
}

export interface AskedInWords {
  readonly question: unknown;
  readonly epsilon?: string;
  readonly label?: string;
  readonly once?: string;
}

/** One request, to be paid for and then answered. `T` is plain data, as it is recorded and given out again. */
export interface Request<T> {
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
  readonly reading: Reading;
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
  readonly still?: (look: Look) => Promise<void>;
  /** Reads the data and adds the noise; runs only after the cost is durably reserved. */
  readonly execute: (engine: Pinned, paid: Paid) => Promise<T>;
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

export interface Charged<T> {
  readonly answer: T;
  readonly entry: Entry;
  readonly replayed: boolean;
  /** False when the answer was paid for but could not be recorded: the same request then pays again. */
  readonly recorded: boolean;
}

/** Outcome of a charge: whether its answer can be given out again. */
export const outcomeOf = ({ entry, recorded }: Pick<Charged<unknown>, 'entry' | 'recorded'>): Outcome =>
  recorded ? { state: 'recorded', entry: entry.sequence } : { state: 'spent', entry: entry.sequence, resumable: false };

/**
 * The only way to the data: return the recorded answer, or reserve durably, read, record, then return.
 * The path and its outcome depend on the ledger and public structure only, never on rows (charge.proof.md, docs/decisions/0008, 0013).
 */
export async function charge<T>(desk: Desk, request: Request<T>): Promise<Charged<T>> {
  const ready = await sayingOutcome(notSpent, () => prepare<T>(desk, request));
  if ('answer' in ready) return ready;
  try {
    const reservation = await sayingOutcome(notSpent, async () => ({
      ...reservationOf(desk, request, ready),
      ...(await openingFor(desk)),
    }));
    const paid = await pay(desk, request, reservation, ready.present.data);
    await desk.claims?.remember();
    return paid;
  } finally {
    await ready.present.data.close();
  }
}

/** Prepared charge. The data is held open from here to the answer: ties and counts come from the same content. */
interface Ready {
  readonly present: Present;
  readonly key: string;
  readonly payer?: Entry;
}

async function prepare<T>(desk: Desk, request: Request<T>): Promise<Ready | Charged<T>> {
  const { policy, ledger } = desk;
  const payer = request.prepaid && (await payerOf(desk, request, request.prepaid));
  const keyed = (key: string) => (payer ? partKey(key, payer) : key);
  const key = await keyOnRecord(desk, { key: keyed(request.key), former: (request.former ?? []).map(keyed) }, request.fresh);
  const before = request.fresh ? undefined : await ledger.replay(policy.population, key);
  if (before) return fromRecord(before);
  if (desk.recordedOnly) refuseUnrecorded(desk);
  // A request that will be refused, or was paid for already, needs no confirmation.
  const isOpen = ({ fits, refusal, completes }: Plan) => fits && refusal === undefined && completes === undefined;
  if (request.plan && isOpen(request.plan)) await desk.decide?.(request.plan);
  const present = await presentAccount(desk);
  try {
    await request.still?.(lookAt(policy, present.data));
  } catch (error) {
    await present.data.close();
    throw error;
  }
  return { present, key, ...(payer && { payer }) };
}

function reservationOf<T>(desk: Desk, request: Request<T>, { present: { account }, key, payer }: Ready): Reservation {
  const { policy, as } = desk;
  const cost = costTogether(request.mechanisms);
  const profile = payer
    ? onceOnly(`part ${request.prepaid!.part} of entry ${payer.sequence}`)
    : account.book(cost, request.reading);
  return {
    population: policy.population,
    terms: account.terms,
    analyst: desk.analyst,
    ...(as !== undefined && { as }),
    key,
    label: request.label,
    profile,
    relied: [...new Set([...(request.relied ?? reliedByRow(policy, cost)), ...reliedByTies(policy, account)])],
    ...(request.resumable && { resumable: true }),
    ...(!request.fresh && { unlessRecorded: true }),
    admit: (after, before, own) =>
      admission(account, profile, quotaFor(desk))(withOthers(account, after), withOthers(account, before), own),
  };
}

/** Makes keys of parts distinct between payments. */
const partKey = (key: string, { sequence, hash }: Entry): string =>
  createHash('sha256')
    .update(JSON.stringify([key, sequence, hash]))
    .digest('hex');

/** The entry that paid, checked to have paid for these mechanisms under the present ties. */
async function payerOf(desk: Desk, request: Request<unknown>, prepaid: Prepaid): Promise<Entry> {
  const { policy, ledger } = desk;
  const { population } = policy;
  if (request.fresh || request.mechanisms.length > 0)
    throw new RangeError('a part of what was paid for is drawn once, and pays nothing');
  const paid = await ledger.replay(population, prepaid.key);
  const { account, data } = await presentAccount(desk);
  await data.close();
  const booked = account.book(costTogether(prepaid.mechanisms), request.reading);
  // The key names the data, so a payment of version 0.2 was for this data.
  const before = withoutSource(booked, namesBefore(policy));
  if (paid && [booked, before].some((profile) => sameProfile(paid.entry.profile, profile))) return paid.entry;
  throw new Fault(
    'LEDGER_MISMATCH',
    'What was paid for in advance is not what would be drawn now: the terms, the ties or the program have changed since.',
    'Pay for it again with --fresh.',
  );
}

const fromRecord = <T>({ entry, answer }: { readonly entry: Entry; readonly answer: string }): Charged<T> => ({
  answer: JSON.parse(answer) as T,
  entry,
  replayed: true,
  recorded: true,
});

async function pay<T>(desk: Desk, request: Request<T>, reservation: Reservation, data: Pinned): Promise<Charged<T>> {
  const entry = await reserve(desk, reservation);
  if (entry.settled) return sayingOutcome(notSpent, () => meanwhile<T>(desk, entry));
  const spent = spentOn(entry, reservation);
  const made = await paidFor(spent, async () => {
    const answer = await request.execute(data, new Paid(request.prepaid?.mechanisms ?? request.mechanisms));
    return { answer, text: recordText(answer, desk.asked, request.resumable?.length ?? 0) };
  }).finally(() => leaveTrail(desk, entry, data));
  const recorded = await record(desk, entry, made.text, spent);
  if (recorded === undefined || recorded === made.text)
    return { answer: made.answer, entry, replayed: false, recorded: recorded !== undefined };
  if (request.fresh && entry.resumed) {
    // Another process completed it, perhaps with data from before this request.
    desk.outcomes?.forget(entry.sequence);
    return pay(desk, request, reservation, data);
  }
  const answer = await sayingOutcome({ state: 'recorded', entry: entry.sequence }, () => JSON.parse(recorded) as T);
  return { answer, entry, replayed: false, recorded: true };
}

/** Longer texts are not kept. */
const mostWords = 65_536;

/** The request's text takes the same space whatever the answer is: the padded length grows by it. */
function recordText(answer: unknown, asked: AskedInWords | undefined, length: number): string {
  const text = JSON.stringify(answer);
  const words = asked === undefined ? '' : JSON.stringify(asked);
  if (words === '' || words.length > mostWords || !text.startsWith('{"')) return text.padEnd(length);
  return `${text.slice(0, -1)},"asked":${words}}`.padEnd(length + words.length + ',"asked":'.length);
}

/** Ends a request of whoever can pay for nothing. */
export function refuseUnrecorded({ replaying }: Desk): never {
  replaying?.(notOnRecord);
  throw new Fault('DATA_NOT_FOUND', 'This answer is not on record any more under these terms.', 'Ask for it: that pays.', {
    outcome: notSpent,
  });
}

function leaveTrail({ trail, outcomes }: Desk, { sequence, analyst, label }: Entry, { queries = [] }: Pinned): void {
  const left = { entry: sequence, analyst, label, queries };
  outcomes?.follow?.(left);
  trail?.(left);
}

/** Somebody else's identical request was answered between the lookup and the reservation. */
async function meanwhile<T>({ ledger }: Desk, { population, key }: Entry): Promise<Charged<T>> {
  const found = await ledger.replay(population, key);
  if (!found) throw new Fault('LEDGER_CORRUPT', 'A recorded answer is gone.', 'Run "fugu ledger POLICY verify".');
  return fromRecord(found);
}

const spentOn = ({ sequence }: Entry, { resumable }: Reservation): Outcome => ({
  state: 'spent',
  entry: sequence,
  resumable: resumable === true,
});

async function reserve(desk: Desk, reservation: Reservation): Promise<Entry> {
  const { ledger, outcomes } = desk;
  const asked = now();
  return writing(outcomes, async () => {
    try {
      const entry = await ledger.reserve(reservation);
      if (!entry.settled) outcomes?.note(spentOn(entry, reservation));
      return entry;
    } catch (error) {
      const outcome = error instanceof Fault ? bookedBy(error, reservation) : await seenInLedger(desk, reservation, asked);
      outcomes?.note(outcome);
      throw withOutcome(error, outcome);
    }
  });
}

/** The ledger knows whether it reserved; whether the entry may be resumed is known here. */
const bookedBy = ({ outcome = notSpent }: Fault, { resumable = false }: Reservation): Outcome =>
  outcome.state === 'spent' ? { ...outcome, resumable: outcome.resumable && resumable } : outcome;

const writing = <T>(outcomes: Outcomes | undefined, work: () => Promise<T>): Promise<T> =>
  outcomes ? outcomes.during(work) : work();

/** Wall-clock time, and monotonic time that nobody can set. */
const now = () => ({ told: Date.now(), measured: performance.now() });
/** Tolerance, in milliseconds, for the date of an entry and for a changed clock. */
const unsure = 1000;

/**
 * Ledger faults state whether they reserved; after any other error the ledger is searched. If the clock was changed
 * meanwhile, dates prove nothing: any unanswered entry of the request then counts as spent, which may overstate.
 */
async function seenInLedger(
  { ledger, outcomes }: Desk,
  reservation: Reservation,
  asked: ReturnType<typeof now>,
): Promise<Outcome> {
  const { population, key, analyst } = reservation;
  const entries = await ledger.entries(population).catch((error: unknown) => {
    outcomes?.doubt();
    throw error;
  });
  const { told, measured } = now();
  const set = Math.abs(told - asked.told - (measured - asked.measured)) > unsure;
  const since = set ? Number.NEGATIVE_INFINITY : asked.told - unsure;
  const own = entries.findLast((e) => e.key === key && e.analyst === analyst && !e.settled && e.at >= since);
  return own ? spentOn(own, reservation) : notSpent;
}

/**
 * Every failure after the reservation ends in the same fault. Its cause (a limit, an unreadable cell, a broken line) may depend
 * on the data, and the budget pays for the answer only. That it failed remains visible (docs/known-limits.md).
 */
async function paidFor<T>(spent: Outcome, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // For the owner of the process, who can read the data anyway.
    if (process.env.FUGU_DEBUG) console.error(error);
    throw new Fault(
      'ENGINE_FAILED',
      'The data was asked, and there is no answer.',
      'Why is not told, because it may depend on the data. Make sure that nobody is writing to the data, that declared bounds (domain, maxSize) hold, and that memory, disk and deadline suffice.',
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
async function record(desk: Desk, entry: Entry, text: string, spent: Outcome): Promise<string | undefined> {
  const { ledger, outcomes } = desk;
  return writing(outcomes, async () => {
    try {
      const recorded = await ledger.settle(entry, text);
      outcomes?.note({ state: 'recorded', entry: entry.sequence });
      return recorded;
    } catch (error) {
      if (!('resumable' in spent && spent.resumable) && error instanceof Fault && unwritten.includes(error.code))
        return undefined;
      const outcome = settledBy(error, spent) ?? (await recordSeen(desk, entry)) ?? spent;
      outcomes?.note(outcome);
      throw withOutcome(error, outcome);
    }
  });
}

/**
 * A ledger that failed to write an answer may know that it is recorded all the same,
 * or that the entry cannot be resumed any more.
 */
function settledBy(error: unknown, spent: Outcome): Outcome | undefined {
  const said = error instanceof Fault ? error.outcome : undefined;
  if (said?.state === 'recorded') return said;
  return said?.state === 'spent' && spent.state === 'spent'
    ? { ...spent, resumable: spent.resumable && said.resumable }
    : undefined;
}

/** Writing may fail after the answer was recorded. */
async function recordSeen({ ledger }: Desk, { population, key, sequence }: Entry): Promise<Outcome | undefined> {
  const found = await ledger.replay(population, key).catch(() => undefined);
  return found?.entry.sequence === sequence ? { state: 'recorded', entry: sequence } : undefined;
}
