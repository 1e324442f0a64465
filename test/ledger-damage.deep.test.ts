import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rational } from '../src/base/exact/rational.js';
import { pureCost } from '../src/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { openLedger } from '../src/release/ledger/open.js';
import { builtOnce } from './fugu.js';

/** FUGU_TORTURE=1 runs the full counts; the suite a slice of each. */
const full = process.env.FUGU_TORTURE === '1';
const counted = (all: number) => (full ? all : Math.max(6, Math.round(all / 100)));
type Case = readonly [kind: string, what: string, seed: number, start: 'closed' | 'open'];

let base: string;
beforeAll(async () => {
  builtOnce();
  base = mkdtempSync(join(tmpdir(), 'fugu-damage-'));
  const place = join(base, 'making.db');
  const copy = (name: string) => {
    for (const file of ['', '-wal', '.chain'])
      if (existsSync(`${place}${file}`)) copyFileSync(`${place}${file}`, join(base, `${name}.db${file}`));
  };
  const request = (population: string, analyst: string, key: string, tenths: number) => ({
    population,
    terms: { digest: 'd1', summary: 'epsilon 1' },
    analyst,
    key,
    label: 'count',
    profile: pureCost([[everyRecord, rational(tenths, 10)]]),
    resumable: true,
    admit: () => undefined,
  });
  const book = async (ledger: Awaited<ReturnType<typeof openLedger>>, ...words: Parameters<typeof request>) =>
    ledger.commit(await ledger.reserve(request(...words)), `{"answer":"${words[2]} ${'x'.repeat(600)}"}`);
  const first = await openLedger(place);
  await book(first, 'town', 'ann', 'k1', 1);
  for (let i = 0; i < 6; i++) await book(first, `city${i}`, 'bob', `c${i}`, 3);
  await first.close();
  copy('older');
  const ledger = await openLedger(place);
  for (let i = 2; i < 6; i++) await book(ledger, 'town', 'ann', `k${i}`, 1);
  for (let i = 6; i < 10; i++) await book(ledger, 'town', 'bob', `k${i}`, 1);
  copy('open');
  await ledger.close();
  copy('closed');
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Outcome of each case; a child that dies is reported as `died`, and the next one continues after it. */
function outcomes(cases: readonly Case[]): Map<string, number> {
  writeFileSync(join(base, 'cases.json'), JSON.stringify(cases));
  const tally = new Map<string, number>();
  const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);
  for (let at = 0; at < cases.length; ) {
    const child = join(import.meta.dirname, 'ledger-damage-child.mjs');
    const { status, signal, stdout, stderr } = spawnSync(
      process.execPath,
      [child, base, join(base, 'scratch'), `${at}`, `${cases.length}`],
      { encoding: 'utf8', maxBuffer: 2 ** 26 },
    );
    const lines = stdout.split('\n').filter(Boolean);
    for (const line of lines) count(JSON.parse(line) as string);
    at += lines.length;
    if (at < cases.length) {
      count(`died ${status ?? signal} at ${JSON.stringify(cases[at])}: ${stderr.slice(0, 300)}`);
      at++;
    }
  }
  return tally;
}

const allowed = /^(exact|refused (LEDGER_CORRUPT|LEDGER_MISMATCH|DISK_FAILED|READ_ONLY))$/;
function unharmed(cases: readonly Case[]): Map<string, number> {
  const tally = outcomes(cases);
  if (full) console.log(cases[0]![0], cases[0]![1], Object.fromEntries(tally));
  expect([...tally.keys()].filter((what) => !allowed.test(what))).toEqual([]);
  return tally;
}
const times = (count: number, kind: string, what: string, start: Case[3] = 'closed'): Case[] =>
  Array.from({ length: count }, (_, seed) => [kind, what, seed, start]);

describe('a damaged ledger, which is refused or restored, never accepted with less spent', () => {
  it('flipped bytes in the index and in the chain file never lower the amount spent', () => {
    unharmed([...times(counted(1500), 'flip', ''), ...times(counted(1500), 'flip', '.chain')]);
  });

  it('pages zeroed, made random or copied over another never lower the amount spent', () => {
    unharmed([...times(counted(350), 'page', ''), ...times(counted(150), 'page', '.chain')]);
  });

  it('flipped bytes in the write-ahead log are restored from the chain file', () => {
    const tally = unharmed(times(counted(300), 'flip', '-wal', 'open'));
    expect(tally.get('exact')).toBeGreaterThan(counted(300) / 2);
  });

  it('truncated files never lower the amount spent', () => {
    unharmed([
      ...times(counted(100), 'cut', ''),
      ...times(counted(100), 'cut', '.chain'),
      ...times(counted(100), 'cut', '-wal', 'open'),
    ]);
  });

  it('files that are missing or older than the others never lower the amount spent', () => {
    const named = (kind: string, what: string, start: Case[3] = 'closed') => [...unharmed([[kind, what, 0, start]]).keys()];
    expect(named('remove', '')).toEqual(['exact']);
    expect(named('remove', '-wal', 'open')).toEqual(['exact']);
    expect(named('older', '')).toEqual(['exact']);
    expect(named('remove', '.chain')).toEqual(['refused LEDGER_CORRUPT']);
    expect(named('older', '.chain')).toEqual(['refused LEDGER_CORRUPT']);
    named('remove', '', 'open');
  });

  it('the test can detect a smaller amount: both files restored to an older state together', () => {
    expect([...outcomes([['olderBoth', '', 0, 'closed']]).keys()]).toEqual(['SMALLER']);
  });

  it('rows changed, removed or planted, triggers and views never lower the amount spent', () => {
    const tamper = [
      'DELETE FROM account',
      `DELETE FROM account WHERE population = 'town'`,
      'DELETE FROM analyst',
      `DELETE FROM analyst WHERE analyst = 'ann'`,
      `UPDATE account SET totals = (SELECT totals FROM account WHERE population = 'city1') WHERE population = 'town'`,
      `UPDATE account SET pending = '[[2,"x"]]'`,
      `UPDATE account SET population = 'village' WHERE population = 'town'`,
      'DELETE FROM link WHERE sequence = (SELECT max(sequence) FROM link)',
      'DELETE FROM link; DELETE FROM account; DELETE FROM analyst; DELETE FROM answer',
      'DELETE FROM answer',
      'UPDATE mark SET incomplete = 1',
      'DELETE FROM mark',
      'CREATE TRIGGER t AFTER INSERT ON link BEGIN DELETE FROM account; END',
      'CREATE VIEW v AS SELECT 1',
      'CREATE TABLE entry (sequence INTEGER)',
      'DROP INDEX link_of_key',
      'PRAGMA user_version = 1',
      'PRAGMA user_version = 0',
      'PRAGMA application_id = 0',
      `PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 2 WHERE name = 'account'`,
      `PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'totals TEXT', 'totalz TEXT') WHERE name = 'account'`,
      `PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = CAST(x'ff61' AS TEXT) WHERE name = 'mark'`,
      `UPDATE link SET body = CAST(x'7bff' AS TEXT)`,
      `UPDATE account SET totals = CAST(x'ff' AS TEXT), summary = CAST(x'80' AS TEXT)`,
    ];
    unharmed(tamper.map((sql) => ['sql', sql, 0, 'closed']));
  });
});
