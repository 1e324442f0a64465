import Database from 'libsql';
import { rational } from '../src/base/exact/rational.js';
import { pureCost } from '../src/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import type { Reservation } from '../src/release/ledger/ledger.js';

/** A reservation of the usual size. */
export const reservation = (analyst: string, i: number): Reservation => ({
  population: 'town',
  terms: { digest: 'd'.repeat(64), summary: 'epsilon 1000000, secret row, adversary informed' },
  analyst,
  key: `${analyst}-${i}`.padStart(64, '0'),
  label: `histogram of party, number ${i}`,
  profile: pureCost([[everyRecord, rational(1, 1000)]]),
  admit: () => undefined,
  resumable: true,
  unlessRecorded: true,
});

/** A row of the usual size, committed separately and durable; nothing is checked, added up or chained. */
export function bareCommits(place: string): { readonly commit: () => void; readonly close: () => void } {
  const db = new Database(place);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE IF NOT EXISTS line (number INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT');
  const insert = db.prepare('INSERT INTO line (body) VALUES (?)');
  const body = 'x'.repeat(600);
  return { commit: () => void insert.run(body), close: () => void db.close() };
}
