import { join } from 'node:path';
import { openEngine } from '../src/data/terms/open.js';
import { readPolicy } from '../src/data/terms/read.js';
import { openLedger } from '../src/release/ledger/open.js';
import { createSession, type PrivacySession } from '../src/release/session/session.js';

/**
 * A process of its own, so that its memory is that of one session: opens the policy of a folder, then plans and releases,
 * alternating with the policy without ties.
 */
const [folder, rounds] = [process.argv[2]!, Number(process.argv[3] ?? 15)];
const now = (): number => Number(process.hrtime.bigint()) / 1e9;

async function opened(file: string): Promise<{ session: PrivacySession; seconds: number; cpu: number }> {
  const start = now();
  const policy = await readPolicy(join(folder, file));
  const engine = await openEngine(policy);
  const ledger = await openLedger(policy.ledger);
  const session = await createSession({ policy, engine, ledger });
  const { user, system } = process.cpuUsage();
  return { session, seconds: now() - start, cpu: (user + system) / 1e6 };
}

let turn = 0;
const query = () => ({ kind: 'histogram', column: 'party', name: `q${turn++}` });
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = now();
  await work();
  return now() - start;
};

const tied = await opened('tied.yaml');
const asked = { epsilon: '0.001' };
const first = await timed(() => tied.session.plan(query(), asked));
await tied.session.release(query(), asked);
const rss = process.resourceUsage().maxRSS * 1024;
const untied = await opened('untied.yaml');
const least = { plan: Number.POSITIVE_INFINITY, release: Number.POSITIVE_INFINITY };
const best = { tied: { ...least }, untied: { ...least } };
for (let k = 0; k < rounds; k++)
  for (const [who, { session }] of [['tied', tied] as const, ['untied', untied] as const]) {
    best[who].plan = Math.min(best[who].plan, await timed(() => session.plan(query(), asked)));
    best[who].release = Math.min(best[who].release, await timed(() => session.release(query(), asked)));
  }
process.stdout.write(JSON.stringify({ open: tied.seconds, cpu: tied.cpu, first, rss, ...best }));
// Neither session is closed: the process ends with them.
process.exit(0);
