import { spawnSync } from 'node:child_process';
import type { Bench, Goal, Measured } from './bench.js';
import { drawn, forest, random, type Town, withTown } from './tied-data.js';

/** Measurements of one session on a town, reported by its own process. */
interface Told {
  readonly open: number;
  /** The first plan, which computes the what-if table and remedies. */
  readonly first: number;
  readonly rss: number;
  readonly tied: Asked;
  readonly untied: Asked;
}
interface Asked {
  readonly plan: number;
  readonly release: number;
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
  let told: Promise<Told> | undefined;
  const once = (): Promise<Told> => {
    told ??= session(town);
    return told;
  };
  const line = (what: string, goal: Goal | undefined, measure: (told: Told) => Measured): Bench => ({
    name: `session with ${name}: ${what}`,
    ...(goal && { goal }),
    run: async () => measure(await once()),
  });
  const besideRelease = (ask: keyof Asked) =>
    line(ask, after === undefined ? undefined : { ratio: after }, (t) => ({
      ours: t.tied[ask],
      peer: { name: 'a release without ties', seconds: t.untied.release },
    }));
  return [
    line('open', { seconds: open }, (t) => ({ ours: t.open })),
    line('first plan', undefined, (t) => ({ ours: t.first })),
    besideRelease('plan'),
    besideRelease('release'),
    ...(memory === undefined ? [] : [line('memory', { bytes: memory * 1e6 }, (t) => ({ ours: t.rss }))]),
  ];
}

const session = (town: Town): Promise<Told> =>
  withTown(town, async (folder) => {
    const script = new URL('./tied-session.js', import.meta.url).pathname;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', script, folder], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the session ended with ${status}: ${stderr}`);
    return JSON.parse(stdout) as Told;
  });

export const benches: readonly Bench[] = lines.flatMap(benchesOf);
