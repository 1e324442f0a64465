import { Fault } from '../../base/errors.js';
import type { StoredCost } from '../../privacy/mechanism/privacy-cost.js';
import type { AnswerTable } from '../../query/bound.js';
import type { SpendEntry } from '../../release/ledger/ledger.js';
import type { Plan } from '../../release/session/plan.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { RequestWording } from '../../release/session/release-context.js';
import type { PrivacySession } from '../../release/session/session.js';
import { parseQuestion } from './question.js';

/** Paid answer, as recorded in the ledger. */
export interface RecordedAnswer {
  readonly receipt: Receipt;
  readonly tables?: readonly AnswerTable[];
  readonly result?: unknown;
}

/** Recorded content of a release. */
interface RecordedText {
  readonly plan?: Plan;
  readonly profile?: StoredCost;
  readonly at?: string;
  readonly asked?: RequestWording;
}

/** Entry by its number; undefined where this population has none. */
export const entryNumbered = async (session: PrivacySession, sequence: number): Promise<SpendEntry | undefined> =>
  (await session.entry(sequence))?.entry;

/** Receipt of an entry, by its number. Nothing is spent and no data is read. */
export async function recordedReceipt(session: PrivacySession, sequence: number): Promise<Receipt> {
  const { kept: recorded, entry } = await recordedEntry(session, sequence);
  const { plan, profile, at } = recorded;
  if (plan?.guarantee && profile)
    return session.receipt({
      plan,
      profile,
      entry,
      replayed: true,
      recorded: true,
      ...(at !== undefined && { at }),
    });
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `Entry ${sequence} has no receipt of its own.`,
    'It is a note, or one part of a stream: the receipt is that of the entry that paid for it.',
  );
}

/** Receipt and answer: the question is repeated with recorded answers only, so nothing can be paid. */
export async function recordedAnswer(session: PrivacySession, sequence: number, tidy = false): Promise<RecordedAnswer> {
  const { kept: recorded, entry } = await recordedEntry(session, sequence);
  if (!recorded.asked)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The question of entry ${sequence} was not kept beside its answer.`,
      'Ask the same again: it is answered from the record, and nothing is spent.',
    );
  const { question, epsilon, label, once } = recorded.asked;
  const { kind, request } = await parseQuestion(question);
  const reader = session.forPayer({ analyst: entry.analyst, recordedOnly: true, ...(once !== undefined && { once }) });
  const answer = await kind.release(reader, request, {
    ...(epsilon !== undefined && { epsilon }),
    ...(label !== undefined && { label }),
    ...(tidy && { tidy }),
  });
  const { entry: found } = answer.receipt.ledger;
  if (found === sequence) return answer;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `The same request was answered anew since: its latest answer is that of entry ${found}.`,
    'Only the latest answer to a request is shown again.',
    { details: { entry: found } },
  );
}

async function recordedEntry(
  session: PrivacySession,
  sequence: number,
): Promise<{ readonly kept: RecordedText; readonly entry: SpendEntry }> {
  const found = await session.entry(sequence);
  if (found?.answer === undefined)
    throw new Fault(
      'DATA_NOT_FOUND',
      `No answer is recorded for entry ${sequence}.`,
      'It was paid for and never answered, or entered by hand. The same request completes it.',
    );
  return { kept: JSON.parse(found.answer) as RecordedText, entry: found.entry };
}
