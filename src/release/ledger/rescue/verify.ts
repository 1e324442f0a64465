import { BrokenChain, beginning, filedUnder, type Link, type StoredLink } from '../chain/chain.js';
import { chainPath, type LedgerChainFile, openChainFile } from '../chain/file.js';
import { faultOfDisk } from '../faults.js';
import { decodeInteger, decodeText, linkIn } from '../index/row.js';
import { checkSchema } from '../index/schema.js';
import { connect, inTurn, type SqliteConnection } from '../index/sqlite.js';
import { indexOn } from '../index/sqlite-rows.js';
import type { Verification } from '../ledger.js';
import { ChainWalk } from './chain-walk.js';
import { inChild } from './child.js';

export async function verifyInChild(place: string): Promise<Verification> {
  const { output } = inChild('verify', place);
  return output === undefined
    ? { ok: false, entries: 0, reason: 'reading it ends the process, or takes too long' }
    : (JSON.parse(output) as Verification);
}

/** Rebuilds every total from both copies in one snapshot. A broken chain is a result; a disk fault is an error. */
export const verifyPlace = (place: string): Promise<Verification> =>
  inTurn(place, () => {
    const walk = new ChainWalk();
    let db: SqliteConnection | undefined;
    let chain: LedgerChainFile | undefined;
    try {
      db = connect(place);
      chain = openChainFile(chainPath(place));
      checkSchema(db, place);
      db.exec('BEGIN');
      const sound = db.query("SELECT CAST(integrity_check AS BLOB) FROM pragma_integrity_check(1, 'book')").get();
      if (decodeText(sound?.[0]) !== 'ok') throw new BrokenChain('SQLite finds the file malformed');
      walkBoth(db, chain, walk);
      return { ok: true, entries: walk.entries, head: walk.end.hash };
    } catch (error) {
      if ((error as { rawCode?: number }).rawCode === 5) throw error;
      const disk = faultOfDisk(error, place);
      if (disk) throw disk;
      const reason = error instanceof BrokenChain ? error.message : 'one of its files cannot be read to its end';
      const at = error instanceof BrokenChain ? error.at : undefined;
      return { ok: false, entries: walk.entries, reason, ...(at !== undefined && { brokenAt: at }) };
    } finally {
      chain?.close();
      db?.close();
    }
  });

function walkBoth(db: SqliteConnection, chain: LedgerChainFile, walk: ChainWalk): void {
  const lines = chain.linksFrom(beginning);
  const rows = db.query(`SELECT CAST(${oneText} AS BLOB) FROM book.link ORDER BY sequence`).iterate();
  for (const [row] of rows) {
    const step = lines.next();
    const expected = walk.end.sequence + 1;
    if (step.done) throw new BrokenChain(step.value.why ?? `the chain file ends before entry ${expected}`, expected);
    const { link, stored } = step.value;
    if (!(row instanceof Uint8Array) || !Buffer.from(textOf(link, stored), 'utf8').equals(row)) throw differing(db, step.value);
    walk.take(step.value);
  }
  const index = indexOn(db);
  const last = index.last();
  const orphans = db
    .query('SELECT count(*) FROM book.analyst WHERE population NOT IN (SELECT population FROM book.account)')
    .get();
  walk.accounts(index.books(last && linkIn(last)), decodeInteger(orphans?.[0]));
  for (const [of, sequence, body] of db
    .query('SELECT CAST(of AS INTEGER), CAST(sequence AS INTEGER), CAST(body AS BLOB) FROM book.answer ORDER BY of')
    .iterate())
    walk.text(decodeInteger(of), decodeInteger(sequence), body === null ? null : decodeText(body));
  walk.textsEnd();
  // Lines that another process is adding now.
  let step = lines.next();
  while (!step.done) step = lines.next();
  if (step.value.kind === 'damaged' || step.value.kind === 'cut')
    throw new BrokenChain(step.value.why ?? 'the chain file was cut', walk.end.sequence + 1);
}

/** A row of the index as one text, because each column costs as much as hashing it; with lengths, so that the text is unique. */
const filed = (column: string): string => `coalesce(length(CAST(${column} AS BLOB)) || ' ' || ${column}, '-')`;
const oneText = `sequence || ' ' || "offset" || ' ' || ${filed('population')} || ' ' || ${filed('key')} || ' ' || hash || ' ' || body`;
const filedAs = (name: string | null): string => (name === null ? '-' : `${Buffer.byteLength(name)} ${name}`);
function textOf(link: Link, { sequence, offset, hash, body }: StoredLink): string {
  const { population, key } = filedUnder(link);
  return `${sequence} ${offset} ${filedAs(population)} ${filedAs(key)} ${hash} ${body}`;
}

/** Difference between this link and the row that should hold it. */
function differing(db: SqliteConnection, { link, stored }: { readonly link: Link; readonly stored: StoredLink }): BrokenChain {
  const { sequence } = stored;
  const row = db
    .query('SELECT CAST("offset" AS INTEGER), CAST(hash AS BLOB), CAST(body AS BLOB) FROM book.link WHERE sequence = ?')
    .get(sequence);
  if (!row) return new BrokenChain(`entry ${sequence} is missing`, sequence);
  const [offset, hash, body] = row;
  if (decodeText(hash) !== stored.hash || decodeText(body) !== stored.body || decodeInteger(offset) !== stored.offset)
    return new BrokenChain(`the two copies of entry ${sequence} differ`, sequence);
  return new BrokenChain(`entry ${link.sequence} is filed under a wrong name`, sequence);
}
