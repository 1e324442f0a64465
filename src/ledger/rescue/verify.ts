import { answerHash, Broken, beginning, type Link, type Stored } from '../chain/chain.js';
import { type ChainFile, chainPath, openChainFile } from '../chain/file.js';
import { faultOfDisk } from '../faults.js';
import { emptyBooks, follow, stateHash } from '../index/accounts.js';
import { checkSchema } from '../index/schema.js';
import { type Connection, connect, inTurn, integer, text } from '../index/sqlite.js';
import { indexOn, linkIn } from '../index/tables.js';
import type { Verification } from '../ledger.js';
import { inChild } from './child.js';

export async function verifyInChild(place: string): Promise<Verification> {
  const { said } = inChild('verify', place);
  return said === undefined
    ? { ok: false, entries: 0, reason: 'reading it ends the process, or takes too long' }
    : (JSON.parse(said) as Verification);
}

/** Walks both copies of the chain in one read snapshot and rebuilds every total. A broken chain is a result, not an error; a disk that fails is one. */
export const verifyPlace = (place: string): Promise<Verification> =>
  inTurn(place, () => {
    const counted = { entries: 0 };
    let db: Connection | undefined;
    let chain: ChainFile | undefined;
    try {
      db = connect(place);
      chain = openChainFile(chainPath(place));
      checkSchema(db, place);
      db.exec('BEGIN');
      const sound = db.query("SELECT CAST(integrity_check AS BLOB) FROM pragma_integrity_check(1, 'book')").get();
      if (text(sound?.[0]) !== 'ok') throw new Broken('SQLite finds the file malformed');
      const head = walk(db, chain, counted);
      return { ok: true, entries: counted.entries, head };
    } catch (error) {
      if ((error as { rawCode?: number }).rawCode === 5) throw error;
      const disk = faultOfDisk(error, place);
      if (disk) throw disk;
      const reason = error instanceof Broken ? error.message : 'one of its files cannot be read to its end';
      const at = error instanceof Broken ? error.at : undefined;
      return { ok: false, entries: counted.entries, reason, ...(at !== undefined && { brokenAt: at }) };
    } finally {
      chain?.close();
      db?.close();
    }
  });

interface Spent {
  readonly population: string;
  readonly hash: string;
  answered?: { readonly by: number; readonly answer: string };
}

function walk(db: Connection, chain: ChainFile, counted: { entries: number }): string {
  const books = emptyBooks();
  const spends = new Map<number, Spent>();
  let head = beginning.hash;
  const lines = chain.linksFrom(beginning);
  const rows = db.query(`SELECT CAST(${oneText} AS BLOB) FROM book.link ORDER BY sequence`).iterate();
  let expected = 1;
  for (const [row] of rows) {
    const step = lines.next();
    if (step.done) throw new Broken(step.value.why ?? `the chain file ends before entry ${expected}`, expected);
    const { link, stored } = step.value;
    if (!(row instanceof Uint8Array) || !Buffer.from(textOf(link, stored), 'utf8').equals(row)) throw differing(db, step.value);
    follow(books, link);
    remember(spends, link, stored.hash);
    if (link.kind === 'spend') counted.entries++;
    head = stored.hash;
    expected++;
  }
  checkAccounts(db, books);
  checkAnswers(db, spends);
  // What another process is booking just now.
  let step = lines.next();
  while (!step.done) step = lines.next();
  if (step.value.kind === 'damaged' || step.value.kind === 'cut')
    throw new Broken(step.value.why ?? 'the chain file was cut', expected);
  return head;
}

/** A row of the index as one text, since every column that is handed over costs as much as hashing it; with lengths, so that only the same row has it. */
const filed = (column: string): string => `coalesce(length(CAST(${column} AS BLOB)) || ' ' || ${column}, '-')`;
const oneText = `sequence || ' ' || "offset" || ' ' || ${filed('population')} || ' ' || ${filed('key')} || ' ' || hash || ' ' || body`;
const filedAs = (name: string | null): string => (name === null ? '-' : `${Buffer.byteLength(name)} ${name}`);
const namesOf = (link: Link) => ({
  population: 'population' in link ? link.population : null,
  key: link.kind === 'spend' ? link.key : null,
});
function textOf(link: Link, { sequence, offset, hash, body }: Stored): string {
  const { population, key } = namesOf(link);
  return `${sequence} ${offset} ${filedAs(population)} ${filedAs(key)} ${hash} ${body}`;
}

/** What is wrong with the row that should be this link. */
function differing(db: Connection, { link, stored }: { readonly link: Link; readonly stored: Stored }): Broken {
  const { sequence } = stored;
  const row = db
    .query('SELECT CAST("offset" AS INTEGER), CAST(hash AS BLOB), CAST(body AS BLOB) FROM book.link WHERE sequence = ?')
    .get(sequence);
  if (!row) return new Broken(`entry ${sequence} is missing`, sequence);
  const [offset, hash, body] = row;
  if (text(hash) !== stored.hash || text(body) !== stored.body || integer(offset) !== stored.offset)
    return new Broken(`the two copies of entry ${sequence} differ`, sequence);
  return new Broken(`entry ${link.sequence} is filed under a wrong name`, sequence);
}

function remember(spends: Map<number, Spent>, link: Link, hash: string): void {
  if (link.kind === 'spend') spends.set(link.sequence, { population: link.population, hash });
  if (link.kind !== 'answer') return;
  const spent = spends.get(link.of);
  if (!spent || spent.population !== link.population || spent.answered)
    throw new Broken(`entry ${link.sequence} answers what was not asked, or was answered`, link.sequence);
  spent.answered = { by: link.sequence, answer: link.answer };
}

function checkAccounts(db: Connection, walked: ReturnType<typeof emptyBooks>): void {
  const index = indexOn(db);
  const last = index.last();
  const books = index.books(last && linkIn(last));
  if (books.incomplete() !== walked.incomplete() || books.states().size !== walked.accounts.size)
    throw new Broken('an account was added or removed behind the chain');
  for (const [population, state] of walked.accounts) {
    if (books.states().get(population) !== stateHash(state) || !books.account(population))
      throw new Broken(`the account "${population}" does not agree with its entries`);
    for (const analyst of state.shares.keys())
      if (books.share(population, analyst) !== walked.share(population, analyst))
        throw new Broken("an analyst's total does not agree with the entries");
  }
  const accounts = db
    .query('SELECT count(*) FROM book.analyst WHERE population NOT IN (SELECT population FROM book.account)')
    .get();
  if (accounts?.[0] !== 0) throw new Broken("an analyst's total does not agree with the entries");
}

function checkAnswers(db: Connection, spends: ReadonlyMap<number, Spent>): void {
  let rows = 0;
  for (const [of, sequence, body] of db
    .query('SELECT CAST(of AS INTEGER), CAST(sequence AS INTEGER), CAST(body AS BLOB) FROM book.answer ORDER BY of')
    .iterate()) {
    const spent = spends.get(integer(of));
    const fits = spent?.answered?.by === integer(sequence);
    if (!fits || (body !== null && answerHash(spent.hash, text(body)) !== spent.answered?.answer))
      throw new Broken(`the answer recorded for entry ${integer(of)} was changed`, integer(of));
    rows++;
  }
  if (rows !== [...spends.values()].filter((spent) => spent.answered).length)
    throw new Broken('an answer was removed behind the chain');
}
