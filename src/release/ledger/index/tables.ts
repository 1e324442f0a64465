import { sha256 } from '../../../base/platform/hash.js';
import { answerHash, BrokenChain, type Link, type StoredLink } from '../chain/chain.js';
import type { EntryRange } from '../ledger.js';
import type { AccountChange, AccountState, Books, PendingEntry } from './accounts.js';
import { accountsRoot, changeBy, stateHash } from './accounts.js';
import type { IndexQueries } from './index-queries.js';
import { decodeInteger, decodeText, type IndexRow } from './row.js';
import { emptyText } from './total.js';

/**
 * The index: every link with its offset in the chain file, and the accounts as of one of the newest links. It is not trusted:
 * the accounts must have the root that the last link pins, and that link must be in the chain file, byte for byte.
 */
export interface LedgerIndex {
  readonly last: () => StoredLink | undefined;
  readonly link: (sequence: number) => StoredLink | undefined;
  readonly linksAfter: (sequence: number) => readonly StoredLink[];
  /** The accounts as `last` pins them. */
  readonly books: (last: Link | undefined) => IndexBooks;
  readonly keepLink: (link: Link, stored: StoredLink, answer?: string) => void;
  /** The text recorded for an entry: undefined when it has no answer, null when only the text is lost. */
  readonly answer: (of: number) => string | null | undefined;
  readonly replay: (key: string, population: string) => { readonly of: StoredLink; readonly answer: string } | undefined;
  /** Its entries, each checked against the link before it. */
  readonly spends: (population: string) => readonly IndexedSpend[];
  /** A page of them. */
  readonly page: (population: string, page: EntryRange) => readonly IndexedSpend[];
  readonly keyed: (population: string, prefix: string) => readonly IndexedSpend[];
}
export interface IndexBooks extends Books {
  /**
   * Applies these links; true if the accounts are then those that the last link pins. If false,
   * these accounts must be discarded.
   */
  readonly advance: (links: readonly Link[]) => boolean;
  /** True if some kept changes are not yet written. */
  readonly behind: () => boolean;
  /** Writes the pending changes. */
  readonly flush: () => void;
  /**
   * The same only where it may not wait: others are reserving too, the rows are `rowsBehind` links behind,
   * or terms have changed.
   */
  readonly flushIfDue: (crowded: boolean) => void;
}
/**
 * Account rows are always those of one of this many last links:
 * writing them each time would cost more than applying some links now and then.
 */
export const rowsBehind = 32;
type Share = NonNullable<AccountChange['share']>;
interface IndexedSpend {
  readonly stored: StoredLink;
  readonly answered: 'no' | 'kept' | 'lost';
}

const stored = ([sequence, offset, hash, body]: IndexRow): StoredLink => ({
  sequence: decodeInteger(sequence),
  offset: decodeInteger(offset),
  hash: decodeText(hash),
  body: decodeText(body),
});
/** Every kind of damage ends in `BrokenChain`. */
const json = (value: IndexRow[number] | undefined): unknown => {
  try {
    return JSON.parse(decodeText(value));
  } catch {
    throw new BrokenChain('something in it cannot be read');
  }
};
export const linkIn = ({ body }: Pick<StoredLink, 'body'>): Link => json(Buffer.from(body)) as Link;

export function indexOf(queries: IndexQueries): LedgerIndex {
  const accountRow = (population: string): AccountState | undefined => {
    const row = queries.account(population);
    if (!row) return undefined;
    const [digest, summary, totals, entries, closed, pending] = row;
    return {
      digest: decodeText(digest),
      summary: decodeText(summary),
      totals: decodeText(totals),
      entries: decodeInteger(entries),
      closed: decodeInteger(closed) === 1,
      pending: json(pending) as PendingEntry[],
      shares: new Map(queries.shares(population).map(([analyst, pin]) => [decodeText(analyst), decodeText(pin)])),
    };
  };

  const keepAccount = (population: string, state: AccountState): void => {
    const { digest, summary, totals, entries, closed, pending } = state;
    const hash = stateHash(state);
    queries.keepAccount(population, hash, digest, summary, totals, entries, closed ? 1 : 0, JSON.stringify(pending));
  };

  /** Links after the newest one, among the last, that pins this root. */
  const linksSince = (root: string, last: Link | undefined): readonly Link[] => {
    if (root === (last ? last.root : accountsRoot(false, new Map()))) return [];
    const newest = last ? queries.bodiesAfter(last.sequence - rowsBehind).map(([body]) => json(body) as Link) : [];
    const from = newest.findLastIndex((link) => link.root === root);
    if (from < 0) throw unpinned();
    return newest.slice(from + 1);
  };

  const books = (last: Link | undefined): IndexBooks => {
    const states = new Map(queries.accounts().map(([population, state]) => [decodeText(population), decodeText(state)]));
    let incomplete = decodeInteger(queries.mark()?.[0]) === 1;
    const unflushed = linksSince(accountsRoot(incomplete, states), last);
    const found = new Map<string, AccountState | undefined>();
    const totals = new Map<string, string>();
    const changed = { accounts: new Set<string>(), shares: new Map<string, Share>(), mark: false, links: 0, terms: false };
    const unhashed = new Set<string>();
    const allStates = (): ReadonlyMap<string, string> => {
      for (const population of unhashed) states.set(population, stateHash(found.get(population)!));
      unhashed.clear();
      return states;
    };
    const account = (population: string): AccountState | undefined => {
      if (found.has(population)) return found.get(population);
      const state = accountRow(population);
      const hash = state && stateHash(state);
      if (hash !== states.get(population)) throw new BrokenChain(`the account "${population}" is not as the last entry pins it`);
      found.set(population, state);
      return state;
    };
    const flush = (): void => {
      for (const population of changed.accounts) keepAccount(population, found.get(population)!);
      for (const share of changed.shares.values())
        queries.keepShare(share.population, share.analyst, sha256(share.totals), share.totals);
      if (changed.mark) queries.keepMark(incomplete ? 1 : 0);
      changed.accounts.clear();
      changed.shares.clear();
      Object.assign(changed, { mark: false, links: 0, terms: false });
    };
    const made: IndexBooks = {
      incomplete: () => incomplete,
      states: allStates,
      account,
      share: (population, analyst) => {
        const pin = account(population)?.shares.get(analyst);
        if (pin === undefined) return emptyText;
        const name = JSON.stringify([population, analyst]);
        const known = totals.get(name) ?? decodeText(queries.share(population, analyst)?.[0]);
        if (sha256(known) !== pin)
          throw new BrokenChain(`the total of an analyst of "${population}" is not as the last entry pins it`);
        return known;
      },
      keep: (change) => {
        changed.links++;
        for (const [population, state] of change.accounts) {
          const before = found.get(population);
          if (before === state) continue;
          changed.terms ||= before?.digest !== state.digest || before.summary !== state.summary || before.closed !== state.closed;
          found.set(population, state);
          unhashed.add(population);
          changed.accounts.add(population);
        }
        if (change.share) {
          const name = JSON.stringify([change.share.population, change.share.analyst]);
          totals.set(name, change.share.totals);
          changed.shares.set(name, change.share);
        }
        changed.mark ||= change.incomplete !== undefined && change.incomplete !== incomplete;
        incomplete = change.incomplete ?? incomplete;
      },
      advance: (links) => {
        try {
          for (const link of links) made.keep(changeBy(made, link, link.sequence));
        } catch {
          return false;
        }
        return accountsRoot(incomplete, allStates()) === links.at(-1)?.root;
      },
      behind: () => changed.links > 0,
      flush,
      flushIfDue: (crowded) => {
        if (crowded || changed.links >= rowsBehind || changed.terms || changed.mark) flush();
      },
    };
    if (unflushed.length > 0 && !made.advance(unflushed)) throw unpinned();
    return made;
  };

  return {
    last: () => {
      const row = queries.last();
      return row && stored(row);
    },
    link: (sequence) => {
      const row = queries.link(sequence);
      return row && stored(row);
    },
    linksAfter: (sequence) => queries.linksAfter(sequence).map(stored),
    books,
    keepLink: (link, { sequence, offset, hash, body }, answer) => {
      const key = link.kind === 'spend' ? link.key : null;
      queries.keepLink(sequence, offset, 'population' in link ? link.population : null, key, hash, body);
      if (link.kind === 'answer') queries.keepAnswer(link.of, sequence, answer ?? null);
    },
    answer: (of) => {
      const row = queries.answer(of);
      return row && (row[0] === null ? null : bound(decodeText(row[0]), of, decodeText(row[1]), decodeText(row[2])));
    },
    replay: (key, population) => {
      const row = queries.replay(key, population);
      if (!row) return undefined;
      const of = stored(row);
      return { of, answer: bound(decodeText(row[4]), of.sequence, of.hash, decodeText(row[5])) };
    },
    spends: (population) => inOrder(queries.spends(population)).map(spendIn),
    page: (population, { most, ...from }) =>
      inOrder(
        'after' in from ? queries.spendsAfter(population, from.after, most) : queries.spendsBefore(population, from.before, most),
      ).map(spendIn),
    keyed: (population, prefix) => inOrder(queries.spendsKeyed(population, prefix, `${prefix}\u{10ffff}`)).map(spendIn),
  };
}

function spendIn([row, number, offset, answered]: IndexRow): IndexedSpend {
  const sequence = decodeInteger(number);
  if (!(row instanceof Uint8Array)) throw new BrokenChain(`entry ${sequence} cannot be read`);
  const hash = decodeText(row.subarray(0, 64));
  // Previous hash, newline and body: the input of `linkHash`.
  if (row[128] !== 0x0a || sha256(row.subarray(64)) !== hash) throw new BrokenChain(`entry ${sequence} does not fit the chain`);
  const known = decodeInteger(answered);
  return {
    stored: { sequence, offset: decodeInteger(offset), hash, body: decodeText(row.subarray(129)) },
    answered: known === 0 ? 'no' : known === 2 ? 'kept' : 'lost',
  };
}

const unpinned = (): BrokenChain => new BrokenChain('the accounts are not those that the last entry pins');

/** By their second column. */
const inOrder = (rows: readonly IndexRow[]): IndexRow[] => rows.toSorted((a, b) => decodeInteger(a[1]) - decodeInteger(b[1]));

/** The recorded text, if it is the one that the answer link pins. */
function bound(answer: string, of: number, entryHash: string, answerLink: string): string {
  const link = linkIn({ body: answerLink });
  if (link.kind !== 'answer' || link.of !== of || link.answer !== answerHash(entryHash, answer))
    throw new BrokenChain(`the answer recorded for entry ${of} was changed`, of);
  return answer;
}
