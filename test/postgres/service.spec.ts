import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { builtOnce } from '../fugu.js';
import { askThroughTwo } from '../service/two-processes.js';
import { LedgerTown } from './ledger-server.js';

let town: LedgerTown;
beforeAll(async () => {
  builtOnce();
  town = await LedgerTown.open();
});
afterAll(() => town?.close());

describe('two services on one ledger in PostgreSQL', () => {
  it('two services keep the quotas of two analysts together', async () => {
    const folder = await askThroughTwo(`"${town.address()}"`, {
      FUGU_LEDGER_PASSWORD: town.password,
      XDG_STATE_HOME: town.state,
    });
    rmSync(folder, { recursive: true, force: true });
  });
});
