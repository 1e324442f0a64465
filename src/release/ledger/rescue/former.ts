import { answerHash, Broken, beginning, endOf, linkAfter, type Stored } from '../chain/chain.js';
import { emptyBooks, follow } from '../index/accounts.js';
import { integer, text } from '../index/row.js';
import type { Connection } from '../index/sqlite.js';

/** A ledger from before the chain file (user_version 1), read in full; throws `BrokenChain` where it is inconsistent. */
export function* formerLinks(db: Connection): Generator<Stored, ReadonlyMap<number, string>> {
  const books = emptyBooks();
  const spends = new Map<number, string>();
  const heads = new Map<string, number>();
  let end = beginning;
  const rows = db
    .query(
      'SELECT CAST(sequence AS INTEGER), CAST(population AS BLOB), CAST(key AS BLOB), CAST(body AS BLOB), CAST(hash AS BLOB) FROM book.entry ORDER BY sequence',
    )
    .iterate();
  for (const [sequence, population, key, body, hash] of rows) {
    if (integer(sequence) !== end.sequence + 1) throw new Broken(`entry ${end.sequence + 1} is missing`, end.sequence + 1);
    const { link, stored } = linkAfter(end, { hash: text(hash), body: text(body) });
    const filed = link.kind === 'spend' ? link.key : null;
    if (!('population' in link) || link.population !== text(population) || filed !== (key === null ? null : text(key)))
      throw new Broken(`entry ${stored.sequence} is filed under a wrong name`, stored.sequence);
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
    const walked = books.accounts.get(text(population));
    if (
      walked?.digest !== text(digest) ||
      walked.summary !== text(summary) ||
      walked.totals !== text(totals) ||
      heads.get(text(population)) !== integer(head)
    )
      throw new Broken(`the account "${text(population)}" does not agree with its entries`);
  }
  if (accounts.length !== books.accounts.size) throw new Broken('an account was added or removed behind the chain');
  const shares = db.query('SELECT CAST(population AS BLOB), CAST(analyst AS BLOB), CAST(totals AS BLOB) FROM book.analyst').all();
  const agree = shares.every(
    ([population, analyst, totals]) => books.totals.get(JSON.stringify([text(population), text(analyst)])) === text(totals),
  );
  if (!agree || shares.length !== books.totals.size) throw new Broken("an analyst's total does not agree with the entries");
  return formerAnswers(db, spends);
}

function formerAnswers(db: Connection, spends: ReadonlyMap<number, string>): ReadonlyMap<number, string> {
  const answers = new Map<number, string>();
  const rows = db.query('SELECT CAST(sequence AS INTEGER), CAST(body AS BLOB), CAST(hash AS BLOB) FROM book.answer').iterate();
  for (const [sequence, body, hash] of rows) {
    const paid = spends.get(integer(sequence));
    if (paid === undefined || answerHash(paid, text(body)) !== text(hash))
      throw new Broken(`the answer recorded for entry ${integer(sequence)} was changed`, integer(sequence));
    answers.set(integer(sequence), text(body));
  }
  return answers;
}
