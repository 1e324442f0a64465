import type { PostgresConnection, RawRows } from '../../../data/engine/postgres/connection.js';
import { BrokenChain } from '../chain/chain.js';
import type { IndexQueries } from '../index/index-queries.js';
import type { IndexRow } from '../index/row.js';

type Value = string | number | null;
type Named = keyof typeof questions;

/** Thrown for a query that was not fetched yet: `run` fetches it and begins the work again. */
class NotFetched extends Error {
  readonly question: Named;
  readonly values: readonly Value[];
  constructor(question: Named, values: readonly Value[]) {
    super('not fetched yet');
    this.question = question;
    this.values = values;
  }
}

const link = 'l.sequence, 0, l.hash, l.body';
const spendsOf = (which: string): string => `SELECT l.hash || coalesce(p.hash, '-') || chr(10) || l.body, l.sequence, 0,
       CAST(a.of IS NOT NULL AS INTEGER) + CAST(a.body IS NOT NULL AS INTEGER)
     FROM fugu_ledger.link AS l LEFT JOIN fugu_ledger.link AS p ON p.sequence = l.sequence - 1
     LEFT JOIN fugu_ledger.answer AS a ON a.of = l.sequence WHERE ${which}`;
const questions = {
  last: `SELECT ${link} FROM fugu_ledger.link AS l ORDER BY l.sequence DESC LIMIT 1`,
  link: `SELECT ${link} FROM fugu_ledger.link AS l WHERE l.sequence = $1`,
  before: 'SELECT l.hash FROM fugu_ledger.link AS l WHERE l.sequence = $1',
  lastBefore: 'SELECT l.hash FROM fugu_ledger.link AS l ORDER BY l.sequence DESC OFFSET 1 LIMIT 1',
  recovered: 'SELECT l.hash FROM fugu_ledger.link AS l WHERE l.population IS NULL ORDER BY l.sequence',
  accounts: 'SELECT population, state FROM fugu_ledger.account',
  mark: 'SELECT incomplete FROM fugu_ledger.mark',
  account: 'SELECT digest, summary, totals, entries, closed, pending FROM fugu_ledger.account WHERE population = $1',
  shares: 'SELECT analyst, pin FROM fugu_ledger.analyst WHERE population = $1',
  share: 'SELECT totals FROM fugu_ledger.analyst WHERE population = $1 AND analyst = $2',
  answer: `SELECT a.body, l.hash, b.body FROM fugu_ledger.answer AS a JOIN fugu_ledger.link AS l ON l.sequence = a.of
     JOIN fugu_ledger.link AS b ON b.sequence = a.sequence WHERE a.of = $1`,
  replay: `SELECT ${link}, a.body, b.body FROM fugu_ledger.link AS l JOIN fugu_ledger.answer AS a ON a.of = l.sequence
     JOIN fugu_ledger.link AS b ON b.sequence = a.sequence
     WHERE l.key = $1 AND l.population = $2 AND a.body IS NOT NULL ORDER BY l.sequence DESC LIMIT 1`,
  spends: spendsOf('l.population = $1 AND l.key IS NOT NULL'),
  spendsAfter: spendsOf('l.population = $1 AND l.key IS NOT NULL AND l.sequence > $2 ORDER BY l.sequence LIMIT $3'),
  spendsBefore: spendsOf('l.population = $1 AND l.key IS NOT NULL AND l.sequence < $2 ORDER BY l.sequence DESC LIMIT $3'),
  spendsKeyed: spendsOf('l.population = $1 AND l.key >= $2 AND l.key < $3'),
} as const;

/** Queries sent first in every transaction, in one round trip. */
const first: readonly Named[] = ['last', 'lastBefore', 'recovered'];
export const firstQuestions = first.map((name) => questions[name]).join('; ');

const commands = {
  link: 'INSERT INTO fugu_ledger.link (sequence, population, key, hash, body) VALUES ($1, $2, $3, $4, $5)',
  answer: 'INSERT INTO fugu_ledger.answer (of, sequence, body) VALUES ($1, $2, $3)',
  account: `INSERT INTO fugu_ledger.account (population, state, digest, summary, totals, entries, closed, pending) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (population) DO UPDATE SET state = excluded.state, digest = excluded.digest, summary = excluded.summary, totals = excluded.totals,
       entries = excluded.entries, closed = excluded.closed, pending = excluded.pending`,
  share: `INSERT INTO fugu_ledger.analyst (population, analyst, pin, totals) VALUES ($1, $2, $3, $4)
     ON CONFLICT (population, analyst) DO UPDATE SET pin = excluded.pin, totals = excluded.totals`,
  mark: 'UPDATE fugu_ledger.mark SET incomplete = $1',
} as const;

const integerOids = new Set([20, 21, 23]);
/** Integers and texts, as in every index. */
const rowsOf = ({ fields, rows }: RawRows): readonly IndexRow[] =>
  rows.map((row) =>
    row.map((cell, i) => {
      if (cell === null) return null;
      return integerOids.has(fields[i]!.dataTypeID) ? Number(cell) : Buffer.from(cell, 'utf8');
    }),
  );

/**
 * The tables of one transaction, for synchronous work: fetched queries are answered at once, others throw `NotFetched`.
 * Writes wait until the work is done, and go in one statement.
 */
export class FetchedRows {
  readonly #fetched = new Map<string, readonly IndexRow[]>();
  readonly #written: { readonly sql: string; readonly values: readonly Value[] }[] = [];

  /** Begins another transaction with the results of the first queries. */
  begin(answers: readonly RawRows[]): void {
    this.#fetched.clear();
    this.#written.length = 0;
    for (const [i, name] of first.entries()) this.#fetched.set(JSON.stringify([name]), rowsOf(answers[i]!));
  }
  /** Synchronous work, run again from its beginning whenever a query it needs had to be fetched. */
  async run<T>(connection: PostgresConnection, work: () => T): Promise<T> {
    for (;;) {
      this.#written.length = 0;
      try {
        return work();
      } catch (error) {
        if (!(error instanceof NotFetched)) throw error;
        const { question, values } = error;
        const found = await connection.query({ sql: questions[question], values });
        this.#fetched.set(JSON.stringify([question, ...values]), rowsOf(found));
      }
    }
  }

  /** No two statements write one row. A trigger that was added since the check is noticed if it changes what is stored. */
  async write(connection: PostgresConnection): Promise<void> {
    const values: Value[] = [];
    const parts = this.#written.map(({ sql, values: own }, i) => {
      const before = values.length;
      values.push(...own);
      return `w${i} AS (${`${sql} RETURNING 1`.replaceAll(/\$(\d+)/g, (_, n: string) => `$${Number(n) + before}`)})`;
    });
    this.#written.length = 0;
    if (parts.length === 0) return;
    const kept = parts.map((_, i) => `(SELECT count(*) FROM w${i})`).join(' + ');
    const { rows } = await connection.query({ sql: `WITH ${parts.join(', ')} SELECT ${kept}`, values });
    if (Number(rows[0]?.[0]) !== parts.length) throw new BrokenChain('one of its tables does not keep what is written');
  }

  #all(question: Named, ...values: Value[]): readonly IndexRow[] {
    const found = this.#fetched.get(JSON.stringify([question, ...values]));
    if (!found) throw new NotFetched(question, values);
    return found;
  }
  #one(question: Named, ...values: Value[]): IndexRow | undefined {
    return this.#all(question, ...values)[0];
  }
  #write(command: keyof typeof commands, ...values: Value[]): void {
    this.#written.push({ sql: commands[command], values });
  }

  /** The hash of the link before this one. */
  readonly before = (sequence: number): IndexRow | undefined => this.#one('before', sequence - 1);
  /** The hash of the link before the last. */
  readonly lastBefore = (): IndexRow | undefined => this.#one('lastBefore');
  /** The hashes of links that belong to no account: the recoveries. */
  readonly recovered = (): readonly IndexRow[] => this.#all('recovered');

  readonly rows: IndexQueries = {
    last: () => this.#one('last'),
    link: (sequence) => this.#one('link', sequence),
    accounts: () => this.#all('accounts'),
    mark: () => this.#one('mark'),
    account: (population) => this.#one('account', population),
    shares: (population) => this.#all('shares', population),
    share: (population, analyst) => this.#one('share', population, analyst),
    answer: (of) => this.#one('answer', of),
    replay: (key, population) => this.#one('replay', key, population),
    spends: (population) => this.#all('spends', population),
    spendsAfter: (...values) => this.#all('spendsAfter', ...values),
    spendsBefore: (...values) => this.#all('spendsBefore', ...values),
    spendsKeyed: (...values) => this.#all('spendsKeyed', ...values),
    // Account rows are written with every link, so they never lag.
    linksAfter: () => [],
    bodiesAfter: () => [],
    keepLink: (...[sequence, , ...row]) => this.#write('link', sequence, ...row),
    keepAnswer: (...row) => this.#write('answer', ...row),
    keepAccount: (...row) => this.#write('account', ...row),
    keepShare: (...row) => this.#write('share', ...row),
    keepMark: (incomplete) => this.#write('mark', incomplete),
  };
}
