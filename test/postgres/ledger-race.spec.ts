import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rational, toText } from '../../src/base/exact/rational.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { builtOnce } from '../fugu.js';
import { type SpenderLine, spender } from '../ledger-race.js';
import { LedgerTown } from './ledger-server.js';
import { server } from './town.js';

/** FUGU_LEDGER_RACE=1 runs the full count. */
const full = process.env.FUGU_LEDGER_RACE !== undefined;
const [parts, asks] = full ? [1000, 200] : [60, 15];
const [rounds, each] = full ? [10, 5] : [2, 3];
const serverKills = full ? 20 : 2;

describe.skipIf(!server).sequential('several processes and one ledger in PostgreSQL', () => {
  let town: LedgerTown;
  beforeAll(async () => {
    builtOnce();
    town = await LedgerTown.open();
  });
  afterAll(() => town?.close());
  beforeEach(() => town.empty());

  /** No acknowledged reservation is lost, none reported as unspent is present, and the totals agree. */
  async function audit(lines: readonly SpenderLine[]): Promise<number> {
    const ledger = await openLedger(town.address());
    const entries = await ledger.entries('town');
    const booked = new Map(entries.map((e) => [e.sequence, e.hash]));
    const keys = new Set(entries.map((e) => e.key));
    expect(lines.filter((l) => l.sequence !== undefined && booked.get(l.sequence) !== l.hash)).toEqual([]);
    expect(lines.filter((l) => l.failed?.outcome?.state !== 'spent' && l.failed && keys.has(l.failed.key))).toEqual([]);
    expect(keys.size).toBe(entries.length);
    expect(toText((await ledger.spent('town')).pure.perRecord.get(everyRecord)!)).toBe(toText(rational(entries.length, parts)));
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: entries.length });
    await ledger.close();
    return entries.length;
  }

  it(`the ledger admits exactly what fits: two processes of four clients, ${8 * asks} reservations, room for ${parts}`, async () => {
    const finished = await Promise.all(
      ['a', 'b'].map((name) => spender(town.address(), name, { count: asks, clients: 4, parts }).done),
    );
    expect(finished.map((f) => f.errors).join('')).toBe('');
    const lines = finished.flatMap((f) => f.lines);
    const refusals = lines.filter((l) => l.refused);
    expect(lines.length - refusals.length).toBe(parts);
    expect(refusals.length).toBe(8 * asks - parts);
    for (const { refused } of refusals) expect(refused).toMatchObject({ spent: '1', remaining: '0' });
    expect(await audit(lines)).toBe(parts);
  });

  it(`the ledger loses no acknowledged reservation over ${rounds * each} kill -9 of processes that spend`, async () => {
    const acknowledged: SpenderLine[] = [];
    for (let round = 0; round < rounds; round++) {
      const spenders = Array.from({ length: each }, (_, i) =>
        spender(town.address(), `r${round}p${i}`, { count: 'endless', clients: 2, parts }),
      );
      for (const { child, firstLine, done } of spenders) {
        await firstLine;
        await sleep(Math.random() * 60);
        child.kill('SIGKILL');
        const { lines, errors } = await done;
        expect(errors).toBe('');
        acknowledged.push(...lines);
      }
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(rounds * each);
    const booked = await audit(acknowledged);
    console.log(`      ${acknowledged.length} acknowledged, ${booked} booked`);
  });

  it(`the ledger loses none over ${serverKills} immediate shutdowns of the server, and the processes go on`, async () => {
    const spenders = ['a', 'b'].map((name) =>
      spender(town.address(), name, { count: 'endless', clients: 2, parts, goesOn: true }),
    );
    await Promise.all(spenders.map((s) => s.firstLine));
    for (let i = 0; i < serverKills; i++) {
      await sleep(100 + Math.random() * 200);
      town.server.kill();
      town.server.startAgain();
      const before = spenders.map((s) => s.acknowledged());
      const until = Date.now() + 20_000;
      while (spenders.some((s, k) => s.acknowledged() < before[k]! + 5) && Date.now() < until) await sleep(20);
    }
    for (const { child } of spenders) child.kill('SIGKILL');
    const finished = await Promise.all(spenders.map((s) => s.done));
    expect(finished.map((f) => f.errors).join('')).toBe('');
    const lines = finished.flatMap((f) => f.lines);
    const failed = lines.flatMap((l) => l.failed ?? []);
    expect(failed.map(({ code }) => code).filter((code) => code !== 'LEDGER_BUSY')).toEqual([]);
    const booked = await audit(lines);
    console.log(`      ${lines.length - failed.length} acknowledged, ${failed.length} failed, ${booked} booked`);
  });
});
