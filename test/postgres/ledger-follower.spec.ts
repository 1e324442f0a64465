import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/release/ledger/ledger.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { askingOfAnn as asked, failureOf, spentByAnalyst } from '../ledger-folder.js';
import { LedgerTown } from './ledger-server.js';
import { followerOf, type Standby } from './standby.js';
import { freePort } from './start-server.js';
import { server } from './town.js';

const asking = (key: string) => asked({ resumable: true, key });

describe.skipIf(!server)('a copy that takes over without the last entries of a ledger', () => {
  let town: LedgerTown;
  let follower: Standby;
  let folder: string;
  let witness: string;
  const open: Ledger[] = [];
  const ledgerOf = async (address?: string) => {
    const ledger = await openLedger(town.address(), address === undefined ? {} : { witness: address });
    open.push(ledger);
    return ledger;
  };
  /** Memory of another machine. */
  const elsewhere = async <T>(work: () => Promise<T>): Promise<T> => {
    process.env.XDG_STATE_HOME = join(folder, 'elsewhere');
    try {
      return await work();
    } finally {
      process.env.XDG_STATE_HOME = town.state;
    }
  };
  let seeing: Ledger;
  let current: Ledger;
  beforeAll(async () => {
    town = await LedgerTown.open();
    folder = mkdtempSync(join(tmpdir(), 'fugu-follower-'));
    witness = join(folder, 'witness.sh');
    writeFileSync(witness, `#!/bin/sh\nif [ "$1" = get ]; then cat ${folder}/head 2>/dev/null; exit 0; fi\necho "$2 $3" > ${folder}/head\n`, { mode: 0o755 }); // biome-ignore format: one line
    await (await ledgerOf(witness)).reserve(asking('k1'));
    follower = await followerOf(town.server, await freePort());
    await follower.caughtUp();
    seeing = await ledgerOf(witness);
    // Another machine that has seen the first entry only.
    current = await elsewhere(() => ledgerOf());
    await current.spent('town');
    follower.kill();
    // Committed on the one, and unknown to the other.
    const entry = await seeing.reserve(asking('k2'));
    await seeing.commit(entry, 'told');
    town.server.kill();
    follower.startAgain(town.server.port);
    follower.promote();
  });
  afterAll(async () => {
    for (const ledger of open) await ledger.close().catch(() => undefined);
    try {
      follower?.kill();
      town?.server.startAgain();
    } finally {
      rmSync(folder, { recursive: true, force: true });
      town?.close();
    }
  });

  it('a machine that saw the entries refuses the copy, whether the ledger was open or not', async () => {
    for (const ledger of [async () => seeing, ledgerOf])
      expect(await failureOf(ledger().then((l) => l.reserve(asking('k3'))))).toMatchObject({
        code: 'LEDGER_CORRUPT',
        message: expect.stringContaining('more than there are'),
      });
  });

  it('every machine refuses the copy if a witness is used, and nothing is spent', async () => {
    const other = await elsewhere(() => ledgerOf(witness));
    expect(await failureOf(other.reserve(asking('k3')))).toMatchObject({
      code: 'LEDGER_CORRUPT',
      message: expect.stringContaining('the witness knows'),
      outcome: { state: 'not spent' },
    });
  });

  it('a machine that saw less accepts the copy, as the guide states, and those that saw more refuse it for good', async () => {
    const before = await spentByAnalyst(current);
    await elsewhere(async () => {
      for (const key of ['k3', 'k4', 'k5', 'k6']) await current.reserve(asking(key));
    });
    expect(await spentByAnalyst(current)).not.toBe(before);
    // It is longer by now than it was, and still another.
    expect(await failureOf(seeing.reserve(asking('k7')))).toMatchObject({
      code: 'LEDGER_CORRUPT',
      message: expect.stringContaining('this machine has seen another entry'),
    });
  });
});
