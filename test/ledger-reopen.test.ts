import { afterEach, describe, expect, it } from 'vitest';
import { builtOnce, fugu } from './fugu.js';
import { openLedger } from './inside.js';
import { openWorkshop, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

describe('a ledger that one process opens again and again while others write', () => {
  it('the ledger keeps its locks: nothing is lost, nothing is malformed', async () => {
    builtOnce();
    shop = openWorkshop(undefined, 30);
    const ask = (k: number) => ({ kind: 'count', where: [{ column: 'age', op: '>', value: k }] });
    for (let round = 0; round < 4; round++) {
      // A connection left open over all that follows, as in a service.
      const open = await shop.session();
      await open.release(ask(20 + 2 * round), { epsilon: '0.01' });
      const other = await shop.session();
      await other.close();
      const result = await fugu(
        { cwd: shop.folder },
        'release',
        'policy.yaml',
        '--query',
        JSON.stringify(ask(21 + 2 * round)),
        '--epsilon',
        '0.01',
      );
      expect(result.err).toBe('');
      await open.release(ask(40 + round), { epsilon: '0.01' });
      await open.close();
    }
    const ledger = await openLedger(`${shop.folder}/ledger.db`);
    expect(await ledger.verify()).toMatchObject({ ok: true, entries: 12 });
    await ledger.close();
  });
});
