import { Fault } from '../errors.js';
import type { Entry } from '../ledger/ledger.js';
import type { StoredProfile } from '../mechanism/profile.js';
import type { AnswerTable } from '../query/bound.js';
import { batchFromRecord, type RecordedBatch } from '../release/batch.js';
import type { Plan } from '../release/plan.js';
import { type Receipt, receiptOf } from '../release/receipt.js';
import { deskOf, type Session } from '../release/session.js';

/** An answer that was paid for, as the ledger has it. */
export interface RecordedAnswer {
  readonly receipt: Receipt;
  readonly tables?: readonly AnswerTable[];
  readonly result?: unknown;
}

/** What every record of a release holds. */
interface Kept {
  readonly plan?: Plan;
  readonly profile?: StoredProfile;
  readonly at?: string;
}

/** An entry by its number; undefined where this population has none. */
export const entryNumbered = async (session: Session, sequence: number): Promise<Entry | undefined> =>
  (await deskOf(session).ledger.entry(session.policy.population, sequence))?.entry;

/** The proof of what was promised, by the number of its entry. Nothing is spent and no data is read. */
export async function recordedReceipt(session: Session, sequence: number): Promise<Receipt> {
  const { kept, entry } = await keptOf(session, sequence);
  return receiptFrom(session, kept, entry);
}

/** The same with the answer itself. */
export async function recordedAnswer(session: Session, sequence: number, tidied = false): Promise<RecordedAnswer> {
  const { kept, entry } = await keptOf(session, sequence);
  const receipt = receiptFrom(session, kept, entry);
  if ('result' in kept) return { result: kept.result, receipt };
  const paid = { entry, replayed: true, recorded: true };
  const told = 'noisy' in kept ? batchFromRecord(session.policy, kept as RecordedBatch, paid, tidied) : undefined;
  if (told) return told;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `Entry ${sequence} is part of a stream, or was recorded before questions were kept beside their answers.`,
    'Ask the same again: the recorded answer is told and nothing is spent.',
  );
}

async function keptOf(session: Session, sequence: number): Promise<{ readonly kept: Kept; readonly entry: Entry }> {
  const found = await deskOf(session).ledger.entry(session.policy.population, sequence);
  if (found?.answer === undefined)
    throw new Fault(
      'DATA_NOT_FOUND',
      `No answer is recorded for entry ${sequence}.`,
      'It was booked and never answered, or entered by hand. The same request completes it.',
    );
  return { kept: JSON.parse(found.answer) as Kept, entry: found.entry };
}

function receiptFrom({ policy }: Session, { plan, profile, at }: Kept, entry: Entry): Receipt {
  if (plan?.guarantee && profile)
    return receiptOf({ policy, plan, profile, entry, replayed: true, recorded: true, ...(at !== undefined && { at }) });
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `Entry ${entry.sequence} has no receipt of its own.`,
    'It is a note, or one part of a stream: the receipt is that of the entry that paid for it.',
  );
}
