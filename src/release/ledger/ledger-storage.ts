import type { Outcome } from '../../base/errors.js';
import { type ChainEnd, endOf, type Link, type StoredLink } from './chain/chain.js';
import { type Books, type LinkDraft, linkFrom } from './index/accounts.js';
import type { IndexBooks, LedgerIndex } from './index/tables.js';
import type { Verification } from './ledger.js';

/**
 * Storage of a ledger: how it is read, and the one way to add to it.
 * The rules of reserving are the same for every storage (chained-ledger.ts).
 */
export interface LedgerStorage {
  /** Path or address, as shown to users. */
  readonly place: string;
  readonly index: LedgerIndex;
  /**
   * Entries are resumed only under the boot of the machine they were reserved in,
   * so an answer need not be synced before it is given out.
   */
  readonly boot: string | undefined;
  /** True if a witness remembers the head of the chain: it must not be ahead of the disk. */
  readonly witnessed: boolean;
  /** True if exactly this link is in the chain. */
  readonly holds: (link: StoredLink) => boolean;
  /** Reads accounts and index at one moment. `work` may be run again from the beginning. */
  readonly read: <T>(work: (books: Books, end: ChainEnd) => T) => Promise<T>;
  /**
   * The same under the one lock, with links added: durable when it returns.
   * `work` reads everything before it calls `admit`.
   */
  readonly write: <T>(work: (on: ChainAppend) => T, late: (result: T) => LateFailure | FreeFailure) => Promise<T>;
  readonly verify: () => Promise<Verification>;
  readonly close: () => Promise<void>;
}

/** State of a chain. */
export interface ChainState {
  readonly end: ChainEnd;
  readonly books: IndexBooks;
  /** The link at the end, where there is one. */
  readonly last: { readonly link: Link; readonly stored: StoredLink } | undefined;
}

/** A transaction that adds links: the chain state, and the lines to be made durable before the index is committed. */
export interface ChainAppend extends ChainState {
  end: ChainEnd;
  last: ChainState['last'];
  readonly lines: StoredLink[];
}

/** Outcomes of a failure once a line may be in the chain file. */
export interface LateFailure {
  readonly spent: Outcome;
  /** If the line could be removed again, which is sound while its answer was given to nobody. */
  readonly takenBack?: Outcome;
  /** If only the witness was not notified. */
  readonly unwitnessed: Outcome;
  /** The line may be lost in a crash: the next synced line makes it durable. */
  readonly unsynced?: boolean;
}

/**
 * Outcome of a link without a cost: it counts once its line is durable,
 * and an index that lacks it reads it in the next transaction.
 */
export interface FreeFailure {
  /** Message where the line may or may not be there. */
  readonly doubt: string;
  /** Message if only the witness was not notified. */
  readonly unwitnessedText: string;
}
export const isFreeFailure = (ends: LateFailure | FreeFailure | undefined): ends is FreeFailure =>
  ends !== undefined && 'doubt' in ends;

/** Adds a link to both copies; its line is written when the transaction ends. */
export function addLink({ index }: Pick<LedgerStorage, 'index'>, on: ChainAppend, draft: LinkDraft, answer?: string): StoredLink {
  const { link, stored } = linkFrom(on.books, on.end, draft);
  on.lines.push(stored);
  index.keepLink(link, stored, answer);
  on.end = endOf(stored, link);
  on.last = { link, stored };
  return stored;
}
