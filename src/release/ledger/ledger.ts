import type { PrivacyCost, SpentCosts } from '../../privacy/mechanism/privacy-cost.js';

/** Durable record of all costs. One account per population; entries are hash-chained; costs are stored, never epsilons. */
export interface Ledger {
  /**
   * Reserves the cost before data is read; returns once it is durable. `admit` gets the new total inside one exclusive transaction; if it
   * throws, nothing is reserved. Opening an account pins `digest` and summary of its terms; another digest is LEDGER_MISMATCH.
   */
  reserve(reservation: Reservation): Promise<SpendEntry>;
  /**
   * Records the answer before it is given out and returns the recorded one: if the same entry was answered first
   * elsewhere, that answer, which is the one to give out. The reservation itself is never undone.
   */
  commit(entry: SpendEntry, answer: string): Promise<string>;
  /** The latest recorded answer for a request key. */
  replay(population: string, key: string): Promise<{ entry: SpendEntry; answer: string } | undefined>;
  /** The entry that `reserve` would resume for a request key, whatever its cost; needed by plans. */
  unanswered?(population: string, key: string): Promise<SpendEntry | undefined>;
  /** Cost spent by a population, or one analyst's part of it. */
  spent(population: string, analyst?: string): Promise<SpentCosts>;
  /** Cost spent by a population, or the fault that a reservation under these terms would meet before its cost is considered. */
  spentUnder(requested: Pick<Reservation, 'population' | 'terms' | 'opening'>): Promise<SpentCosts>;
  account(population: string): Promise<LedgerAccount | undefined>;
  entries(population: string): Promise<readonly SpendEntry[]>;
  /** Some entries, oldest first, after a number or before one. For display: only `entries` checks that none is missing. */
  page(population: string, page: EntryRange): Promise<readonly SpendEntry[]>;
  /** Its entries whose keys have this prefix. */
  keyed(population: string, prefix: string): Promise<readonly SpendEntry[]>;
  /** Analysts who have paid something. */
  analysts(population: string): Promise<readonly string[]>;
  /** One entry of a population, with its recorded answer where there is one. */
  entry(population: string, sequence: number): Promise<{ readonly entry: SpendEntry; readonly answer?: string } | undefined>;
  /** Walks the chain; never throws on a broken one. */
  verify(): Promise<Verification>;
  /**
   * A deliberate change of an account's terms (budget raised, ties redeclared): itself a chained entry. `allow` sees the account and all its entries inside
   * the same exclusive transaction; if it throws, nothing changes.
   */
  amend(
    population: string,
    terms: AccountTerms,
    reason: string,
    allow?: (account: LedgerAccount, entries: readonly SpendEntry[]) => void,
  ): Promise<void>;
  close(): Promise<void>;
}

export type EntryRange = ({ readonly after: number } | { readonly before: number }) & { readonly most: number };

export interface AccountTerms {
  readonly digest: string;
  /** Plain words for `fugu ledger`: "epsilon 1, delta 1e-6, secret row, adversary informed". */
  readonly summary: string;
}

export interface LedgerAccount {
  readonly population: string;
  readonly terms: AccountTerms;
  readonly spent: SpentCosts;
  /** Set where entries that paid from it may be lost: nothing is reserved until its terms are amended. */
  readonly closed?: true;
}

export interface Reservation {
  readonly population: string;
  readonly terms: AccountTerms;
  /** Payer, as known to the operating system or the service: quotas depend on it. */
  readonly analyst: string;
  /** Name that the analyst goes by; listed, never relied on. */
  readonly as?: string;
  /** Identifies the request, its data and terms; never depends on the data's content. */
  readonly key: string;
  /** Purpose, from the query text only. */
  readonly label: string;
  readonly profile: PrivacyCost;
  /** Facts released at no cost because the terms declare them known; in the caller's own words. */
  readonly relied?: readonly string[];
  /** Resumes an unanswered entry with the same key, cost and terms instead of reserving another (charge.proof.md). */
  readonly resumable?: boolean;
  /** Reserves nothing if an answer to this key is on record by now: the entry that paid for it is returned, settled. */
  readonly unlessRecorded?: boolean;
  /** `byAnalyst` is this analyst's own total after the entry, for the quota. */
  readonly admit: (after: SpentCosts, before: SpentCosts, byAnalyst: SpentCosts) => void;
  /** Called before an account is opened, with the populations that have one here; if it throws, nothing is reserved. */
  readonly opening?: (others: readonly string[]) => void;
  /**
   * Called when everything else was admitted and the account is opened next, perhaps more than once; if it throws,
   * nothing is reserved. Returns the reason for the chain, where the data has another account.
   */
  readonly claim?: () => string | undefined;
}

export interface SpendEntry {
  readonly sequence: number;
  readonly population: string;
  readonly analyst: string;
  readonly key: string;
  readonly label: string;
  readonly profile: PrivacyCost;
  readonly relied: readonly string[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Its answer is recorded and can be given out again. */
  readonly settled: boolean;
  /** It was answered, but the recorded text is lost: the same request pays again. */
  readonly textLost?: boolean;
  readonly as?: string;
  /** Reserved earlier and resumed: this request adds no cost. */
  readonly resumed?: boolean;
  readonly hash: string;
}

export interface Verification {
  readonly ok: boolean;
  /** Reservations walked. */
  readonly entries: number;
  /** Hash of the last link of a sound chain, to compare receipts with. */
  readonly head?: string;
  /** Sequence of the first entry that does not fit the chain. */
  readonly brokenAt?: number;
  readonly reason?: string;
}
