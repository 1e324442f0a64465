import { createHash } from 'node:crypto';
import type { StoredProfile } from '../dependence/profile.js';

/**
 * The ledger is one chain of links over all populations. A link's body is the exact text that is hashed together with the hash before it, so no
 * link can be changed, removed or moved without every later hash changing. `after` pins the account (terms and totals) as it stood after the link.
 */
export type Link = OpenLink | SpendLink | AmendLink;
interface LinkBase {
  readonly sequence: number;
  readonly population: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly after: string;
}
export interface OpenLink extends LinkBase {
  readonly kind: 'open';
  readonly digest: string;
  readonly summary: string;
}
export interface SpendLink extends LinkBase {
  readonly kind: 'spend';
  readonly analyst: string;
  readonly key: string;
  readonly label: string;
  readonly profile: StoredProfile;
  /** Absent when nothing was. */
  readonly relied?: readonly string[];
}
export interface AmendLink extends LinkBase {
  readonly kind: 'amend';
  readonly digest: string;
  readonly summary: string;
  readonly reason: string;
}

/** The account as a link leaves it; `totals` is the text of what was spent. */
export interface AccountState {
  readonly digest: string;
  readonly summary: string;
  readonly totals: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

export const genesis: string = sha256('fugu ledger 1');
export const linkHash = (previous: string, body: string): string => sha256(`${previous}\n${body}`);
/** An answer is bound to the entry that paid for it. */
export const answerHash = (entryHash: string, answer: string): string => sha256(`${entryHash}\n${answer}`);
export const stateHash = ({ digest, summary, totals }: AccountState): string => sha256(JSON.stringify([digest, summary, totals]));
