import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { faultOf } from '../fault.js';
import { LedgerTown } from './ledger-server.js';
import { poolingProxy } from './pooling-proxy.js';
import { PostgresTown, server } from './town.js';

describe.skipIf(!server)('a pooler that exchanges sessions between transactions', () => {
  let town: PostgresTown;
  let ledgers: LedgerTown;
  beforeAll(async () => {
    town = await PostgresTown.open('pooled');
    ledgers = await LedgerTown.open();
  });
  afterAll(async () => {
    ledgers?.close();
    await town?.close();
  });

  it('the engine notices the pooler before anything is read under other settings', async () => {
    await town.run(
      `CREATE TABLE days AS SELECT DATE '2020-12-31' AS day; GRANT SELECT ON days TO reader; ALTER DATABASE pooled SET datestyle = 'German'`,
    );
    const pooler = await poolingProxy(server!.port);
    const found = await faultOf(
      (async () => {
        const engine = await openEngine({
          source: town.address().replace(`:${server!.port}/`, `:${pooler.port}/`),
          table: 'days',
        });
        try {
          for (let k = 0; k < 3; k++)
            expect(await withSnapshot(engine, async (data) => (await data.rows({ sql: 'SELECT day FROM fugu_data', values: [] })).open())).toEqual([['2020-12-31']]); // biome-ignore format: one line
        } finally {
          await engine.close();
        }
      })(),
    );
    expect([found.code, found.message, found.hint]).toEqual(['ENGINE_FAILED', expect.stringMatching(/exchanged the session/), expect.stringMatching(/by session/)]); // biome-ignore format: one line
    expect(pooler.discarded()).toBeGreaterThan(0);
    pooler.close();
  });

  it('the pooler cannot serve a ledger: its commits would not wait for the disk', async () => {
    await ledgers.empty();
    // The tables are there, so that nothing has to be made.
    await (await openLedger(ledgers.address(), {})).close();
    const pooler = await poolingProxy(ledgers.server.port);
    const address = ledgers.address().replace(`:${ledgers.server.port}/`, `:${pooler.port}/`);
    const ledger = await openLedger(address, {});
    const found = await faultOf(ledger.account('town'));
    await ledger.close();
    expect([found.code, found.message]).toEqual(['DISK_FAILED', expect.stringMatching(/exchanged the session/)]);
    pooler.close();
  });
});
