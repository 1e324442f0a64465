import { sha256 } from '../../../base/platform/hash.js';
import { BrokenChain, type ChainEnd, type Link, linkHash, type SpendLink, type StoredLink } from '../chain/chain.js';
import { addToTotal, costFromStored, emptyText, spentFromText, spentToText } from './total.js';

/** A resumable entry that has no answer yet; `request` is a hash of its key, cost, terms and boot. */
export type PendingEntry = readonly [sequence: number, request: string];
/** Older ones are not resumed any more: the list is written with every reservation. */
const pendingKept = 64;

/** An account after a link, all of it pinned by the link's `after`. */
export interface AccountState {
  readonly digest: string;
  readonly summary: string;
  /** Text of the total cost. */
  readonly totals: string;
  readonly entries: number;
  /** True if entries that paid from it may be lost: nothing is reserved until its terms are amended. */
  readonly closed: boolean;
  readonly pending: readonly PendingEntry[];
  /** Hash of every analyst's total. */
  readonly shares: ReadonlyMap<string, string>;
}

/** Names are distinct. */
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

const hashed = new WeakMap<AccountState, string>();
export function stateHash(state: AccountState): string {
  const known = hashed.get(state);
  if (known !== undefined) return known;
  const { digest, summary, totals, entries, closed, pending, shares } = state;
  const hash = sha256(JSON.stringify([digest, summary, totals, entries, closed, pending, [...shares].sort(byName)]));
  hashed.set(state, hash);
  return hash;
}
/** State hash that links pinned before there was a chain file. */
const formerStateHash = ({ digest, summary, totals }: AccountState): string => sha256(JSON.stringify([digest, summary, totals]));

/** The accounts: in memory while a chain is walked, or in the index. */
export interface Books {
  /** True if entries may have been lost, so that a population without an account may have had one. */
  incomplete(): boolean;
  /** State hash of every account. */
  states(): ReadonlyMap<string, string>;
  account(population: string): AccountState | undefined;
  /** Text of one analyst's total. */
  share(population: string, analyst: string): string;
  keep(change: AccountChange): void;
}
/** Changes that a link makes to the accounts. */
export interface AccountChange {
  readonly accounts: ReadonlyMap<string, AccountState>;
  readonly share?: { readonly population: string; readonly analyst: string; readonly totals: string };
  readonly incomplete?: boolean;
}

/** One hash over all accounts: an account that is missing, stale or extra changes it. */
export const accountsRoot = (incomplete: boolean, states: ReadonlyMap<string, string>): string =>
  sha256(JSON.stringify([incomplete, [...states].sort(byName)]));

function rootAfter(books: Books, change: AccountChange): string {
  const states = new Map(books.states());
  for (const [population, state] of change.accounts) states.set(population, stateHash(state));
  return accountsRoot(change.incomplete ?? books.incomplete(), states);
}

export const resumeKey = (key: string, cost: SpendLink['profile'], digest: string, boot: string | undefined): string =>
  sha256(JSON.stringify([key, cost, digest, boot ?? null]));

/** A link without its number and pins. */
export type LinkDraft = Link extends infer L
  ? L extends Link
    ? Omit<L, 'sequence' | 'after' | 'root' | 'since'>
    : never
  : never;

/** Changes made by link number `sequence`. Deterministic, so that walking the chain again gives identical accounts. */
export function changeBy(books: Books, link: LinkDraft, sequence: number): AccountChange {
  if (link.kind === 'upgrade') return { accounts: new Map() };
  if (link.kind === 'recover') {
    for (const population of link.closes) known(books, population, sequence);
    // A rebuilt ledger may have lost an answer that was given out, so no entry is known to be unanswered any more.
    const accounts = [...books.states().keys()].map((population) => {
      const account = known(books, population, sequence);
      return [population, { ...account, closed: account.closed || link.closes.includes(population), pending: [] }] as const;
    });
    return { accounts: new Map(accounts), incomplete: books.incomplete() || link.incomplete };
  }
  if (link.kind === 'open') {
    if (books.account(link.population)) throw new BrokenChain(`entry ${sequence} opens an account twice`, sequence);
    const { digest, summary } = link;
    const fresh = { digest, summary, totals: emptyText, entries: 0, closed: false, pending: [], shares: new Map() };
    return { accounts: new Map([[link.population, fresh]]) };
  }
  const account = known(books, link.population, sequence);
  const only = (state: AccountState) => ({ accounts: new Map([[link.population, state]]) });
  if (link.kind === 'amend') return only({ ...account, digest: link.digest, summary: link.summary, closed: false });
  if (link.kind === 'answer') {
    const pending = account.pending.filter(([of]) => of !== link.of);
    return only(pending.length === account.pending.length ? account : { ...account, pending });
  }
  const { population, analyst, profile: cost, key, resumable, boot } = link;
  const totals = spentToText(addToTotal(spentFromText(account.totals), costFromStored(cost)));
  const share = spentToText(addToTotal(spentFromText(books.share(population, analyst)), costFromStored(cost)));
  const pending: readonly PendingEntry[] =
    resumable === undefined
      ? account.pending
      : [...account.pending, [sequence, resumeKey(key, cost, resumable, boot)] as const].slice(-pendingKept);
  const shares = new Map(account.shares).set(analyst, sha256(share));
  return {
    ...only({ ...account, totals, entries: account.entries + 1, pending, shares }),
    share: { population, analyst, totals: share },
  };
}

function known(books: Books, population: string, sequence: number): AccountState {
  const account = books.account(population);
  if (!account) throw new BrokenChain(`entry ${sequence} belongs to an account that was never opened`, sequence);
  return account;
}

/** The link that this draft becomes after `end`; `books` is the state after it. */
export function linkFrom(books: Books, end: ChainEnd, draft: LinkDraft): { readonly link: Link; readonly stored: StoredLink } {
  const sequence = end.sequence + 1;
  const change = changeBy(books, draft, sequence);
  const after = 'population' in draft && { after: stateHash(change.accounts.get(draft.population)!) };
  const link = { ...draft, sequence, since: end.since, ...after, root: rootAfter(books, change) } as Link;
  const body = JSON.stringify(link);
  books.keep(change);
  return { link, stored: { sequence, offset: end.offset, hash: linkHash(end.hash, body), body } };
}

/** Applies a link of the chain, and checks what it pins. */
export function follow(books: Books, link: Link): void {
  const { sequence, root } = link;
  const change = changeBy(books, link, sequence);
  if ('after' in link) {
    const state = change.accounts.get(link.population)!;
    if (link.after !== (root === undefined ? formerStateHash(state) : stateHash(state)))
      throw new BrokenChain(`the totals after entry ${sequence} are wrong`, sequence);
  }
  if (root !== undefined && root !== rootAfter(books, change))
    throw new BrokenChain(`the accounts after entry ${sequence} are wrong`, sequence);
  books.keep(change);
}

/** Accounts in memory. */
export class MemoryBooks implements Books {
  readonly accounts = new Map<string, AccountState>();
  readonly #totals = new Map<string, string>();
  readonly #states: Map<string, string>;
  /** Accounts whose state hash is not computed yet. */
  readonly #unhashed = new Set<string>();
  #incomplete: boolean;

  constructor(states: ReadonlyMap<string, string> = new Map(), incomplete = false) {
    this.#states = new Map(states);
    this.#incomplete = incomplete;
  }

  incomplete(): boolean {
    return this.#incomplete;
  }
  states(): ReadonlyMap<string, string> {
    for (const population of this.#unhashed) this.#states.set(population, stateHash(this.accounts.get(population)!));
    this.#unhashed.clear();
    return this.#states;
  }
  account(population: string): AccountState | undefined {
    return this.accounts.get(population);
  }
  share(population: string, analyst: string): string {
    return this.knownShare(population, analyst) ?? emptyText;
  }
  protected knownShare(population: string, analyst: string): string | undefined {
    return this.#totals.get(JSON.stringify([population, analyst]));
  }
  /** Every analyst's total. */
  shares(): readonly Required<AccountChange>['share'][] {
    return [...this.#totals].map(([name, totals]) => {
      const [population, analyst] = JSON.parse(name) as [string, string];
      return { population, analyst, totals };
    });
  }
  keep({ accounts, share, incomplete }: AccountChange): void {
    for (const [population, state] of accounts) {
      this.accounts.set(population, state);
      this.#unhashed.add(population);
    }
    if (share) this.#totals.set(JSON.stringify([share.population, share.analyst]), share.totals);
    this.#incomplete = incomplete ?? this.#incomplete;
  }
}

/** An account as a row of an index. */
export const accountRow = (population: string, state: AccountState) => {
  const { digest, summary, totals, entries, closed, pending } = state;
  return [population, stateHash(state), digest, summary, totals, entries, closed ? 1 : 0, JSON.stringify(pending)] as const;
};
export const shareRow = ({ population, analyst, totals }: Required<AccountChange>['share']) =>
  [population, analyst, sha256(totals), totals] as const;
