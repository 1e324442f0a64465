import { type Account, admission } from '../calibration/account.js';
import type { Reading } from '../calibration/reading.js';
import type { Profile } from '../dependence/profile.js';
import type { Engine } from '../engine/engine.js';
import { Fault, type FaultCode } from '../errors.js';
import type { Entry, Ledger } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy.js';
import { openingOf } from '../policy/population.js';
import { presentAccount } from './present-account.js';
import { requestKey } from './request-key.js';

/** What every release needs, whatever is being asked. */
export interface Desk {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly account: Account;
  readonly analyst: string;
  /** The data whose ties the account's bounds were worked out for; absent when they rest on no data. */
  readonly tiesOf?: string;
}

/** One thing to be paid for and then answered. `T` is plain data (it is recorded, and told again when the same is asked). */
export interface Request<T> {
  /** Canonical text of what is asked and with how much budget; two requests with one text are the same request. */
  readonly canonical: string;
  /** For the ledger's list; from the request's own text only. */
  readonly label: string;
  readonly profile: Profile;
  readonly reading: Reading;
  /** What it takes for known to everybody, and so pays nothing for; in the words of release/relied.ts. */
  readonly relied?: readonly string[];
  /** Ask the data as it is now and pay, whatever is recorded. */
  readonly fresh?: boolean;
  /** Reads the data and adds the noise; runs only after the profile is durably booked. */
  readonly execute: (engine: Engine) => Promise<T>;
}

export interface Charged<T> {
  readonly answer: T;
  readonly entry: Entry;
  readonly replayed: boolean;
  /** False when the answer was paid for but could not be written down: asked again, it is paid for again. */
  readonly recorded: boolean;
}

/**
 * The one way to the data: tell the recorded answer if this was asked before, else book durably, then read, then record. Which of these happens, and how it
 * ends, depends on the ledger and on public structure only, never on the rows (charge.proof.md, docs/decisions/0008).
 */
export async function charge<T>(desk: Desk, request: Request<T>): Promise<Charged<T>> {
  const { policy, engine, ledger } = desk;
  const key = await requestKey(policy, request.canonical);
  const before = request.fresh ? undefined : await ledger.replay(policy.population, key);
  if (before) return { answer: JSON.parse(before.answer) as T, entry: before.entry, replayed: true, recorded: true };
  const account = await presentAccount(desk);
  const entry = await ledger.reserve({
    population: policy.population,
    terms: account.terms,
    analyst: desk.analyst,
    key,
    label: request.label,
    profile: account.book(request.profile, request.reading),
    relied: request.relied ?? [],
    admit: admission(account),
    opening: await openingOf(policy),
  });
  const { answer, text } = await paidFor(entry, async () => {
    const made = await request.execute(engine);
    // Another session on the same engine may have had newer data read meanwhile: what was answered must be bounded by its ties, too.
    if (desk.tiesOf !== undefined) await presentAccount(desk);
    return { answer: made, text: JSON.stringify(made) };
  });
  return { answer, entry, replayed: false, recorded: await record(ledger, entry, text) };
}

/**
 * Whatever goes wrong once the budget is booked ends in one and the same fault. Which limit was hit first, which cell could not be read, which line the file
 * broke at: all of that may depend on the data, and the budget pays for the answer only. That it failed at all remains visible (docs/known-limits.md).
 */
async function paidFor<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // For whoever runs the process and can read the data anyway.
    if (process.env.FUGU_DEBUG) console.error(error);
    throw new Fault(
      'ENGINE_FAILED',
      `There is no answer, and its budget stays spent (ledger entry ${entry.sequence}).`,
      'Why is not told, because it may depend on the data. Make sure that nobody is writing to the data, that declared bounds (domain, maxSize) hold, and that memory, disk and deadline suffice.',
      { details: { entry: entry.sequence } },
    );
  }
}

/** No room, no right, no turn: the answer was paid for and stands all the same. */
const unwritten: readonly FaultCode[] = ['DISK_FULL', 'READ_ONLY', 'LEDGER_BUSY'];

async function record(ledger: Ledger, entry: Entry, text: string): Promise<boolean> {
  try {
    await ledger.settle(entry, text);
    return true;
  } catch (error) {
    if (error instanceof Fault && unwritten.includes(error.code)) return false;
    throw error;
  }
}
