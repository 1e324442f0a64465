import { answerHash, BrokenChain, beginning, endOf, linkAfter, type StoredLink } from '../chain/chain.js';
import { follow, MemoryBooks } from '../index/accounts.js';
import { decodeInteger, decodeText } from '../index/row.js';
import type { SqliteConnection } from '../index/sqlite.js';

/** A ledger from before the chain file (user_version 1), read in full; throws `BrokenChain` where it is inconsistent. */
export function* formerLinks(db: SqliteConnection): Generator<StoredLink, ReadonlyMap<number, string>> {
  const books = new MemoryBooks();
  const spends = new Map<number, string>();
  const heads = new Map<string, number>();
  let end = beginning;
  const rows = db
    .query(
      'SELECT CAST(sequence AS INTEGER), CAST(population AS BLOB), CAST(key AS BLOB), CAST(body AS BLOB), CAST(hash AS BLOB) FROM book.entry ORDER BY sequence',
    )
    .iterate();
  for (const [sequence, population, key, body, hash] of rows) {
    if (decodeInteger(sequence) !== end.sequence + 1)
      throw new BrokenChain(`entry ${end.sequence + 1} is missing`, end.sequence + 1);
    const { link, stored } = linkAfter(end, { hash: decodeText(hash), body: decodeText(body) });
    const filed = link.kind === 'spend' ? link.key : null;
    if (
      !('population' in link) ||
      link.population !== decodeText(population) ||
      filed !== (key === null ? null : decodeText(key))
    )
      throw new BrokenChain(`entry ${stored.sequence} is filed under a wrong name`, stored.sequence);
    follow(books, link);
    heads.set(link.population, stored.sequence);
    if (link.kind === 'spend') spends.set(stored.sequence, stored.hash);
    end = endOf(stored, link);
    yield stored;
  }
  const accounts = db
    .query(
      'SELECT CAST(population AS BLOB), CAST(digest AS BLOB), CAST(summary AS BLOB), CAST(totals AS BLOB), CAST(head AS INTEGER) FROM book.account',
    )
    .all();
  for (const [population, digest, summary, totals, head] of accounts) {
    const walked = books.accounts.get(decodeText(population));
    if (
      walked?.digest !== decodeText(digest) ||
      walked.summary !== decodeText(summary) ||
      walked.totals !== decodeText(totals) ||
      heads.get(decodeText(population)) !== decodeInteger(head)
    )
      throw new BrokenChain(`the account "${decodeText(population)}" does not agree with its entries`);
  }
  if (accounts.length !== books.accounts.size) throw new BrokenChain('an account was added or removed behind the chain');
  const shares = db.query('SELECT CAST(population AS BLOB), CAST(analyst AS BLOB), CAST(totals AS BLOB) FROM book.analyst').all();
  const nameOf = (population: string, analyst: string) => JSON.stringify([population, analyst]);
  const kept = new Map(shares.map(([of, analyst, totals]) => [nameOf(decodeText(of), decodeText(analyst)), decodeText(totals)]));
  const walked = books.shares();
  const agree = walked.every(({ population, analyst, totals }) => kept.get(nameOf(population, analyst)) === totals);
  if (!agree || shares.length !== walked.length) throw new BrokenChain("an analyst's total does not agree with the entries");
  return formerAnswers(db, spends);
}

function formerAnswers(db: SqliteConnection, spends: ReadonlyMap<number, string>): ReadonlyMap<number, string> {
  const answers = new Map<number, string>();
  const rows = db.query('SELECT CAST(sequence AS INTEGER), CAST(body AS BLOB), CAST(hash AS BLOB) FROM book.answer').iterate();
  for (const [sequence, body, hash] of rows) {
    const paid = spends.get(decodeInteger(sequence));
    if (paid === undefined || answerHash(paid, decodeText(body)) !== decodeText(hash))
      throw new BrokenChain(`the answer recorded for entry ${decodeInteger(sequence)} was changed`, decodeInteger(sequence));
    answers.set(decodeInteger(sequence), decodeText(body));
  }
  return answers;
}
