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

/** What every release needs, whatever is being asked. */
export interface Desk {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly account: Account;
  /** Asked before an account is opened under its population's name: would it be a second budget (policy/population.ts)? */
  readonly opening: (others: readonly string[]) => void;
  /** Asked then, too: has its data another account (data-claims.ts)? */
  readonly claims?: DataClaims;
  /** Who pays, as the operating system or the service knows them. */
  readonly analyst: string;
  /** What they call themselves. */
  readonly as?: string;
  /** A name for one asking: the same request under another name is another request, under the same name it is told from the record. */
  readonly once?: string;
  /** What is asked, in the words of whoever asks: kept with the answer, so that it can be told again by the number of its entry. No part of the request. */
  readonly asked?: AskedInWords;
  /** Tell what is on record, or nothing: never pays. */
  readonly recordedOnly?: true;
  /** Called with every recorded answer that is given, and with that none is there where nothing can be paid. */
  readonly replaying?: (found: OnRecord) => void;
  /** Told of everything that is booked. */
  readonly outcomes?: Outcomes;
  /** Asked before anything is booked, where somebody is there to be asked; throws where they do not agree. */
  readonly decide?: (plan: Plan) => Promise<void>;
  /** Told of what a database was asked, also where that failed. */
  readonly trail?: (trail: Trail) => void;
  /** The data whose ties the account's bounds were worked out for; absent when they rest on no data. */
  readonly tiesOf?: string;
}

export interface AskedInWords {
  readonly question: unknown;
  readonly epsilon?: string;
  readonly label?: string;
  readonly once?: string;
}

/** One thing to be paid for and then answered. `T` is plain data (it is recorded, and told again when the same is asked). */
export interface Request<T> {
  /** What is asked and with how much budget (release/session/request-key.ts): two requests with one key are the same request. */
  readonly key: string;
  /** Keys that version 0.2 may have recorded it under. */
  readonly former?: readonly string[];
  /** For the ledger's list; from the request's own text only. */
  readonly label: string;
  /** Everything that will be drawn: what is booked is their cost, and they draw for nobody else. */
  readonly mechanisms: readonly Mechanism[];
  /** As it was told; what has none is decided by whoever made the request. */
  readonly plan?: Plan;
  readonly reading: Reading;
  /** The request that paid for what is drawn, of which this is one part; `mechanisms` is empty then. */
  readonly prepaid?: Prepaid;
  /** What it takes for known to everybody, and so pays nothing for; in the words of release/session/relied.ts. */
  readonly relied?: readonly string[];
  /** Ask the data as it is now and pay, whatever is recorded. */
  readonly fresh?: boolean;
  /**
   * Present where the noise drawn cannot decide whether it fails, so that an entry nobody was answered for may be taken up again. `length`: what its text
   * is filled up to, as room on a disk depends on it.
   */
  readonly resumable?: { readonly length: number };
  /** Refuses, before anything is booked, where the public facts that the plan was made by have changed in the data that will be read. */
  readonly still?: (look: Look) => Promise<void>;
  /** Reads the data and adds the noise; runs only after the cost is durably booked. */
  readonly execute: (engine: Pinned, paid: Paid) => Promise<T>;
}

/** What a recorded request paid for and did not draw. Each part may be drawn once: that, and nothing else, is booked for it. */
export interface Prepaid {
  /** Of the request that paid. */
  readonly key: string;
  readonly mechanisms: readonly Mechanism[];
  readonly part: number;
}

export interface Charged<T> {
  readonly answer: T;
  readonly entry: Entry;
  readonly replayed: boolean;
  /** False when the answer was paid for but could not be written down: asked again, it is paid for again. */
  readonly recorded: boolean;
}

/** Whether what was just told can be told again. */
export const outcomeOf = ({ entry, recorded }: Pick<Charged<unknown>, 'entry' | 'recorded'>): Outcome =>
  recorded ? { state: 'recorded', entry: entry.sequence } : { state: 'spent', entry: entry.sequence, resumable: false };

/**
 * The one way to the data: tell the recorded answer if this was asked before, else book durably, then read, then record, then tell. Which of these happens, and
 * how it ends, depends on the ledger and on public structure only, never on the rows (charge.proof.md, docs/decisions/0008, 0013).
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

/** What there is to book for. The data is held from here to the answer: what is counted is what the ties were read from. */
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
  // What will be refused, or was paid for already, is nobody's decision any more.
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

/** Parts of one payment are no parts of another. */
const partKey = (key: string, { sequence, hash }: Entry): string =>
  createHash('sha256')
    .update(JSON.stringify([key, sequence, hash]))
    .digest('hex');

/** The entry that paid, and that it paid for these very mechanisms under the present ties. */
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
    // Somebody else completed it, perhaps with data from before this was asked.
    desk.outcomes?.forget(entry.sequence);
    return pay(desk, request, reservation, data);
  }
  const answer = await sayingOutcome({ state: 'recorded', entry: entry.sequence }, () => JSON.parse(recorded) as T);
  return { answer, entry, replayed: false, recorded: true };
}

/** Longer words are not kept. */
const mostWords = 65_536;

/** The words take the same room whatever the answer is: the length that it is filled up to grows by theirs. */
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

/** Somebody who asked the same was answered between looking into the record and booking. */
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

/** A ledger knows whether it booked; whether that may be taken up again is known here. */
const bookedBy = ({ outcome = notSpent }: Fault, { resumable = false }: Reservation): Outcome =>
  outcome.state === 'spent' ? { ...outcome, resumable: outcome.resumable && resumable } : outcome;

const writing = <T>(outcomes: Outcomes | undefined, work: () => Promise<T>): Promise<T> =>
  outcomes ? outcomes.during(work) : work();

/** What time it is, and by a clock that nobody sets. */
const now = () => ({ told: Date.now(), measured: performance.now() });
/** An entry may be dated so much before it was asked for, and a clock be set by so little. */
const unsure = 1000;

/** Faults of a ledger say whether they booked; anything else has to be looked up. Where the clock was set meanwhile the date of an entry says nothing: told as spent, which may overstate. */
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
 * Whatever goes wrong once the budget is booked ends in one and the same fault. Which limit was hit first, which cell could not be read, which line the file
 * broke at: all of that may depend on the data, and the budget pays for the answer only. That it failed at all remains visible (docs/known-limits.md).
 */
async function paidFor<T>(spent: Outcome, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // For whoever runs the process and can read the data anyway.
    if (process.env.FUGU_DEBUG) console.error(error);
    throw new Fault(
      'ENGINE_FAILED',
      'The data was asked, and there is no answer.',
      'Why is not told, because it may depend on the data. Make sure that nobody is writing to the data, that declared bounds (domain, maxSize) hold, and that memory, disk and deadline suffice.',
      { details: { ...('entry' in spent && { entry: spent.entry }) }, outcome: spent },
    );
  }
}

/** No room, no right, no turn: the answer was paid for and stands all the same. */
const unwritten: readonly FaultCode[] = ['DISK_FULL', 'DISK_FAILED', 'READ_ONLY', 'LEDGER_BUSY'];

/**
 * What the ledger holds as the answer now; undefined where it could not be written down and is told all the same. What may be taken up again is told only
 * from the record: otherwise it could be told twice, with two noises, for the price of one.
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

/** A ledger that failed at writing an answer may know that it is there all the same, or that the entry cannot be taken up any more. */
function settledBy(error: unknown, spent: Outcome): Outcome | undefined {
  const said = error instanceof Fault ? error.outcome : undefined;
  if (said?.state === 'recorded') return said;
  return said?.state === 'spent' && spent.state === 'spent'
    ? { ...spent, resumable: spent.resumable && said.resumable }
    : undefined;
}

/** Writing may fail after all was written. */
async function recordSeen({ ledger }: Desk, { population, key, sequence }: Entry): Promise<Outcome | undefined> {
  const found = await ledger.replay(population, key).catch(() => undefined);
  return found?.entry.sequence === sequence ? { state: 'recorded', entry: sequence } : undefined;
}
