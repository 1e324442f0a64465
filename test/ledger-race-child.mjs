// One of many processes that spend from one ledger; run by ledger-race.ts on the built product.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pureCost } from '../dist/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../dist/privacy/mechanism/record-class.js';
import { Fault } from '../dist/base/errors.js';
import { compare, one, rational, subtract, toText } from '../dist/base/exact/rational.js';
import { openLedger } from '../dist/release/ledger/open.js';

const [place, name, count, clients = '1', parts = '1000'] = process.argv.slice(2);
const endless = count === 'endless';
const cost = rational(1, Number(parts));
const budget = endless ? rational(1_000_000) : one;
const ledger = await openLedger(place);

async function spend(who) {
  for (let i = 0; i < (endless ? 1e9 : Number(count)); i++) {
    const key = `${who}-${i}`;
    try {
      const entry = await ledger.reserve({
        population: 'town',
        terms: { digest: 'race', summary: 'epsilon 1' },
        analyst: who,
        key,
        label: `count ${i}`,
        profile: pureCost([[everyRecord, cost]]),
        admit: (after, before) => {
          if (compare(after.pure.perRecord.get(everyRecord), budget) > 0) {
            const spent = before.pure.perRecord.get(everyRecord);
            throw new Fault('BUDGET_EXCEEDED', 'The budget does not cover this.', 'Ask for less.', {
              details: { asked: toText(cost), spent: toText(spent), remaining: toText(subtract(budget, spent)) },
            });
          }
        },
      });
      // Acknowledged: from here on the reservation must survive anything.
      writeSync(1, `${JSON.stringify({ sequence: entry.sequence, key: entry.key, hash: entry.hash })}\n`);
    } catch (error) {
      const refused = error?.code === 'BUDGET_EXCEEDED';
      // A server that was killed is no reason to stop asking.
      if (!refused && !(process.env.FUGU_RACE_GOES_ON && error instanceof Fault)) throw error;
      const { code, outcome } = error;
      writeSync(1, `${JSON.stringify(refused ? { refused: error.details } : { failed: { key, code, outcome } })}\n`);
      if (!refused) await sleep(50);
    }
  }
}
await Promise.all(Array.from({ length: Number(clients) }, (_, c) => spend(Number(clients) === 1 ? name : `${name}c${c}`)));
await ledger.close();
