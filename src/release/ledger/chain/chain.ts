import { sha256 } from '../../../base/platform/hash.js';
import type { StoredCost } from '../../../privacy/mechanism/privacy-cost.js';

/**
 * The ledger is one chain of links over all populations. Each hash covers the body and the hash before it, so no link can be
 * changed, removed or moved without changing all later hashes. `after` pins the account after the link, `root` all accounts.
 */
export type Link = OpenLink | SpendLink | AmendLink | AnswerLink | RecoverLink | UpgradeLink;
interface LinkBase {
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Absent in links written before there was a chain file, as is `since`. */
  readonly root?: string;
  /** The last link before it that is no answer: it and all before it were durable when this link was written. */
  readonly since?: number;
}
interface AccountLink extends LinkBase {
  readonly population: string;
  readonly after: string;
}
export interface OpenLink extends AccountLink {
  readonly kind: 'open';
  readonly digest: string;
  readonly summary: string;
  /** Reason to open it although an account of this name may have been lost, or its data has another one. */
  readonly reason?: string;
}
export interface SpendLink extends AccountLink {
  readonly kind: 'spend';
  readonly analyst: string;
  /** Name that the analyst goes by. */
  readonly as?: string;
  readonly key: string;
  readonly label: string;
  readonly profile: StoredCost;
  /** Absent when empty. */
  readonly relied?: readonly string[];
  /** Terms it was reserved under, if it may be resumed until it is answered. */
  readonly resumable?: string;
  /** Boot of the machine it was reserved under, if it may be resumed only under that (store.ts). */
  readonly boot?: string;
}
export interface AmendLink extends AccountLink {
  readonly kind: 'amend';
  readonly digest: string;
  readonly summary: string;
  readonly reason: string;
}
/** Written before the answer is given out: without one it never was, unless the machine crashed since. */
export interface AnswerLink extends AccountLink {
  readonly kind: 'answer';
  readonly of: number;
  readonly answer: string;
}
/** Entries before it may be missing: the accounts it names are closed, and no account is opened without a reason. */
export interface RecoverLink extends LinkBase {
  readonly kind: 'recover';
  readonly reason: string;
  readonly incomplete: boolean;
  readonly closes: readonly string[];
}
/** The first link that pins all accounts, in a ledger that is older than the chain file. */
export interface UpgradeLink extends LinkBase {
  readonly kind: 'upgrade';
}

const genesis: string = sha256('fugu ledger 1');
export const linkHash = (previous: string, body: string): string => sha256(`${previous}\n${body}`);
/** An answer is bound to the entry that paid for it. */
export const answerHash = (entryHash: string, answer: string): string => sha256(`${entryHash}\n${answer}`);

/** The population and the key that a link is filed under. */
export const filedUnder = (link: Link): { readonly population: string | null; readonly key: string | null } => ({
  population: 'population' in link ? link.population : null,
  key: link.kind === 'spend' ? link.key : null,
});

/** A link as both copies hold it. */
export interface StoredLink {
  readonly sequence: number;
  /** Offset of its line in the chain file. */
  readonly offset: number;
  readonly hash: string;
  readonly body: string;
}
/** Bytes of a link's line, memoized for the last link: the line that one reservation writes is compared by the next. */
export function lineOf(link: Pick<StoredLink, 'hash' | 'body'>): Buffer {
  if (latest?.link === link) return latest.line;
  const line = Buffer.from(`${link.hash} ${link.body}\n`, 'utf8');
  latest = { link, line };
  return line;
}
let latest: { readonly link: Pick<StoredLink, 'hash' | 'body'>; readonly line: Buffer } | undefined;

export interface ChainEnd {
  readonly sequence: number;
  /** The last link that is no answer. */
  readonly since: number;
  readonly hash: string;
  /** Offset of the next line. */
  readonly offset: number;
}
export const beginning: ChainEnd = { sequence: 0, since: 0, hash: genesis, offset: 0 };
export const endOf = (
  { sequence, offset, hash, body }: StoredLink,
  { kind, since = 0 }: Pick<Link, 'kind' | 'since'>,
): ChainEnd => ({
  sequence,
  since: kind === 'answer' ? since : sequence,
  hash,
  // Length of a line: a hash, a space, the body and a newline.
  offset: offset + 66 + Buffer.byteLength(body),
});

/** A link or line does not fit the chain; `at` is the first link that does not. */
export class BrokenChain extends Error {
  readonly at: number | undefined;
  constructor(reason: string, at?: number) {
    super(reason);
    this.at = at;
  }
}

/** The link in a line that is to follow `end`. */
export function linkAfter(end: ChainEnd, { hash, body }: Pick<StoredLink, 'hash' | 'body'>): { link: Link; stored: StoredLink } {
  const sequence = end.sequence + 1;
  if (linkHash(end.hash, body) !== hash) throw new BrokenChain(`entry ${sequence} does not fit the chain`, sequence);
  const link = JSON.parse(body) as Link;
  if (link.sequence !== sequence) throw new BrokenChain(`entry ${sequence} is numbered ${link.sequence}`, sequence);
  if (link.root !== undefined && link.since !== end.since)
    throw new BrokenChain(`entry ${sequence} does not know what was before it`, sequence);
  return { link, stored: { sequence, offset: end.offset, hash, body } };
}
