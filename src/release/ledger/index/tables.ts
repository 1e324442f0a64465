import { sha256 } from '../../../base/platform/hash.js';
import { answerHash, BrokenChain, filedUnder, type Link, type StoredLink } from '../chain/chain.js';
import type { EntryRange } from '../ledger.js';
import { IndexBooks } from './books.js';
import type { IndexQueries } from './index-queries.js';
import { decodeInteger, decodeText, type IndexRow, linkIn } from './row.js';

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
  readonly page: (population: string, page: EntryRange) => readonly IndexedSpend[];
  readonly keyed: (population: string, prefix: string) => readonly IndexedSpend[];
}
export interface IndexedSpend {
  readonly stored: StoredLink;
  readonly answered: 'no' | 'kept' | 'lost';
}

const stored = ([sequence, offset, hash, body]: IndexRow): StoredLink => ({
  sequence: decodeInteger(sequence),
  offset: decodeInteger(offset),
  hash: decodeText(hash),
  body: decodeText(body),
});
export function indexOf(queries: IndexQueries): LedgerIndex {
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
    books: (last) => new IndexBooks(queries, last),
    keepLink: (link, { sequence, offset, hash, body }, answer) => {
      const { population, key } = filedUnder(link);
      queries.keepLink(sequence, offset, population, key, hash, body);
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
  return {
    stored: { sequence, offset: decodeInteger(offset), hash, body: decodeText(row.subarray(129)) },
    answered: (['no', 'lost', 'kept'] as const)[decodeInteger(answered)] ?? 'lost',
  };
}

/** By their second column. */
const inOrder = (rows: readonly IndexRow[]): IndexRow[] => rows.toSorted((a, b) => decodeInteger(a[1]) - decodeInteger(b[1]));

/** The recorded text, if it is the one that the answer link pins. */
function bound(answer: string, of: number, entryHash: string, answerLink: string): string {
  const link = linkIn({ body: answerLink });
  if (link.kind !== 'answer' || link.of !== of || link.answer !== answerHash(entryHash, answer))
    throw new BrokenChain(`the answer recorded for entry ${of} was changed`, of);
  return answer;
}
