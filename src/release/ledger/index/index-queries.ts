import type { accountRow, shareRow } from './accounts.js';
import type { IndexRow } from './row.js';

/** Queries of an index on its tables, and its writes; each database has its own SQL for them. */
export interface IndexQueries {
  /** Of links: sequence, offset, hash, body. */
  readonly last: () => IndexRow | undefined;
  readonly link: (sequence: number) => IndexRow | undefined;
  readonly linksAfter: (sequence: number) => readonly IndexRow[];
  /** Bodies only. */
  readonly bodiesAfter: (sequence: number) => readonly IndexRow[];
  /** Population, state. */
  readonly accounts: () => readonly IndexRow[];
  /** 1 if entries may be missing, else 0. */
  readonly mark: () => IndexRow | undefined;
  /** Digest, summary, totals, entries, closed, pending. */
  readonly account: (population: string) => IndexRow | undefined;
  /** Analyst, pin. */
  readonly shares: (population: string) => readonly IndexRow[];
  readonly share: (population: string, analyst: string) => IndexRow | undefined;
  /** The text recorded for an entry, the hash of the entry, the body of the link that answered it. */
  readonly answer: (of: number) => IndexRow | undefined;
  /** The newest entry of this key that has a text: the link, the text, the body of the link that answered it. */
  readonly replay: (key: string, population: string) => IndexRow | undefined;
  /** Of entries: hash, hash before, newline and body as one text; sequence; offset; 0, 1 or 2 for no answer, one whose text is lost, one. */
  readonly spends: (population: string) => readonly IndexRow[];
  /** The first ones after a sequence number, the last ones before one, and those with keys in a range. */
  readonly spendsAfter: (population: string, after: number, most: number) => readonly IndexRow[];
  readonly spendsBefore: (population: string, before: number, most: number) => readonly IndexRow[];
  readonly spendsKeyed: (population: string, from: string, before: string) => readonly IndexRow[];
  /** Sequence, offset, population, key, hash, body. */
  readonly keepLink: (...row: readonly [number, number, string | null, string | null, string, string]) => void;
  readonly keepAnswer: (of: number, sequence: number, body: string | null) => void;
  readonly keepAccount: (...row: ReturnType<typeof accountRow>) => void;
  readonly keepShare: (...row: ReturnType<typeof shareRow>) => void;
  readonly keepMark: (incomplete: number) => void;
}
