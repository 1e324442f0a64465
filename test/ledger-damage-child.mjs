// Damages copies of one sound ledger one by one and reports each outcome; ledger-damage.test.ts runs it on the built product.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pureCost } from '../dist/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../dist/privacy/mechanism/record-class.js';
import { Fault } from '../dist/base/errors.js';
import { compare, parseRational, rational } from '../dist/base/exact/rational.js';
import { openLedger } from '../dist/release/ledger/open.js';

const Database = createRequire(import.meta.url)('libsql');
const [base, scratch, from, to] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(join(base, 'cases.json'), 'utf8')).slice(Number(from), Number(to));
const spent = rational(9, 10);
const terms = { digest: 'd1', summary: 'epsilon 1' };

/** The same damage for the same number, everywhere. */
function random(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const edit = (path, change) => {
  const bytes = readFileSync(path);
  writeFileSync(path, change(bytes) ?? bytes);
};
const used = (bytes) => bytes.findLastIndex((b) => b !== 0) + 1;
const sql = (place, text) => {
  const db = new Database(place);
  db.exec(`PRAGMA foreign_keys = OFF; ${text}`);
  db.close();
};
const damages = {
  flip: (place, r, file) =>
    edit(place + file, (b) => {
      const at = r(file === '.chain' && r(10) > 0 ? used(b) : b.length);
      b[at] ^= r(2) ? 1 << r(8) : 1 + r(255);
    }),
  page: (place, r, file) =>
    edit(place + file, (b) => {
      const size = file === '.chain' ? 512 : 4096;
      const pages = Math.max(1, Math.floor((file === '.chain' ? used(b) : b.length) / size));
      const [at, other] = [r(pages) * size, r(pages) * size];
      const kind = r(3);
      if (kind === 0) b.fill(0, at, at + size);
      else if (kind === 1) for (let i = at; i < Math.min(b.length, at + size); i++) b[i] = r(256);
      else b.copy(b, at, other, other + size);
    }),
  cut: (place, r, file) => {
    const bytes = readFileSync(place + file);
    truncateSync(place + file, r(4) === 0 ? 0 : r(file === '.chain' ? used(bytes) : bytes.length));
  },
  remove: (place, _r, file) => rmSync(place + file, { force: true }),
  older: (place, _r, file) => copyFileSync(join(base, `older.db${file}`), place + file),
  // No file can show this damage by itself; only a witness does.
  olderBoth: (place) => {
    for (const file of ['', '.chain']) copyFileSync(join(base, `older.db${file}`), place + file);
  },
  sql: (place, _r, text) => sql(place, text),
};

const exceeds = (limit) => (after) => {
  if (compare(after.pure.perRecord.get(everyRecord), limit) > 0) throw new Fault('BUDGET_EXCEEDED', 'too much', 'less');
};
const ask = (key, cost, admit) => ({
  population: 'town',
  terms,
  analyst: 'ann',
  key,
  label: 'count',
  profile: pureCost([[everyRecord, cost]]),
  resumable: true,
  admit,
});
const codeOf = (work) => work.then(() => 'accepted', (error) => error.code ?? `${error}`);
/** Everything must be as it was, or refused; each step on its own, as a program would ask. */
async function judge(place) {
  let ledger;
  try {
    ledger = await openLedger(place);
  } catch (error) {
    if (!(error instanceof Fault)) return `no fault: ${error}`;
    return `refused ${error.code}`;
  }
  const said = [];
  try {
    for (const analyst of [undefined, 'ann']) {
      try {
        const total = (await ledger.spent('town', analyst)).pure.perRecord.get(everyRecord) ?? rational(0);
        if (compare(total, analyst ? rational(1, 2) : spent) < 0) return 'SMALLER';
        said.push('exact');
      } catch (error) {
        said.push(error instanceof Fault ? `refused ${error.code}` : `no fault: ${error}`);
      }
    }
    const over = await codeOf(ledger.reserve(ask('over', rational(1, 5), exceeds(rational(1)))));
    if (over === 'accepted') return 'OVERSPENT';
    said.push(over === 'BUDGET_EXCEEDED' ? 'exact' : `refused ${over}`);
    const never = new Fault('BUDGET_EXCEEDED', 'not taken up', 'as it must be');
    const again = await codeOf(
      ledger.reserve(
        ask('k1', parseRational('1/10'), () => {
          throw never;
        }),
      ),
    );
    if (again === 'accepted') return 'ANSWERED TWICE';
    said.push(again === 'BUDGET_EXCEEDED' ? 'exact' : `refused ${again}`);
    const fresh = await codeOf(ledger.reserve({ ...ask('new', rational(1, 5), exceeds(rational(1))), analyst: 'eve' }));
    if (fresh === 'accepted') return 'OVERSPENT';
  } finally {
    await ledger.close().catch(() => undefined);
  }
  return said.find((s) => s.startsWith('no fault')) ?? said.find((s) => s !== 'exact') ?? 'exact';
}

for (const [kind, what, seed, start] of cases) {
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch);
  const place = join(scratch, 'ledger.db');
  for (const file of ['', '-wal', '.chain'])
    if (existsSync(join(base, `${start}.db${file}`))) copyFileSync(join(base, `${start}.db${file}`), place + file);
  damages[kind](place, random(seed), what);
  writeSync(1, `${JSON.stringify(await judge(place))}\n`);
}
