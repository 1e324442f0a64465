import type { Row } from './row.js';

/** Queries of an index on its tables, and its writes; each database has its own SQL for them. */
export interface Rows {
  /** Of links: sequence, offset, hash, body. */
  readonly last: () => Row | undefined;
  readonly link: (sequence: number) => Row | undefined;
  readonly linksAfter: (sequence: number) => readonly Row[];
  /** Bodies only. */
  readonly bodiesAfter: (sequence: number) => readonly Row[];
  /** Population, state. */
  readonly accounts: () => readonly Row[];
  /** 1 if entries may be missing, else 0. */
  readonly mark: () => Row | undefined;
  /** Digest, summary, totals, entries, closed, pending. */
  readonly account: (population: string) => Row | undefined;
  /** Analyst, pin. */
  readonly shares: (population: string) => readonly Row[];
  readonly share: (population: string, analyst: string) => Row | undefined;
  /** The text recorded for an entry, the hash of the entry, the body of the link that answered it. */
  readonly answer: (of: number) => Row | undefined;
  /** The newest entry of this key that has a text: the link, the text, the body of the link that answered it. */
  readonly replay: (key: string, population: string) => Row | undefined;
  /** Of entries: hash, hash before, newline and body as one text; sequence; offset; 0, 1 or 2 for no answer, one whose text is lost, one. */
  readonly spends: (population: string) => readonly Row[];
  /** The first ones after a sequence number, the last ones before one, and those with keys in a range. */
  readonly spendsAfter: (population: string, after: number, most: number) => readonly Row[];
  readonly spendsBefore: (population: string, before: number, most: number) => readonly Row[];
  readonly spendsKeyed: (population: string, from: string, before: string) => readonly Row[];
  readonly keepLink: (
    sequence: number,
    offset: number,
    population: string | null,
    key: string | null,
    hash: string,
    body: string,
  ) => void;
  readonly keepAnswer: (of: number, sequence: number, body: string | null) => void;
  readonly keepAccount: (
    population: string,
    state: string,
    digest: string,
    summary: string,
    totals: string,
    entries: number,
    closed: number,
    pending: string,
  ) => void;
  readonly keepShare: (population: string, analyst: string, pin: string, totals: string) => void;
  readonly keepMark: (incomplete: number) => void;
}
