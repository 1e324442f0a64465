import { Fault } from '../../base/errors.js';
import { fromStored, nothingSpent, type SpentCosts, toStored } from '../../privacy/mechanism/privacy-cost.js';
import { answerHash, BrokenChain, type ChainEnd, type SpendLink } from './chain/chain.js';
import { changedTerms } from './changed-terms.js';
import { corrupt, withFinalOutcome } from './faults.js';
import { type AccountState, type Books, resumeKey } from './index/accounts.js';
import { linkIn } from './index/row.js';
import type { IndexedSpend } from './index/tables.js';
import { addToTotal, costFromStored, spentFromText } from './index/total.js';
import type { AccountTerms, Ledger, LedgerAccount, Reservation, SpendEntry } from './ledger.js';
import { addLink, type ChainAppend, type ChainState, type LedgerStorage } from './ledger-storage.js';

export function ledgerOn(store: LedgerStorage): Ledger {
  const read: LedgerStorage['read'] = (work) => store.read(work);
  const { place, index } = store;
  return {
    reserve: (requested) => reserve(store, requested),
    commit: (entry, answer) => commit(store, entry, answer),
    replay: (population, key) => read((_books, end) => recordedFor(store, end, validText(population), key)),
    unanswered: (population, key) => read((books) => unansweredOf(store, books.account(validText(population)), key)),
    spent: (population, analyst) =>
      read((books) => {
        if (analyst !== undefined) return spentFromText(books.share(validText(population), validText(analyst)));
        return spentBy(books.account(validText(population)));
      }),
    spentUnder: (requested) =>
      read((books) => spentBy(accountUnder(place, books, { ...requested, population: validText(requested.population) }))),
    account: (population) =>
      read((books): LedgerAccount | undefined => {
        const known = books.account(validText(population));
        return known && accountOf(population, known);
      }),
    entries: (population) => read((books) => entriesOf(store, books, validText(population))),
    page: (population, page) => read(() => index.page(validText(population), page).map(toEntry)),
    keyed: (population, prefix) => read(() => index.keyed(validText(population), prefix).map(toEntry)),
    analysts: (population) => read((books) => [...(books.account(validText(population))?.shares.keys() ?? [])].sort()),
    entry: (population, sequence) => read(() => entryAt(store, validText(population), sequence)),
    verify: () => store.verify(),
    amend: (population, terms, reason, allow) => amend(store, { population, terms, reason, allow }),
    close: () => store.close(),
  };
}

async function reserve(store: LedgerStorage, requested: Reservation): Promise<SpendEntry> {
  try {
    return await store.write(
      (on) => reserveEntry(store, on, validReservation(requested)),
      ({ sequence }) => {
        const outcome = { state: 'spent', entry: sequence, resumable: requested.resumable === true } as const;
        return { written: outcome, unwitnessed: outcome };
      },
    );
  } catch (error) {
    throw withFinalOutcome(error, { state: 'not spent' });
  }
}

async function commit(store: LedgerStorage, { sequence, hash, population }: SpendEntry, answer: string): Promise<string> {
  const { place, index } = store;
  let unanswered: boolean | undefined;
  const done = store.write(
    (on) => {
      const found = on.last?.stored.sequence === sequence ? on.last : linkAt(store, sequence);
      if (found?.stored.hash !== hash) throw corrupt(place, `entry ${sequence} is not the one that was reserved`);
      const pending = on.books.account(population)?.pending.some(([of]) => of === sequence) ?? false;
      unanswered = pending;
      const recorded = pending ? undefined : index.answer(sequence);
      if (typeof recorded === 'string') return { text: recorded, pending, unsynced: false };
      // Only the pinned state proves that an entry is unanswered: an answer missing from the index may have been lost.
      const { resumable, boot } = found.link as SpendLink;
      const lapsed = !pending && resumable !== undefined;
      if (recorded === null || lapsed) throw textLostFault(place, sequence);
      const link = { kind: 'answer', population, at: Date.now(), of: sequence, answer: answerHash(hash, answer) } as const;
      addLink(store, on, link, answer);
      // The answer of an entry that cannot be resumed after a crash may be lost in that crash.
      // A witness must not be ahead of the disk.
      const unsynced = !store.witnessed && (!pending || (store.boot !== undefined && boot === store.boot));
      return { text: answer, pending, unsynced };
    },
    ({ pending, unsynced }) => ({
      unsynced,
      written: { state: 'spent', entry: sequence, resumable: false },
      takenBack: { state: 'spent', entry: sequence, resumable: pending },
      unwitnessed: { state: 'recorded', entry: sequence },
    }),
  );
  try {
    return (await done).text;
  } catch (error) {
    if (unanswered === undefined) throw error;
    throw withFinalOutcome(error, { state: 'spent', entry: sequence, resumable: unanswered });
  }
}

interface Amendment {
  readonly population: string;
  readonly terms: AccountTerms;
  readonly reason: string;
  readonly allow: Parameters<Ledger['amend']>[3];
}

async function amend(store: LedgerStorage, { population: named, terms, reason, allow }: Amendment): Promise<void> {
  const population = validText(named);
  const { digest, summary } = validTerms(terms);
  await store.write(
    (on) => {
      const known = on.books.account(population);
      const at = Date.now();
      if (known) {
        allow?.(accountOf(population, known), entriesOf(store, on.books, population));
        addLink(store, on, { kind: 'amend', population, at, digest, summary, reason });
      } else if (on.books.incomplete()) {
        allow?.({ population, terms: { digest, summary }, spent: nothingSpent }, []);
        addLink(store, on, { kind: 'open', population, at, digest, summary, reason });
      } else throw noAccount(population, store.place);
    },
    () => ({
      written: 'The terms may have been changed all the same: "fugu ledger POLICY" shows them.',
      unwitnessed: 'The terms were changed, and the witness has not heard of it.',
    }),
  );
}

const spentBy = (account: AccountState | undefined): SpentCosts => (account ? spentFromText(account.totals) : nothingSpent);

function entriesOf({ index }: LedgerStorage, books: Books, population: string): readonly SpendEntry[] {
  const spends = index.spends(population);
  if (spends.length !== (books.account(population)?.entries ?? 0))
    throw new BrokenChain(`entries of "${population}" are missing or too many`);
  return spends.map(toEntry);
}

/** One entry of a population, with its recorded answer where there is one. */
function entryAt(store: LedgerStorage, population: string, sequence: number) {
  const stored = store.index.link(sequence);
  const link = stored && linkIn(stored);
  if (link?.kind !== 'spend' || link.population !== population) return undefined;
  if (!store.holds(stored!)) throw corrupt(store.place, `entry ${sequence} is not as it was written`);
  const answer = store.index.answer(sequence);
  if (typeof answer === 'string') return { entry: toEntry({ stored: stored!, answered: 'kept' }), answer };
  return { entry: toEntry({ stored: stored!, answered: answer === null ? 'lost' : 'no' }) };
}

/** Latest unanswered entry with this key that may still be resumed. */
function unansweredOf(store: LedgerStorage, account: AccountState | undefined, key: string) {
  for (const [sequence] of account?.pending.toReversed() ?? []) {
    const stored = store.index.link(sequence);
    if (!stored || !store.holds(stored)) throw corrupt(store.place, `entry ${sequence} is not as it was written`);
    const link = JSON.parse(stored.body) as SpendLink;
    // Reserved since this boot of the machine, or neither names a boot.
    if (link.boot === store.boot && link.key === key) return toEntry({ stored, answered: 'no' });
  }
  return undefined;
}

/** The account under these terms; undefined where one may be opened. */
function accountUnder(
  place: string,
  books: Books,
  { population, terms, opening }: Pick<Reservation, 'population' | 'terms' | 'opening'>,
): AccountState | undefined {
  const known = books.account(population);
  if (!known) opening?.([...books.states().keys()].sort());
  if (known && known.digest !== terms.digest) throw termsFault(population, known, terms, place);
  if (known?.closed || (!known && books.incomplete())) throw closedFault(population, place);
  return known;
}

function reserveEntry(store: LedgerStorage, on: ChainAppend, reservation: Reservation): SpendEntry {
  const { population, terms, analyst, as, key, label, relied = [], admit, resumable } = reservation;
  const at = Date.now();
  const known = accountUnder(store.place, on.books, reservation);
  const cost = toStored(reservation.profile);
  const answered = reservation.unlessRecorded && known ? recordedFor(store, on.end, population, key) : undefined;
  if (answered) return answered.entry;
  if (resumable && known && known.pending.length > 0) {
    const unanswered = resumeEntry(store, known, resumeKey(key, cost, terms.digest, store.boot));
    if (unanswered) return unanswered;
  }
  const before = spentBy(known);
  const paid = costFromStored(cost);
  admit(addToTotal(before, paid), before, addToTotal(spentFromText(on.books.share(population, analyst)), paid));
  if (!known) {
    const reason = reservation.claim?.();
    const { digest, summary } = terms;
    addLink(store, on, {
      kind: 'open',
      population,
      at,
      digest,
      summary,
      ...(reason !== undefined && { reason: validText(reason) }),
    });
  }
  const stored = addLink(store, on, {
    kind: 'spend',
    population,
    at,
    analyst,
    ...(as !== undefined && { as }),
    key,
    label,
    profile: cost,
    ...(relied.length > 0 && { relied }),
    ...(resumable && { resumable: terms.digest, ...(store.boot !== undefined && { boot: store.boot }) }),
  });
  const { sequence, hash } = stored;
  const named = as !== undefined && { as };
  return { sequence, population, analyst, ...named, key, label, profile: reservation.profile, relied, at, settled: false, hash };
}

/** Last lookup without a result: a release looks before it reserves, and again when it does. */
const lastNotFound = new WeakMap<LedgerStorage, { readonly head: string; readonly population: string; readonly key: string }>();

function recordedFor(store: LedgerStorage, { hash: head }: ChainEnd, population: string, key: string) {
  const { index, place } = store;
  const before = lastNotFound.get(store);
  if (before?.head === head && before.population === population && before.key === key) return undefined;
  const found = index.replay(key, population);
  if (!found) {
    lastNotFound.set(store, { head, population, key });
    return undefined;
  }
  const entry = toEntry({ stored: found.of, answered: 'kept' });
  if (!store.holds(found.of) || entry.population !== population || entry.key !== key)
    throw corrupt(place, `entry ${entry.sequence} is filed under a wrong name`);
  return { entry, answer: found.answer };
}

/** Latest unanswered entry reserved for this request, as listed in the account state, which the chain pins. */
function resumeEntry(store: LedgerStorage, { pending }: AccountState, request: string): SpendEntry | undefined {
  const found = pending.findLast(([, requested]) => requested === request);
  if (!found) return undefined;
  const stored = store.index.link(found[0]);
  if (!stored || !store.holds(stored)) throw new BrokenChain(`entry ${found[0]} is not as it was written`);
  return { ...toEntry({ stored, answered: 'no' }), resumed: true };
}

function linkAt({ index }: LedgerStorage, sequence: number): ChainState['last'] {
  const stored = index.link(sequence);
  return stored && { link: linkIn(stored), stored };
}

const accountOf = (population: string, { digest, summary, totals, closed }: AccountState): LedgerAccount => ({
  population,
  terms: { digest, summary },
  spent: spentFromText(totals),
  ...(closed && { closed }),
});

function toEntry({ stored: { sequence, body, hash }, answered }: IndexedSpend): SpendEntry {
  const { population, analyst, as, key, label, profile: cost, relied = [], at } = JSON.parse(body) as SpendLink;
  return {
    sequence,
    population,
    analyst,
    ...(as !== undefined && { as }),
    key,
    label,
    profile: fromStored(cost),
    relied,
    at,
    settled: answered === 'kept',
    ...(answered === 'lost' && { textLost: true }),
    hash,
  };
}

/** Half of a surrogate pair is not text and would be altered by storing. */
const validText = (text: string): string => (/\p{Surrogate}/u.test(text) ? Buffer.from(text, 'utf8').toString('utf8') : text);
const validTerms = ({ digest, summary }: AccountTerms): AccountTerms => ({
  digest: validText(digest),
  summary: validText(summary),
});
const validReservation = (requested: Reservation): Reservation => ({
  ...requested,
  population: validText(requested.population),
  terms: validTerms(requested.terms),
  analyst: validText(requested.analyst),
  key: validText(requested.key),
});

/** The line that changed, where that is known. */
function termsMessage(population: string, known: string, requested: string): string {
  const changed = changedTerms(known, requested);
  const other = `The budget of "${population}" was opened under other terms than this policy declares`;
  return changed === undefined
    ? `${other}. Both say ${known}; what else was declared then (ties, what is public) is not recorded in so old an account.`
    : `${other}: ${changed}.`;
}
const termsFault = (population: string, known: AccountTerms, requested: AccountTerms, place: string): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    termsMessage(population, known.summary, requested.summary),
    'Use the policy the account was opened with, name another population, or change the terms for good with "fugu ledger POLICY amend --reason TEXT".',
    { place: { file: place } },
  );
const closedFault = (population: string, place: string): Fault =>
  new Fault(
    'LEDGER_CORRUPT',
    `The budget of "${population}" is closed: entries that paid from it may have been lost.`,
    'Find out what was released since the last sound entry (reports, receipts), then take responsibility with "fugu ledger POLICY amend --reason TEXT", under a smaller budget if need be.',
    { place: { file: place } },
  );
const noAccount = (population: string, place: string): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    `The ledger has no account for "${population}" yet.`,
    'There is nothing to amend: the first release opens the account with the terms of its policy.',
    { place: { file: place } },
  );
const textLostFault = (place: string, sequence: number): Fault =>
  new Fault(
    'LEDGER_CORRUPT',
    `Entry ${sequence} cannot be answered any more: it may have been answered before, and the text of that answer is lost.`,
    'The same request pays again.',
    { place: { file: place }, outcome: { state: 'spent', entry: sequence, resumable: false } },
  );
