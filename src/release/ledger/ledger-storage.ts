import type { Outcome } from '../../base/errors.js';
import { beginning, type ChainEnd, endOf, type Link, type StoredLink } from './chain/chain.js';
import type { Witness } from './chain/witness.js';
import { corrupt, type Ending } from './faults.js';
import { type Books, type LinkDraft, linkFrom } from './index/accounts.js';
import type { IndexBooks } from './index/books.js';
import { linkIn } from './index/row.js';
import type { LedgerIndex } from './index/tables.js';
import type { Verification } from './ledger.js';

/** How a ledger is read, and the one way to add to it. Every storage has the same rules of reserving (chained-ledger.ts). */
export interface LedgerStorage {
  /** Path or address, as shown to users. */
  readonly place: string;
  readonly index: LedgerIndex;
  /** Entries are resumed only under the boot they were reserved in: an answer need not be synced before it is given out. */
  readonly boot: string | undefined;
  /** True if a witness remembers the head of the chain: it must not be ahead of the disk. */
  readonly witnessed: boolean;
  /** True if exactly this link is in the chain. */
  holds(link: StoredLink): boolean;
  /** Reads accounts and index at one moment. `work` may be run again from the beginning. */
  read<T>(work: (books: Books, end: ChainEnd) => T): Promise<T>;
  /** The same under the one lock, with links added: durable when it returns. `work` reads everything before it calls `admit`. */
  write<T>(work: (on: ChainAppend) => T, late: (result: T) => LateFailure): Promise<T>;
  verify(): Promise<Verification>;
  close(): Promise<void>;
}

/** State of a chain. */
export interface ChainState {
  readonly end: ChainEnd;
  readonly books: IndexBooks;
  /** The link at the end, where there is one. */
  readonly last: { readonly link: Link; readonly stored: StoredLink } | undefined;
}

/** The state of a chain that ends with this link; `books` where its accounts are known. */
export function stateAt(index: LedgerIndex, stored: StoredLink | undefined, books?: IndexBooks): ChainState {
  if (!stored) return { end: beginning, books: index.books(undefined), last: undefined };
  const link = linkIn(stored);
  return { end: endOf(stored, link), books: books ?? index.books(link), last: { link, stored } };
}

/** A witness with more entries, or another one, has seen costs that the ledger has lost. */
export function refuseUnwitnessed(
  { index, place }: Pick<LedgerStorage, 'index' | 'place'>,
  head: ReturnType<Witness['head']>,
): void {
  const link = head && index.link(head.sequence);
  if (!head || link?.hash === head.hash) return;
  throw corrupt(
    place,
    link
      ? `the witness knows another entry ${head.sequence}`
      : `the witness knows ${head.sequence} entries of the chain, more than there are`,
  );
}

/** A transaction that adds links: the chain state, and the lines to be made durable before the index is committed. */
export interface ChainAppend extends ChainState {
  end: ChainEnd;
  last: ChainState['last'];
  readonly lines: StoredLink[];
}

/**
 * Endings of a failure once a line may be in the chain. Of a link without a cost they are texts: it counts once its line is
 * durable, and an index that lacks it reads it in the next transaction.
 */
export interface LateFailure {
  /** If the line is there, or may be. */
  readonly written: Ending;
  /** If the line could be removed again, which is sound while its answer was given to nobody. */
  readonly takenBack?: Outcome;
  /** If only the witness was not notified. */
  readonly unwitnessed: Ending;
  /** The line may be lost in a crash: the next synced line makes it durable. */
  readonly unsynced?: boolean;
}
export const isWithoutCost = ({ written }: LateFailure): boolean => typeof written === 'string';

/** Adds a link to both copies; its line is written when the transaction ends. */
export function addLink({ index }: Pick<LedgerStorage, 'index'>, on: ChainAppend, draft: LinkDraft, answer?: string): StoredLink {
  const { link, stored } = linkFrom(on.books, on.end, draft);
  on.lines.push(stored);
  index.keepLink(link, stored, answer);
  on.end = endOf(stored, link);
  on.last = { link, stored };
  return stored;
}
