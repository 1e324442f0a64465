import { BrokenChain, beginning, type ChainEnd, endOf, type Link, lineOf, linkAfter, type StoredLink } from '../chain/chain.js';
import type { LedgerChainFile } from '../chain/file.js';
import { sectorsOf } from '../chain/lines.js';
import { follow, MemoryBooks } from '../index/accounts.js';
import { linkIn } from '../index/row.js';
import type { LedgerIndex } from '../index/tables.js';

/**
 * Answer lines are not synced on their own: after a crash the index may have some that the chain file lost. Writing them again
 * gives nothing back, as an answer only closes its entry. Any other link must be in the chain file.
 */
export function mend(index: LedgerIndex, chain: LedgerChainFile): void {
  const last = index.last();
  const link = last && linkIn(last);
  if (link?.kind !== 'answer' || link.since === undefined) return;
  const answers = index.linksAfter(link.since);
  const from = answers[0]!.offset;
  const lines = Buffer.concat(answers.map(lineOf));
  const found = chain.read(from, lines.length);
  if (found.equals(lines)) return;
  if (!lostOnly(found, lines, from)) throw new BrokenChain(`its two files differ at entry ${link.since + 1} or later`);
  checkAnswers(chain, answers, link.since);
  chain.write(from, lines);
  chain.sync();
}

/** Every sector is as it was written, or as it was at an earlier time: its end is still zero. */
function lostOnly(found: Buffer, lines: Buffer, from: number): boolean {
  return (
    found.length === lines.length &&
    sectorsOf(from, lines.length).every(([start, stop]) => {
      const sector = found.subarray(start, stop);
      const kept = sector.findLastIndex((byte) => byte !== 0) + 1;
      return sector.subarray(0, kept).equals(lines.subarray(start, start + kept));
    })
  );
}

/** Only answers may follow the chain file, and the accounts they pin are computed from its beginning. */
function checkAnswers(chain: LedgerChainFile, answers: readonly StoredLink[], since: number): void {
  const books = new MemoryBooks();
  let end: ChainEnd = beginning;
  for (const { link, stored } of chain.linksFrom(beginning)) {
    if (link.sequence > since) break;
    follow(books, link);
    end = endOf(stored, link);
  }
  if (end.sequence !== since) throw new BrokenChain(`its two files differ at entry ${end.sequence + 1}`);
  for (const answer of answers) {
    const { link, stored } = linkAfter(end, answer) as { link: Link; stored: StoredLink };
    if (link.kind !== 'answer' || stored.offset !== answer.offset)
      throw new BrokenChain(`its two files differ at entry ${link.sequence}`);
    follow(books, link);
    end = endOf(stored, link);
  }
}
