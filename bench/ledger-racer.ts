import { setTimeout as sleep } from 'node:timers/promises';
import { sqliteCode } from '../src/release/ledger/faults.js';
import { openLedger } from '../src/release/ledger/open.js';
import { bareCommits, reservation } from './ledger-work.js';

/**
 * One of several processes that write into one ledger file, started by a message.
 * The bare variants wait for the lock as the ledger does.
 */
const [kind, place, name, count] = process.argv.slice(2) as [string, string, string, string];
const said = (): Promise<void> =>
  new Promise((resolve) => {
    process.send?.('done', () => resolve());
  });

async function inTurn(work: () => void): Promise<void> {
  for (let attempt = 0; ; attempt++)
    try {
      work();
      return;
    } catch (error) {
      if (sqliteCode(error) !== 5) throw error;
      await sleep(1 + ((attempt * 7 + process.pid) % 11));
    }
}

const start = new Promise((resolve) => process.once('message', resolve));
if (kind === 'ours') {
  const ledger = await openLedger(place);
  await said();
  await start;
  for (let i = 0; i < Number(count); i++) await ledger.reserve(reservation(name, i));
  await said();
  await ledger.close();
} else {
  let opened: ReturnType<typeof bareCommits> | undefined;
  await inTurn(() => {
    opened = bareCommits(place);
  });
  await said();
  await start;
  for (let i = 0; i < Number(count); i++) await inTurn(() => opened?.commit());
  await said();
  opened?.close();
}
process.disconnect();
