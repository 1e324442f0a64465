import { BrokenChain, beginning, endOf, linkAfter, type StoredLink } from '../chain/chain.js';
import { faultOfDisk } from '../faults.js';
import { decodeInteger, decodeText } from '../index/row.js';
import { formatOf } from '../index/schema.js';
import { connect, type SqliteConnection } from '../index/sqlite.js';
import { boundAnswers, writeCopy } from './copy.js';
import { formerLinks } from './former.js';

export interface Salvaged {
  readonly format: 'none' | 'former' | 'present' | 'unknown';
  /** True if everything was read and consistent. */
  readonly sound: boolean;
  /** Highest link number found. */
  readonly highest: number;
  /** Number of recorded texts that the chain does not pin, and that were left out. */
  readonly unmatchedAnswers: number;
  readonly why?: string;
}

/** Copies the sound part of a ledger's index; runs in a child process. */
export function salvage(place: string, out: string): Salvaged {
  let db: SqliteConnection;
  try {
    db = connect(place);
  } catch (error) {
    unlessDisk(error, place);
    writeCopy(out, [], []);
    return { format: 'unknown', sound: false, highest: 0, unmatchedAnswers: 0, why: reason(error) };
  }
  let format: Salvaged['format'] = 'unknown';
  const found: { answers: ReadonlyMap<number, string>; why?: string } = { answers: new Map() };
  try {
    db.exec('BEGIN');
    format = formatOf(db, place);
  } catch (error) {
    unlessDisk(error, place);
    found.why = reason(error);
  }
  const links: StoredLink[] = [];
  try {
    if (format === 'former') {
      const walk = formerLinks(db);
      let step = walk.next();
      for (; !step.done; step = walk.next()) links.push(step.value);
      found.answers = step.value;
    } else for (const link of presentLinks(db)) links.push(link);
  } catch (error) {
    unlessDisk(error, place);
    found.why ??= reason(error);
  }
  const read = format === 'former' ? found.answers : presentAnswers(db, place);
  const answers = format === 'former' ? read : boundAnswers(links, read);
  writeCopy(out, links, answers);
  const sound = format !== 'unknown' && found.why === undefined;
  const unmatchedAnswers = read.size - answers.size;
  return { format, sound, highest: highest(db, format), unmatchedAnswers, ...(found.why !== undefined && { why: found.why }) };
}

/** Data that the disk failed to return may still be there: nothing is rebuilt without it. */
function unlessDisk(error: unknown, place: string): void {
  const fault = faultOfDisk(error, place);
  if (fault) throw fault;
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function* presentLinks(db: SqliteConnection): Generator<StoredLink> {
  let end = beginning;
  const rows = db
    .query('SELECT CAST(sequence AS INTEGER), CAST(hash AS BLOB), CAST(body AS BLOB) FROM book.link ORDER BY sequence')
    .iterate();
  for (const [sequence, hash, body] of rows) {
    if (decodeInteger(sequence) !== end.sequence + 1) throw new BrokenChain(`entry ${end.sequence + 1} is missing`);
    const { link, stored } = linkAfter(end, { hash: decodeText(hash), body: decodeText(body) });
    end = endOf(stored, link);
    yield stored;
  }
}

function presentAnswers(db: SqliteConnection, place: string): ReadonlyMap<number, string> {
  const answers = new Map<number, string>();
  try {
    for (const [of, body] of db
      .query('SELECT CAST(of AS INTEGER), CAST(body AS BLOB) FROM book.answer WHERE body IS NOT NULL')
      .iterate())
      answers.set(decodeInteger(of), decodeText(body));
  } catch (error) {
    // Texts read so far still count, if the chain refers to them.
    unlessDisk(error, place);
  }
  return answers;
}

function highest(db: SqliteConnection, format: Salvaged['format']): number {
  try {
    const table = format === 'former' ? 'entry' : 'link';
    return decodeInteger(db.query(`SELECT coalesce(max(CAST(sequence AS INTEGER)), 0) FROM book.${table}`).get()?.[0]);
  } catch {
    return 0;
  }
}
