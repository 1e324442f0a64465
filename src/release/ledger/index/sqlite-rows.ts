import type { IndexQueries } from './index-queries.js';
import type { IndexRow } from './row.js';
import type { SqliteConnection } from './sqlite.js';
import { indexOf, type LedgerIndex } from './tables.js';

const blob = (columns: string): string => columns.replaceAll(/(\w+\.)?~(\w+)/g, 'CAST($1$2 AS BLOB)');
/** Text of a row, hashed as stored. */
const spendsOf = (which: string): string =>
  `SELECT CAST(l.hash || coalesce(p.hash, '-') || char(10) || l.body AS BLOB), CAST(l.sequence AS INTEGER), CAST(l."offset" AS INTEGER), (a.of IS NOT NULL) + (a.body IS NOT NULL)
   FROM (SELECT sequence FROM book.link WHERE ${which}) s CROSS JOIN book.link l ON l.sequence = s.sequence
   LEFT JOIN book.link p ON p.sequence = l.sequence - 1 LEFT JOIN book.answer a ON a.of = l.sequence`;
const number = (column: string): string => `CAST(${column} AS INTEGER)`;

export const indexOn = (db: SqliteConnection): LedgerIndex => indexOf(rowsOn(db));

function rowsOn(db: SqliteConnection): IndexQueries {
  type Values = (string | number | null)[];
  const get = (sql: string) => {
    const query = db.query(sql);
    return (...values: Values): IndexRow | undefined => query.get(...values);
  };
  const all = (sql: string) => {
    const query = db.query(sql);
    return (...values: Values): readonly IndexRow[] => query.all(...values);
  };
  const columns = blob(`${number('l.sequence')}, ${number('l."offset"')}, l.~hash, l.~body`);
  return {
    last: get(`SELECT ${columns} FROM book.link l ORDER BY l.sequence DESC LIMIT 1`),
    link: get(`SELECT ${columns} FROM book.link l WHERE l.sequence = ?`),
    linksAfter: all(`SELECT ${columns} FROM book.link l WHERE l.sequence > ? ORDER BY l.sequence`),
    bodiesAfter: all(blob('SELECT l.~body FROM book.link l WHERE l.sequence > ? ORDER BY l.sequence')),
    accounts: all(blob('SELECT ~population, ~state FROM book.account')),
    mark: get(`SELECT ${number('incomplete')} FROM book.mark`),
    account: get(
      blob(
        `SELECT ~digest, ~summary, ~totals, ${number('entries')}, ${number('closed')}, ~pending FROM book.account WHERE population = ?`,
      ),
    ),
    shares: all(blob('SELECT ~analyst, ~pin FROM book.analyst WHERE population = ?')),
    share: get(blob('SELECT ~totals FROM book.analyst WHERE population = ? AND analyst = ?')),
    answer: get(
      blob(
        'SELECT a.~body, l.~hash, b.~body FROM book.answer a JOIN book.link l ON l.sequence = a.of JOIN book.link b ON b.sequence = a.sequence WHERE a.of = ?',
      ),
    ),
    replay: get(
      blob(
        `SELECT ${columns}, a.~body, b.~body FROM book.link l JOIN book.answer a ON a.of = l.sequence JOIN book.link b ON b.sequence = a.sequence
         WHERE l.key = ? AND l.population = ? AND a.body IS NOT NULL ORDER BY l.sequence DESC LIMIT 1`,
      ),
    ),
    // Sorted by the caller: sorting in SQLite would move all texts.
    spends: all(spendsOf('population = ? AND key IS NOT NULL')),
    // In table order: + prevents SQLite from collecting and sorting through the index of keys.
    spendsAfter: all(spendsOf('+population = ? AND key IS NOT NULL AND sequence > ? ORDER BY sequence LIMIT ?')),
    spendsBefore: all(spendsOf('+population = ? AND key IS NOT NULL AND sequence < ? ORDER BY sequence DESC LIMIT ?')),
    spendsKeyed: all(spendsOf('population = ? AND key >= ? AND key < ?')),
    keepLink: db.command('INSERT INTO book.link (sequence, "offset", population, key, hash, body) VALUES (?, ?, ?, ?, ?, ?)'),
    keepAnswer: db.command('INSERT INTO book.answer (of, sequence, body) VALUES (?, ?, ?)'),
    keepAccount: db.command(
      'INSERT OR REPLACE INTO book.account (population, state, digest, summary, totals, entries, closed, pending) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    keepShare: db.command('INSERT OR REPLACE INTO book.analyst (population, analyst, pin, totals) VALUES (?, ?, ?, ?)'),
    keepMark: db.command('UPDATE book.mark SET incomplete = ?'),
  };
}
