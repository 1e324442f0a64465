import { changedFault, Fault, type Outcome } from '../../base/errors.js';
import type { QueryLog } from './query-log.js';
import type { ChargeResult } from './release-context.js';

/** Texts for the outcome of a charge; no other module writes them. */
export function outcomeSentence(outcome: Outcome): string {
  if (outcome.state === 'not spent') return 'Nothing was spent.';
  const entry = `ledger entry ${outcome.entry}`;
  if (outcome.state === 'recorded')
    return `Spent and recorded: ${entry}. Ask the same again (without --fresh): it is answered from the record, and nothing more is spent.`;
  return outcome.resumable
    ? `Spent without an answer: ${entry}. Ask the same again: it is completed without paying again.`
    : `Spent without an answer: ${entry}. The same question would be paid for again.`;
}

export const notSpent: Outcome = { state: 'not spent' };

/** Outcome of a charge: whether its answer can be given out again. */
export const outcomeOf = ({ entry, recorded }: Pick<ChargeResult<unknown>, 'entry' | 'recorded'>): Outcome =>
  recorded ? { state: 'recorded', entry: entry.sequence } : { state: 'spent', entry: entry.sequence, resumable: false };

/** Anything thrown, as the fault that users see. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  // For the owner of the process, who can read the data anyway.
  if (process.env.FUGU_DEBUG) console.error(error);
  return new Fault('INTERNAL', 'Something went wrong inside Fugu.', 'Run again with FUGU_DEBUG=1 and report what it prints.');
}

/** The same fault, saying what became of the budget. */
export function withOutcome(error: unknown, outcome: Outcome): Fault {
  return changedFault(asFault(error), { outcome });
}

/** Attaches this outcome to whatever is thrown inside, unless it has one already. */
export async function attachOutcome<T>(outcome: Outcome, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Fault && error.outcome ? error : withOutcome(error, outcome);
  }
}

type SpentOutcome = Exclude<Outcome, { state: 'not spent' }>;

/** Outcomes of a process so far, for its exit: it may pay several times, be stopped, or fail elsewhere. */
export class OutcomeLog {
  readonly #entries = new Map<number, SpentOutcome>();
  readonly #writing = new Set<Promise<unknown>>();
  #arose = false;
  #doubtful = false;
  /** Receives the queries sent to a database, where there is a listener. */
  follow?: (log: QueryLog) => void;

  /** From here on something may have been spent. */
  arise(): void {
    this.#arose = true;
  }
  note(outcome: Outcome): void {
    this.#arose = true;
    if (outcome.state !== 'not spent') this.#entries.set(outcome.entry, outcome);
  }
  /** Drops an entry that another process completed. */
  forget(entry: number): void {
    this.#entries.delete(entry);
  }
  /** A reservation failed without stating whether it is in the ledger, and the ledger could not be read. */
  doubt(): void {
    this.#doubtful = true;
  }

  /** A ledger write: until it ends, what became of the budget is open. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#arose = true;
    const writing = work();
    this.#writing.add(writing);
    try {
      return await writing;
    } finally {
      this.#writing.delete(writing);
    }
  }
  async written(): Promise<void> {
    await Promise.allSettled([...this.#writing]);
  }
  get isOpen(): boolean {
    return this.#doubtful || this.#writing.size > 0;
  }

  get entries(): readonly SpentOutcome[] {
    return [...this.#entries.values()];
  }
  /** The latest entry without an answer, else the latest; undefined where nothing could be spent, or it is unknown. */
  get whole(): Outcome | undefined {
    const { entries } = this;
    const unanswered = entries.findLast(({ state }) => state === 'spent');
    return unanswered ?? entries.at(-1) ?? (this.#arose && !this.isOpen ? notSpent : undefined);
  }
}
