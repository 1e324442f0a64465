import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toText } from '../src/base/exact/rational.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { openLedger } from '../src/release/ledger/open.js';
import { type SpenderLine, spender } from './ledger-race.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-race-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('many processes and one budget', () => {
  it('the ledger admits exactly what fits: 8 processes, 200 reservations each, room for 1,000', async () => {
    const place = join(folder, 'ledger.db');
    const finished = await Promise.all(Array.from({ length: 8 }, (_, i) => spender(place, `p${i}`, { count: 200 }).done));
    expect(finished.map((f) => f.errors).join('')).toBe('');
    const lines = finished.flatMap((f) => f.lines);
    const refusals = lines.filter((l) => l.refused);
    expect(lines.length - refusals.length).toBe(1000);
    expect(refusals.length).toBe(600);
    for (const { refused } of refusals) expect(refused).toEqual({ asked: '1/1000', spent: '1', remaining: '0' });
    const ledger = await openLedger(place);
    expect(toText((await ledger.spent('town')).pure.perRecord.get(everyRecord)!)).toBe('1');
    expect(new Set((await ledger.entries('town')).map((e) => e.key)).size).toBe(1000);
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: 1000 });
    await ledger.close();
  });

  it('the ledger loses no acknowledged reservation over 50 kill -9 at random moments, and the chain still verifies', async () => {
    const place = join(folder, 'ledger.db');
    const acknowledged: SpenderLine[] = [];
    for (let round = 0; round < 10; round++) {
      const spenders = Array.from({ length: 5 }, (_, i) => spender(place, `r${round}p${i}`, { count: 'endless' }));
      for (const { child, firstLine, done } of spenders) {
        await firstLine;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
        child.kill('SIGKILL');
        const { lines, errors } = await done;
        expect(errors).toBe('');
        acknowledged.push(...lines);
      }
    }
    const ledger = await openLedger(place);
    const booked = new Map((await ledger.entries('town')).map((e) => [e.sequence, e.hash]));
    expect(acknowledged.length).toBeGreaterThan(50);
    expect(acknowledged.filter((a) => booked.get(a.sequence!) !== a.hash)).toEqual([]);
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: booked.size });
    await ledger.close();
  });
});
