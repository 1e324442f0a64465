import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { openLedger } from './inside.js';
import { openWorkshop, type Workshop } from './workshop.js';

const run = promisify(execFile);
let shop: Workshop;
afterEach(() => shop?.remove());

describe('whole releases from many processes', () => {
  it('8 processes x 200 different questions, room for 1,000: exactly 1,000 are answered and 600 refused with the numbers', async () => {
    shop = openWorkshop(undefined, 60);
    const child = join(import.meta.dirname, 'release-race-child.mjs');
    const outputs = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        run(process.execPath, [child, shop.policyFile, `analyst${i}`, '200', `${200 * i}`], { maxBuffer: 2 ** 24 }),
      ),
    );
    const lines = outputs.flatMap(({ stdout }) => stdout.trim().split('\n')).map((l) => JSON.parse(l) as Record<string, unknown>);
    expect(lines.filter((l) => l.entry !== undefined)).toHaveLength(1000);
    const refused = lines.filter((l) => l.refused === 'BUDGET_EXCEEDED');
    expect(refused).toHaveLength(600);
    for (const r of refused) expect(r).toMatchObject({ spent: 1, remaining: 0, total: 1 });
    const ledger = await openLedger(join(shop.folder, 'ledger.db'));
    expect(await ledger.verify()).toMatchObject({ ok: true });
    expect(await ledger.entries('town')).toHaveLength(1000);
    await ledger.close();
  });
});
