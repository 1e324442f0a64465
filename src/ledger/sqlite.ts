import type Database from 'libsql';
import { fromStored, nothingSpent, toStored } from '../dependence/profile.js';
import { Fault } from '../errors.js';
import {
  type AccountState,
  type AmendLink,
  answerHash,
  genesis,
  type Link,
  linkHash,
  type OpenLink,
  type SpendLink,
  stateHash,
} from './chain.js';
import type { Account, AccountTerms, Entry, Ledger, Reservation } from './ledger.js';
import { asFault, corrupt, exclusively, inTurn, openBeside, openFile } from './sqlite-file.js';
import { verifyChain } from './sqlite-verify.js';
import { book, emptyText, spentFromText, spentToText } from './total.js';

interface Stored {
  readonly sequence: number;
  readonly body: string;
  readonly hash: string;
}
/** A link with the hash that the chain has before it; null when that link is gone. */
interface Placed extends Stored {
  readonly before: string | null;
}
interface AccountRow extends AccountState {
  /** Sequence of the account's latest link, whose `after` pins this row. */
  readonly head: number;
  readonly pin: Placed | undefined;
}
type Unlinked =
  | Omit<OpenLink, 'sequence' | 'after'>
  | Omit<SpendLink, 'sequence' | 'after'>
  | Omit<AmendLink, 'sequence' | 'after'>;

export async function openSqliteLedger(place: string): Promise<Ledger> {
  const db = await openFile(place);
  return ledgerOn(db, await openBeside(db, place), place);
}

const placed = `e.sequence, e.body, e.hash, (SELECT p.hash FROM entry p WHERE p.sequence = e.sequence - 1)`;
const asPlaced = ([sequence, body, hash, before]: readonly unknown[]): Placed => ({
  sequence: sequence as number,
  body: body as string,
  hash: hash as string,
  before: sequence === 1 ? genesis : (before as string | null),
});

function statements(db: Database.Database) {
  const one = <Row>(sql: string, shape: (row: never[]) => Row) => {
    const statement = db.prepare(sql).raw();
    return (...values: unknown[]): Row | undefined => {
      const row = statement.get(...values) as never[] | undefined;
      return row && shape(row);
    };
  };
  return {
    last: one(`SELECT ${placed} FROM entry e ORDER BY e.sequence DESC LIMIT 1`, asPlaced),
    account: one(
      `SELECT digest, summary, totals, head, ${placed} FROM account LEFT JOIN entry e ON e.sequence = head WHERE account.population = ?`,
      ([digest, summary, totals, head, ...pin]): AccountRow => ({
        digest,
        summary,
        totals,
        head,
        pin: pin[0] === null ? undefined : asPlaced(pin),
      }),
    ),
    analyst: one('SELECT totals FROM analyst WHERE population = ? AND analyst = ?', ([totals]): string => totals),
    answered: one(
      `SELECT e.sequence, e.body, e.hash, a.body, a.hash FROM entry e JOIN answer a USING (sequence)
       WHERE e.key = ? AND e.population = ? ORDER BY e.sequence DESC LIMIT 1`,
      ([sequence, body, hash, answer, bound]) => ({
        entry: { sequence, body, hash } as Stored,
        answer: answer as string,
        bound: bound as string,
      }),
    ),
    populations: db.prepare('SELECT population FROM account ORDER BY population').raw(),
    entries: db
      .prepare(
        `SELECT e.sequence, e.body, e.hash, a.sequence IS NOT NULL FROM entry e LEFT JOIN answer a USING (sequence)
         WHERE e.population = ? AND e.key IS NOT NULL ORDER BY e.sequence`,
      )
      .raw(),
    append: db.prepare('INSERT INTO entry (sequence, population, key, body, hash) VALUES (?, ?, ?, ?, ?)'),
    keepAccount: db.prepare('INSERT OR REPLACE INTO account (population, digest, summary, totals, head) VALUES (?, ?, ?, ?, ?)'),
    keepAnalyst: db.prepare('INSERT OR REPLACE INTO analyst (population, analyst, totals) VALUES (?, ?, ?)'),
  };
}

/** `beside` records answers: a reservation is what must never be lost, an answer only saves paying for it again. */
function ledgerOn(db: Database.Database, beside: Database.Database, place: string): Ledger {
  const sql = statements(db);
  const hashOf = beside.prepare('SELECT hash FROM entry WHERE sequence = ?').raw();
  const keepAnswer = beside.prepare(
    `INSERT OR IGNORE INTO answer (sequence, body, hash) SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM entry WHERE sequence = ? AND hash = ?)`,
  );

  const checkFits = ({ sequence, body, hash, before }: Placed): void => {
    if (before === null || linkHash(before, body) !== hash) throw corrupt(place, `entry ${sequence} does not fit the chain`);
  };

  /** The row that was last written, or found to be as the chain pins it: the same row need not be hashed again. */
  let sound = '';
  const rowText = (population: string, { digest, summary, totals, head, pin }: AccountRow): string =>
    JSON.stringify([population, digest, summary, totals, head, pin?.sequence, pin?.body, pin?.hash, pin?.before]);

  /** The account as last pinned by the chain: an account row changed behind the ledger's back is refused before anything is booked. */
  const pinnedAccount = (population: string): AccountRow | undefined => {
    const row = sql.account(population);
    if (!row) return undefined;
    const text = rowText(population, row);
    if (text === sound) return row;
    if (!row.pin) throw corrupt(place, `entry ${row.head} is missing`);
    checkFits(row.pin);
    const link = JSON.parse(row.pin.body) as Link;
    if (link.population !== population || link.after !== stateHash(row))
      throw corrupt(place, `the account "${population}" does not agree with entry ${row.head}`);
    sound = text;
    return row;
  };

  const append = (link: Unlinked, state: AccountState): Stored => {
    const last = sql.last();
    if (last) checkFits(last);
    const sequence = (last?.sequence ?? 0) + 1;
    const body = JSON.stringify({ ...link, sequence, after: stateHash(state) });
    const before = last?.hash ?? genesis;
    const hash = linkHash(before, body);
    sql.append.run(sequence, link.population, link.kind === 'spend' ? link.key : null, body, hash);
    sql.keepAccount.run(link.population, state.digest, state.summary, state.totals, sequence);
    sound = rowText(link.population, { ...state, head: sequence, pin: { sequence, body, hash, before } });
    return { sequence, body, hash };
  };

  const openAccount = (population: string, { digest, summary }: AccountTerms, at: number): AccountState => {
    const state = { digest, summary, totals: emptyText };
    append({ kind: 'open', population, at, digest, summary }, state);
    return state;
  };

  /** The account under these terms, or none where one may be opened. */
  const accountUnder = ({ population, terms, opening }: Pick<Reservation, 'population' | 'terms' | 'opening'>) => {
    const known = pinnedAccount(population);
    if (!known) opening?.((sql.populations.all() as [string][]).map(([other]) => other));
    if (known && known.digest !== terms.digest) throw otherTerms(population, known, terms, place);
    return known;
  };

  const bookReservation = (reservation: Reservation): Entry => {
    const { population, terms, analyst, key, label, profile, relied = [], admit, opening } = reservation;
    const at = Date.now();
    const known = accountUnder({ population, terms, ...(opening && { opening }) });
    const before = known ? spentFromText(known.totals) : nothingSpent;
    const after = book(before, profile);
    const byAnalyst = book(spentFromText(sql.analyst(population, analyst) ?? emptyText), profile);
    admit(after, before, byAnalyst);
    const { digest, summary } = known ?? openAccount(population, terms, at);
    const booked = { population, at, analyst, key, label, profile: toStored(profile), ...(relied.length > 0 && { relied }) };
    const link = { kind: 'spend', ...booked } as const;
    const { sequence, hash } = append(link, { digest, summary, totals: spentToText(after) });
    sql.keepAnalyst.run(population, analyst, spentToText(byAnalyst));
    return { sequence, population, analyst, key, label, profile, relied, at, settled: false, hash };
  };

  const entriesOf = (population: string): readonly Entry[] =>
    (sql.entries.all(population) as [number, string, string, number][]).map(([sequence, body, hash, settled]) =>
      toEntry({ sequence, body, hash }, settled === 1),
    );
  const accountOf = (population: string, { digest, summary, totals }: AccountState): Account => ({
    population,
    terms: { digest, summary },
    spent: spentFromText(totals),
  });

  const read = <T>(work: () => T): Promise<T> => inTurn(place, work);
  const write = <T>(work: () => T): Promise<T> => inTurn(place, () => exclusively(db, work));

  return {
    reserve: (reservation) => write(() => bookReservation(reservation)),
    settle: (entry, answer) =>
      inTurn(place, () => {
        const { sequence, hash } = entry;
        const { changes } = keepAnswer.run(sequence, answer, answerHash(hash, answer), sequence, hash);
        // Nothing to do when it was answered before.
        if (changes === 0 && (hashOf.get(sequence) as [string] | undefined)?.[0] !== hash)
          throw corrupt(place, `entry ${sequence} is not the one that was reserved`);
        return answer;
      }),
    replay: (population, key) =>
      read(() => {
        const found = sql.answered(key, population);
        if (!found) return undefined;
        if (answerHash(found.entry.hash, found.answer) !== found.bound)
          throw corrupt(place, `the answer recorded for entry ${found.entry.sequence} was changed`);
        return { entry: toEntry(found.entry, true), answer: found.answer };
      }),
    spent: (population, analyst) =>
      read(() => {
        const totals = analyst === undefined ? pinnedAccount(population)?.totals : sql.analyst(population, analyst);
        return spentFromText(totals ?? emptyText);
      }),
    standing: (asked) => read(() => spentFromText(accountUnder(asked)?.totals ?? emptyText)),
    account: (population) =>
      read((): Account | undefined => {
        const row = pinnedAccount(population);
        return row && accountOf(population, row);
      }),
    entries: (population) => read(() => entriesOf(population)),
    verify: () => read(() => verifyChain(db)),
    amend: (population, terms, reason, allow) =>
      write(() => {
        const known = pinnedAccount(population);
        if (!known)
          throw new Fault(
            'LEDGER_MISMATCH',
            `The ledger has no account for "${population}" yet.`,
            'There is nothing to amend: the first release opens the account with the terms of its policy.',
            { place: { file: place } },
          );
        allow?.(accountOf(population, known), entriesOf(population));
        const { digest, summary } = terms;
        append({ kind: 'amend', population, at: Date.now(), digest, summary, reason }, { digest, summary, totals: known.totals });
      }),
    close: async () => {
      try {
        if (beside !== db) beside.close();
        // Moves everything into the main file, so that copying it is a backup; harmless when another process is still writing.
        db.pragma('wal_checkpoint(TRUNCATE)');
        db.close();
      } catch (error) {
        throw asFault(error, place);
      }
    },
  };
}

function toEntry({ sequence, body, hash }: Stored, settled: boolean): Entry {
  const { population, analyst, key, label, profile, relied = [], at } = JSON.parse(body) as SpendLink;
  return { sequence, population, analyst, key, label, profile: fromStored(profile), relied, at, settled, hash };
}

const otherTerms = (population: string, known: AccountTerms, asked: AccountTerms, place: string): Fault =>
  new Fault(
    'LEDGER_MISMATCH',
    `The budget of "${population}" was opened under other terms (${known.summary}) than this policy declares (${asked.summary}).`,
    'Use the policy the account was opened with, name another population, or change the terms for good with "fugu ledger POLICY amend --reason TEXT".',
    { place: { file: place } },
  );
