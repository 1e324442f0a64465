import { spawnSync } from 'node:child_process';
import { type Bench, few, type Goal, type Measured, once } from './bench.js';
import { median } from './statistics.js';
import { drawn, forest, random, type Town, withTown } from './tied-data.js';

/** Measurements of one session on a town, reported by its own process: one round. */
interface SessionTimes {
  readonly open: number;
  /** The first plan, which computes the what-if table and remedies. */
  readonly first: number;
  readonly rss: number;
  readonly tied: Asked;
  readonly untied: Asked;
}
/** Seconds of plans and releases, which the sessions with and without ties made in turns. */
interface Asked {
  readonly plan: readonly number[];
  readonly release: readonly number[];
}

interface Line {
  readonly town: Town;
  readonly name: string;
  /** Seconds. */
  readonly open: number;
  /** Megabytes. */
  readonly memory?: number;
  /** Limit on a plan and a release, as a multiple of a release without ties. */
  readonly after?: number;
}

const friends = (more: string): string => `{ kind: ties, relation: friend, ${more} }`;
const lines: readonly Line[] = [
  { name: '1M records, 1M ties', town: random(1e6, 1e6), open: 3, memory: 600, after: 1.2 },
  { name: '1M records, a forest of ties', town: forest(1e6), open: 3, memory: 600, after: 1.2 },
  { name: '100k ties with hubs, maxTies', town: drawn(50_000, 100_000, 3, friends('oddsRatio: 2, maxTies: 50')), open: 3 },
  { name: '200k records, 950k ties', town: drawn(200_000, 950_000, 1.5, friends('oddsRatio: 1.2')), open: 6 },
  { name: '5M records, 5M ties', town: random(5e6, 5e6), open: 20, memory: 1500 },
];

function benchesOf({ town, name, open, memory, after }: Line): Bench[] {
  const line = (what: string, goal: Goal | undefined, measured: (rounds: readonly SessionTimes[]) => Measured): Bench => ({
    name: `session with ${name}: ${what}`,
    ...(goal && { goal }),
    run: async () => measured(await sessions(town)),
  });
  const besideRelease = (what: keyof Asked) =>
    line(what, after === undefined ? undefined : { ratio: after }, (rounds) => ({
      ours: rounds.map(({ tied }) => median(tied[what])),
      peer: { name: 'a release without ties', rounds: rounds.map(({ untied }) => median(untied.release)) },
    }));
  const own = (what: 'open' | 'first' | 'rss') => (rounds: readonly SessionTimes[]) => ({ ours: rounds.map((r) => r[what]) });
  return [
    line('open', { seconds: open }, own('open')),
    line('first plan', undefined, own('first')),
    besideRelease('plan'),
    besideRelease('release'),
    ...(memory === undefined ? [] : [line('memory', { bytes: memory * 1e6 }, own('rss'))]),
  ];
}

/** Sessions one after another, each in a process of its own and under ledgers of its own. */
const sessions = once(
  (town: Town): Promise<readonly SessionTimes[]> =>
    withTown(town, async (folder) => {
      const script = new URL('./tied-session.js', import.meta.url).pathname;
      return Array.from({ length: few }, (_, round) => {
        const words = ['--expose-gc', script, folder, String(round)];
        const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
        if (status !== 0) throw new Error(`the session ended with ${status}: ${stderr}`);
        return JSON.parse(stdout) as SessionTimes;
      });
    }),
);

export const benches: readonly Bench[] = lines.flatMap(benchesOf);
