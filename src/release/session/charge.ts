import { Fault, type Outcome } from '../../base/errors.js';
import { sha256 } from '../../base/platform/hash.js';
import type { Snapshot } from '../../data/engine/engine.js';
import { namesBefore } from '../../data/ties/slicings.js';
import { totalCostOf } from '../../privacy/mechanism/mechanism.js';
import { Payment } from '../../privacy/mechanism/payment.js';
import { oneTimeCost } from '../../privacy/mechanism/privacy-cost.js';
import { admission } from '../accountant/admission.js';
import { withOthers } from '../accountant/others.js';
import { withoutSource } from '../accountant/sources.js';
import type { Reservation, SpendEntry } from '../ledger/ledger.js';
import { openingFor } from './data-claims.js';
import { keyOnRecord, refuseUnrecorded, sameCost } from './on-record.js';
import { attachOutcome, notSpent } from './outcome.js';
import type { Plan } from './plan.js';
import { type PresentData, presentAccount } from './present-account.js';
import { factsByRow, reliedByTies } from './public-facts.js';
import { publicReader } from './public-read.js';
import { quotaFor } from './quota.js';
import type { ChargeResult, Prepaid, ReleaseContext, ReleaseRequest, RequestWording } from './release-context.js';
import { recordAnswer, reserveEntry, spentOutcome } from './write-entry.js';

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
  const entry = await reserveEntry(context, reservation);
  if (entry.settled) return attachOutcome(notSpent, () => answeredMeanwhile<T>(context, entry));
  const spent = spentOutcome(entry, reservation);
  const made = await paidFor(spent, async () => {
    const answer = await request.execute(data, new Payment(request.prepaid?.mechanisms ?? request.mechanisms));
    return { answer, text: recordText(answer, context.wording, request.resumable?.length ?? 0) };
  }).finally(() => logQueries(context, entry, data));
  const recorded = await recordAnswer(context, entry, made.text, spent);
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
