import { join } from 'node:path';
import { openLedger } from '../src/ledger/open.js';
import { createSession, type Session } from '../src/release/session.js';
import { openEngine } from '../src/terms/open.js';
import { readPolicy } from '../src/terms/read.js';

/** A process of its own, so that its memory is that of one session: opens the policy of a folder, plans once, releases in turns with the untied policy. */
const [folder, rounds] = [process.argv[2]!, Number(process.argv[3] ?? 9)];
const now = (): number => Number(process.hrtime.bigint()) / 1e9;

async function opened(file: string): Promise<{ session: Session; seconds: number; engine: number; cpu: number }> {
  const start = now();
  const policy = await readPolicy(join(folder, file));
  const engine = await openEngine(policy);
  const read = now();
  const ledger = await openLedger(policy.ledger);
  const session = await createSession({ policy, engine, ledger });
  const { user, system } = process.cpuUsage();
  return { session, seconds: now() - start, engine: read - start, cpu: (user + system) / 1e6 };
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
const plan = await timed(() => tied.session.plan(query(), asked));
const first = await timed(() => tied.session.release(query(), asked));
const rss = process.resourceUsage().maxRSS * 1024;
const untied = await opened('untied.yaml');
let [ours, peer] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
for (let k = 0; k < rounds; k++) {
  ours = Math.min(ours, await timed(() => tied.session.release(query(), asked)));
  peer = Math.min(peer, await timed(() => untied.session.release(query(), asked)));
}
process.stdout.write(
  JSON.stringify({
    open: tied.seconds,
    engine: tied.engine,
    cpu: tied.cpu,
    plan,
    first,
    release: ours,
    untied: peer,
    untiedOpen: untied.seconds,
    rss,
    capacities: tied.session.account.routes.map((r) =>
      r.pureCapacity.num === 0n ? 0 : Number(r.pureCapacity.num) / Number(r.pureCapacity.den),
    ),
  }),
);
process.exit(0);
