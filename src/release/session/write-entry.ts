import { Fault, type FaultCode, type Outcome } from '../../base/errors.js';
import type { Reservation, SpendEntry } from '../ledger/ledger.js';
import { notSpent, type OutcomeLog, withOutcome } from './outcome.js';
import type { ReleaseContext } from './release-context.js';

export const spentOutcome = ({ sequence }: SpendEntry, { resumable }: Reservation): Outcome => ({
  state: 'spent',
  entry: sequence,
  resumable: resumable === true,
});

export async function reserveEntry(context: ReleaseContext, reservation: Reservation): Promise<SpendEntry> {
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

/** No space, no permission, no lock: the answer was paid for and is given out all the same. */
const unwritten: readonly FaultCode[] = ['DISK_FULL', 'DISK_FAILED', 'READ_ONLY', 'LEDGER_BUSY'];

/**
 * The recorded answer; undefined where recording failed and the answer is given out all the same. An entry that may be resumed
 * is answered only from the record: otherwise two answers with two noises could be had for one cost.
 */
export async function recordAnswer(
  context: ReleaseContext,
  entry: SpendEntry,
  text: string,
  spent: Outcome,
): Promise<string | undefined> {
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

/** A failed ledger may know that the answer is recorded all the same, or that the entry cannot be resumed any more. */
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
