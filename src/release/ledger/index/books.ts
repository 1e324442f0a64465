import { sha256 } from '../../../base/platform/hash.js';
import { BrokenChain, type Link } from '../chain/chain.js';
import {
  type AccountChange,
  type AccountState,
  accountRow,
  accountsRoot,
  changeBy,
  MemoryBooks,
  type PendingEntry,
  shareRow,
  stateHash,
} from './accounts.js';
import type { IndexQueries } from './index-queries.js';
import { decodeInteger, decodeJson, decodeText } from './row.js';
import { emptyText } from './total.js';

/** Account rows are those of one of this many last links: applying some links now and then costs less than writing them. */
export const rowsBehind = 32;

/** The accounts as the last link pins them, read from the rows of an index as they are needed. */
export class IndexBooks extends MemoryBooks {
  readonly #queries: IndexQueries;
  readonly #changed = { accounts: new Set<string>(), shares: new Map<string, Share>(), mark: false, links: 0, terms: false };

  constructor(queries: IndexQueries, last: Link | undefined) {
    const rows = queries.accounts().map(([population, state]) => [decodeText(population), decodeText(state)] as const);
    super(new Map(rows), decodeInteger(queries.mark()?.[0]) === 1);
    this.#queries = queries;
    const unflushed = this.#linksSince(accountsRoot(this.incomplete(), this.states()), last);
    if (unflushed.length > 0 && !this.advance(unflushed)) throw unpinned();
  }

  override account(population: string): AccountState | undefined {
    const known = super.account(population);
    if (known) return known;
    const state = accountIn(this.#queries, population);
    if ((state && stateHash(state)) !== this.states().get(population))
      throw new BrokenChain(`the account "${population}" is not as the last entry pins it`);
    if (state) this.accounts.set(population, state);
    return state;
  }

  override share(population: string, analyst: string): string {
    const pin = this.account(population)?.shares.get(analyst);
    if (pin === undefined) return emptyText;
    const known = this.knownShare(population, analyst) ?? decodeText(this.#queries.share(population, analyst)?.[0]);
    if (sha256(known) !== pin)
      throw new BrokenChain(`the total of an analyst of "${population}" is not as the last entry pins it`);
    return known;
  }

  override keep(change: AccountChange): void {
    const changed = this.#changed;
    const { share, incomplete } = change;
    changed.links++;
    const accounts = [...change.accounts].filter(([population, state]) => this.accounts.get(population) !== state);
    for (const [population, state] of accounts) {
      const before = this.accounts.get(population);
      changed.terms ||= before?.digest !== state.digest || before.summary !== state.summary || before.closed !== state.closed;
      changed.accounts.add(population);
    }
    if (share) changed.shares.set(JSON.stringify([share.population, share.analyst]), share);
    changed.mark ||= incomplete !== undefined && incomplete !== this.incomplete();
    super.keep({ ...change, accounts: new Map(accounts) });
  }

  /** Applies these links; false if the last one pins other accounts: these must then be discarded. */
  advance(links: readonly Link[]): boolean {
    try {
      for (const link of links) this.keep(changeBy(this, link, link.sequence));
    } catch {
      return false;
    }
    return accountsRoot(this.incomplete(), this.states()) === links.at(-1)?.root;
  }

  /** True if some kept changes are not yet written. */
  behind(): boolean {
    return this.#changed.links > 0;
  }

  flush(): void {
    const changed = this.#changed;
    for (const population of changed.accounts)
      this.#queries.keepAccount(...accountRow(population, this.accounts.get(population)!));
    for (const share of changed.shares.values()) this.#queries.keepShare(...shareRow(share));
    if (changed.mark) this.#queries.keepMark(this.incomplete() ? 1 : 0);
    changed.accounts.clear();
    changed.shares.clear();
    Object.assign(changed, { mark: false, links: 0, terms: false });
  }

  /** The same where it may not wait: others reserve too, rows are `rowsBehind` links behind, or terms changed. */
  flushIfDue(crowded: boolean): void {
    const { links, terms, mark } = this.#changed;
    if (crowded || links >= rowsBehind || terms || mark) this.flush();
  }

  /** Links after the newest one, among the last, that pins this root. */
  #linksSince(root: string, last: Link | undefined): readonly Link[] {
    if (root === (last ? last.root : accountsRoot(false, new Map()))) return [];
    const rows = last ? this.#queries.bodiesAfter(last.sequence - rowsBehind) : [];
    const newest = rows.map(([body]) => decodeJson(body) as Link);
    const from = newest.findLastIndex((link) => link.root === root);
    if (from < 0) throw unpinned();
    return newest.slice(from + 1);
  }
}

type Share = Required<AccountChange>['share'];
const unpinned = (): BrokenChain => new BrokenChain('the accounts are not those that the last entry pins');

function accountIn(queries: IndexQueries, population: string): AccountState | undefined {
  const row = queries.account(population);
  if (!row) return undefined;
  const [digest, summary, totals, entries, closed, pending] = row;
  return {
    digest: decodeText(digest),
    summary: decodeText(summary),
    totals: decodeText(totals),
    entries: decodeInteger(entries),
    closed: decodeInteger(closed) === 1,
    pending: decodeJson(pending) as PendingEntry[],
    shares: new Map(queries.shares(population).map(([analyst, pin]) => [decodeText(analyst), decodeText(pin)])),
  };
}
