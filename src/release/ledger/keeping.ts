import type { Outcome } from '../../base/errors.js';
import { type End, endOf, type Link, type Stored } from './chain/chain.js';
import { type Books, type Draft, linkFrom } from './index/accounts.js';
import type { Index, IndexBooks } from './index/tables.js';
import type { Verification } from './ledger.js';

/**
 * Storage of a ledger: how it is read, and the one way to add to it.
 * The rules of reserving are the same for every storage (chained-ledger.ts).
 */
export interface Keeping {
  /** Path or address, as shown to users. */
  readonly place: string;
  readonly index: Index;
  /**
   * Entries are resumed only under the boot of the machine they were reserved in,
   * so an answer need not be synced before it is given out.
   */
  readonly boot: string | undefined;
  /** True if a witness remembers the head of the chain: it must not be ahead of the disk. */
  readonly witnessed: boolean;
  /** True if exactly this link is in the chain. */
  readonly holds: (link: Stored) => boolean;
  /** Reads accounts and index at one moment. `work` may be run again from the beginning. */
  readonly read: <T>(work: (books: Books, end: End) => T) => Promise<T>;
  /**
   * The same under the one lock, with links added: durable when it returns.
   * `work` reads everything before it calls `admit`.
   */
  readonly write: <T>(work: (on: Adding) => T, late: (result: T) => Late | Unpaid) => Promise<T>;
  readonly verify: () => Promise<Verification>;
  readonly close: () => Promise<void>;
}

/** State of a chain. */
export interface Standing {
  readonly end: End;
  readonly books: IndexBooks;
  /** The link at the end, where there is one. */
  readonly last: { readonly link: Link; readonly stored: Stored } | undefined;
}

/** A transaction that adds links: the chain state, and the lines to be made durable before the index is committed. */
export interface Adding extends Standing {
  end: End;
  last: Standing['last'];
  readonly lines: Stored[];
}

/** Outcomes of a failure once a line may be in the chain file. */
export interface Late {
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
export interface Unpaid {
  /** Message where the line may or may not be there. */
  readonly doubt: string;
  /** Message if only the witness was not notified. */
  readonly unheard: string;
}
export const isUnpaid = (ends: Late | Unpaid | undefined): ends is Unpaid => ends !== undefined && 'doubt' in ends;

/** Adds a link to both copies; its line is written when the transaction ends. */
export function addLink({ index }: Pick<Keeping, 'index'>, on: Adding, draft: Draft, answer?: string): Stored {
  const { link, stored } = linkFrom(on.books, on.end, draft);
  on.lines.push(stored);
  index.keepLink(link, stored, answer);
  on.end = endOf(stored, link);
  on.last = { link, stored };
  return stored;
}
