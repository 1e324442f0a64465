import type { SpendEntry } from '../../release/ledger/ledger.js';
import type { PrivacySession } from '../../release/session/session.js';
import { entriesOf, type LedgerEntry } from './ledger.js';

export interface EntryPage {
  /** Oldest first. */
  readonly entries: readonly LedgerEntry[];
  /** True if there are more entries in that direction. */
  readonly more: boolean;
  /** Sequence number to continue from, as `after` or `before`. */
  readonly next?: number;
}

export interface PageRequest {
  /** Page begins after this entry … */
  readonly after?: number | undefined;
  /** … or ends before this one. */
  readonly before?: number | undefined;
  readonly most: number;
  /** Entries of this analyst only. */
  readonly analyst?: string | undefined;
}

/** Most entries examined for one page: those of one analyst may lie far from each other, and nobody else should wait for them. */
const maxExamined = 2000;
const end = Number.MAX_SAFE_INTEGER;

/** One page of a ledger of any length. */
export async function entryPage(session: PrivacySession, { after, before, most, analyst }: PageRequest): Promise<EntryPage> {
  const backwards = before !== undefined;
  const found: SpendEntry[] = [];
  let at = backwards ? Math.min(before, end) : (after ?? 0);
  for (let looked = 0; ; ) {
    const size = Math.min(most + 1, maxExamined - looked);
    const read = await session.page(backwards ? { before: at, most: size } : { after: at, most: size });
    looked += read.length;
    for (const entry of backwards ? read.toReversed() : read) {
      const wanted = analyst === undefined || entry.analyst === analyst;
      if (wanted && found.length === most) return pageOf(session, found, backwards, at);
      if (wanted) found.push(entry);
      at = entry.sequence;
    }
    if (read.length < size) return pageOf(session, found, backwards);
    if (looked >= maxExamined) return pageOf(session, found, backwards, at);
  }
}

/** Continues from the last listed entry; a position among other analysts' entries appears only where no entry is listed. */
const pageOf = async (
  session: PrivacySession,
  found: readonly SpendEntry[],
  backwards: boolean,
  looked?: number,
): Promise<EntryPage> => ({
  entries: entriesOf(backwards ? found.toReversed() : found, session.account, await session.spent()),
  more: looked !== undefined,
  ...(looked !== undefined && { next: found.at(-1)?.sequence ?? looked }),
});
