import type Database from 'libsql';
import { fromStored, nothingSpent, type Spent } from '../dependence/profile.js';
import { type AccountState, answerHash, genesis, type Link, linkHash, stateHash } from './chain.js';
import type { Verification } from './ledger.js';
import { book, spentToText } from './total.js';

interface Walked {
  digest: string;
  summary: string;
  spent: Spent;
  head: number;
}
type Row = [sequence: number, population: string, key: string | null, body: string, hash: string];

class Broken extends Error {
  readonly at: number | undefined;
  constructor(reason: string, at?: number) {
    super(reason);
    this.at = at;
  }
}

/** Walks the whole chain in one read snapshot and rebuilds every total from the entries. A broken chain is a result, not an error. */
export function verifyChain(db: Database.Database): Verification {
  let entries = 0;
  try {
    db.exec('BEGIN');
    const sound = (db.prepare('PRAGMA quick_check(1)').raw().get() as [string])[0];
    if (sound !== 'ok') throw new Broken('the file itself is damaged');
    const accounts = new Map<string, Walked>();
    const analysts = new Map<string, Spent>();
    const spends = new Map<number, string>();
    let previous = genesis;
    let expected = 1;
    for (const row of db.prepare('SELECT sequence, population, key, body, hash FROM entry ORDER BY sequence').raw().iterate()) {
      const [sequence, population, key, body, hash] = row as Row;
      if (sequence !== expected) throw new Broken(`entry ${expected} is missing`, expected);
      if (linkHash(previous, body) !== hash) throw new Broken(`entry ${sequence} does not fit the chain`, sequence);
      const link = JSON.parse(body) as Link;
      if (link.sequence !== sequence || link.population !== population || (link.kind === 'spend' ? link.key : null) !== key)
        throw new Broken(`entry ${sequence} is filed under a wrong name`, sequence);
      const state = follow(accounts, link);
      if (link.after !== stateHash(state)) throw new Broken(`the totals after entry ${sequence} are wrong`, sequence);
      if (link.kind === 'spend') {
        entries++;
        spends.set(sequence, hash);
        const name = JSON.stringify([population, link.analyst]);
        analysts.set(name, book(analysts.get(name) ?? nothingSpent, fromStored(link.profile)));
      }
      previous = hash;
      expected++;
    }
    checkAccounts(db, accounts);
    checkAnalysts(db, analysts);
    checkAnswers(db, spends);
    return { ok: true, entries, head: previous };
  } catch (error) {
    if (!(error instanceof Broken) && (error as { rawCode?: number }).rawCode === 5) throw error;
    const reason = error instanceof Broken ? error.message : 'the file cannot be read to its end';
    const at = error instanceof Broken ? error.at : undefined;
    return { ok: false, entries, reason, ...(at !== undefined && { brokenAt: at }) };
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK');
  }
}

/** The account after the link, remembered. */
function follow(accounts: Map<string, Walked>, link: Link): AccountState {
  const known = accounts.get(link.population);
  if ((link.kind === 'open') !== (known === undefined))
    throw new Broken(
      `entry ${link.sequence} ${known ? 'opens an account twice' : 'belongs to an account that was never opened'}`,
      link.sequence,
    );
  const spent = known?.spent ?? nothingSpent;
  const next: Walked =
    link.kind === 'spend'
      ? { ...known!, spent: book(spent, fromStored(link.profile)), head: link.sequence }
      : { digest: link.digest, summary: link.summary, spent, head: link.sequence };
  accounts.set(link.population, next);
  return { digest: next.digest, summary: next.summary, totals: spentToText(next.spent) };
}

function checkAccounts(db: Database.Database, accounts: ReadonlyMap<string, Walked>): void {
  const rows = db.prepare('SELECT population, digest, summary, totals, head FROM account').raw().all() as [
    string,
    string,
    string,
    string,
    number,
  ][];
  if (rows.length !== accounts.size) throw new Broken('an account was added or removed behind the chain');
  for (const [population, digest, summary, totals, head] of rows) {
    const walked = accounts.get(population);
    const agrees =
      walked &&
      walked.digest === digest &&
      walked.summary === summary &&
      walked.head === head &&
      spentToText(walked.spent) === totals;
    if (!agrees) throw new Broken(`the account "${population}" does not agree with its entries`);
  }
}

function checkAnalysts(db: Database.Database, analysts: ReadonlyMap<string, Spent>): void {
  const rows = db.prepare('SELECT population, analyst, totals FROM analyst').raw().all() as [string, string, string][];
  const agrees = rows.every(([population, analyst, totals]) => {
    const spent = analysts.get(JSON.stringify([population, analyst]));
    return spent && spentToText(spent) === totals;
  });
  if (!agrees || rows.length !== analysts.size) throw new Broken("an analyst's total does not agree with the entries");
}

function checkAnswers(db: Database.Database, spends: ReadonlyMap<number, string>): void {
  for (const row of db.prepare('SELECT sequence, body, hash FROM answer ORDER BY sequence').raw().iterate()) {
    const [sequence, body, hash] = row as [number, string, string];
    const paid = spends.get(sequence);
    if (paid === undefined || answerHash(paid, body) !== hash)
      throw new Broken(`the answer recorded for entry ${sequence} was changed`, sequence);
  }
}
