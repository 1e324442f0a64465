import type { Profile, Spent } from '../dependence/profile.js';

/** What has been spent, durably. One account per population; entries are hash-chained; profiles are stored, never epsilons. */
export interface Ledger {
  /**
   * Books the profile before any data is read and returns only when it is durable. Inside one exclusive transaction the total after this entry is
   * handed to `admit`; if it throws, nothing is booked. Opening an account pins `digest` and a summary of its terms; another digest is LEDGER_MISMATCH.
   */
  reserve(reservation: Reservation): Promise<Entry>;
  /** Records the released answer so that the same request on the same data replays it; the reservation itself is never undone. */
  settle(entry: Entry, answer: string): Promise<void>;
  /** The recorded answer for a request key, if it was settled. */
  replay(population: string, key: string): Promise<{ entry: Entry; answer: string } | undefined>;
  /** What a population has paid, or one analyst's part of it. */
  spent(population: string, analyst?: string): Promise<Spent>;
  account(population: string): Promise<Account | undefined>;
  entries(population: string): Promise<readonly Entry[]>;
  /** Walks the chain; never throws on a broken one. */
  verify(): Promise<Verification>;
  /** A deliberate change of an account's terms (budget raised, ties redeclared): itself a chained entry. */
  amend(population: string, terms: AccountTerms, reason: string): Promise<void>;
  close(): Promise<void>;
}

export interface AccountTerms {
  readonly digest: string;
  /** Plain words for `fugu ledger`: "epsilon 1, delta 1e-6, secret row, adversary informed". */
  readonly summary: string;
}

export interface Account {
  readonly population: string;
  readonly terms: AccountTerms;
  readonly spent: Spent;
}

export interface Reservation {
  readonly population: string;
  readonly terms: AccountTerms;
  readonly analyst: string;
  /** Hash of canonical request, data snapshot and profile. */
  readonly key: string;
  /** What it was for, from the query text only. */
  readonly label: string;
  readonly profile: Profile;
  /** `byAnalyst` is this analyst's own total after the entry: the place for a quota. */
  readonly admit: (after: Spent, before: Spent, byAnalyst: Spent) => void;
}

export interface Entry {
  readonly sequence: number;
  readonly population: string;
  readonly analyst: string;
  readonly key: string;
  readonly label: string;
  readonly profile: Profile;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly settled: boolean;
  readonly hash: string;
}

export interface Verification {
  readonly ok: boolean;
  /** Reservations walked. */
  readonly entries: number;
  /** Hash of the last link of a sound chain: what a receipt can be compared with. */
  readonly head?: string;
  /** Sequence of the first entry that does not fit the chain. */
  readonly brokenAt?: number;
  readonly reason?: string;
}
