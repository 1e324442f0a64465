import { join } from 'node:path';
import { openEngine } from '../src/data/terms/open.js';
import { readPolicy } from '../src/data/terms/read.js';
import { openLedger } from '../src/release/ledger/open.js';
import { createSession, type PrivacySession } from '../src/release/session/session.js';
import { secondsOf, shuffled } from './bench.js';

/**
 * A process of its own, so that its memory is that of one session: opens the policy of a folder on a ledger of its own, then
 * plans and releases, in turns with the policy without ties.
 */
const [folder, name] = process.argv.slice(2) as [string, string];
const turns = 15;

async function openSession(file: 'tied' | 'untied'): Promise<PrivacySession> {
  const policy = await readPolicy(join(folder, `${file}.yaml`));
  const engine = await openEngine(policy);
  const ledger = await openLedger(join(folder, `${file}-${name}.db`));
  return createSession({ policy, engine, ledger });
}

const query = { kind: 'histogram', column: 'party' };
const options = { epsilon: '0.0001', fresh: true };
const cold = (work: () => unknown) => secondsOf(work, { warm: false })();

let tied!: PrivacySession;
const open = await cold(async () => {
  tied = await openSession('tied');
});
const first = await cold(() => tied.plan(query, options));
await tied.release(query, options);
const rss = process.resourceUsage().maxRSS * 1024;
const untied = await openSession('untied');
const times = {
  tied: { plan: [] as number[], release: [] as number[] },
  untied: { plan: [] as number[], release: [] as number[] },
};
for (let k = 0; k < turns; k++)
  for (const [who, session] of shuffled([['tied', tied] as const, ['untied', untied] as const])) {
    times[who].plan.push(await cold(() => session.plan(query, options)));
    times[who].release.push(await cold(() => session.release(query, options)));
  }
process.stdout.write(JSON.stringify({ open, first, rss, ...times }));
// Neither session is closed: the process ends with them.
process.exit(0);
