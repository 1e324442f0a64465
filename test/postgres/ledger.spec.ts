import { afterAll, beforeAll, describe } from 'vitest';
import { describeLedger } from '../ledger-contract.js';
import { LedgerTown } from './ledger-server.js';
import { server } from './town.js';

describe.skipIf(!server)('a server', () => {
  let town: LedgerTown;
  beforeAll(async () => {
    town = await LedgerTown.open();
  });
  afterAll(() => town?.close());

  describeLedger('a ledger in PostgreSQL', () => town.room());
});
