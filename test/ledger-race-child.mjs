// One of many processes that spend from one ledger; run by ledger-race.test.ts on the built product.
import { writeSync } from 'node:fs';
import { pureProfile } from '../dist/mechanism/profile.js';
import { everyRecord } from '../dist/mechanism/record-class.js';
import { Fault } from '../dist/errors.js';
import { compare, one, rational, subtract, toText } from '../dist/exact/rational.js';
import { openLedger } from '../dist/ledger/open.js';

const [place, name, count] = process.argv.slice(2);
const cost = rational(1, 1000);
const budget = count === 'endless' ? rational(1_000_000) : one;
const ledger = await openLedger(place);
for (let i = 0; i < (count === 'endless' ? 1e9 : Number(count)); i++) {
  try {
    const entry = await ledger.reserve({
      population: 'town',
      terms: { digest: 'race', summary: 'epsilon 1' },
      analyst: name,
      key: `${name}-${i}`,
      label: `count ${i}`,
      profile: pureProfile([[everyRecord, cost]]),
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
    if (error?.code !== 'BUDGET_EXCEEDED') throw error;
    writeSync(1, `${JSON.stringify({ refused: error.details })}\n`);
  }
}
await ledger.close();
