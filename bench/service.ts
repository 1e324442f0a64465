import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TokenStore } from '../src/app/service/token.js';
import { type Bench, few, type Measured } from './bench.js';
import type { Loaded } from './service-load.js';

/** `fugu serve` in a process of its own, and analysts in another, on this machine. */
const program = resolve('dist/start/main.js');
const load = fileURLToPath(new URL('./service-load.js', import.meta.url));
const analysts = 50;
/** Of one round. */
const seconds = Number(process.env.FUGU_LOAD_SECONDS ?? 20);

const rows = Array.from(
  { length: 3000 },
  (_, i) => `${['dem', 'rep', 'other', 'green'][(i * 7) % 4]},${17 + (i % 74)},${Math.floor(i / 3)}`,
);
const policy = `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: 16 }
population: load
ledger: ledger.db
dependence: none
columns:
  party: { type: category, values: [dem, rep, other, green] }
  age: { type: integer, bounds: [17, 90] }
`;

/** The same people in households, for attacks. */
const homes = policy
  .replace('population: load', 'population: homes')
  .replace('dependence: none', 'dependence: [{ kind: groups, by: household, oddsRatio: 4 }]');

interface Place {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly steward: string;
}

async function served<T>(work: (place: Place) => Promise<T>, people = analysts): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-load-'));
  let child: ChildProcess | undefined;
  try {
    await writeFile(join(folder, 'people.csv'), `party,age,household\n${rows.join('\n')}\n`);
    await writeFile(join(folder, 'policy.yaml'), policy);
    await writeFile(join(folder, 'homes.yaml'), homes);
    const made = new TokenStore(join(folder, 'fugu-tokens'));
    const tokens = Array.from({ length: people }, (_, k) => made.make({ name: `a${k}`, role: 'analyst', days: 1 }).text);
    const steward = made.make({ name: 'root', role: 'steward', days: 1 }).text;
    child = spawn(process.execPath, [program, 'serve', 'policy.yaml', 'homes.yaml', '--port', '0', '--json', '--no-link'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await new Promise<string>((done) => {
      let out = '';
      child!.stdout!.on('data', (text) => {
        out += text;
        const found = /"url": "([^"]+)"/.exec(out)?.[1];
        if (found) done(found);
      });
    });
    return await work({ url, tokens, steward });
  } finally {
    if (child) {
      const gone = new Promise<void>((done) => child!.on('exit', () => done()));
      child.kill('SIGTERM');
      await gone;
    }
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rounds of the same load on one service, with requests that no round repeats. */
async function loadRounds(asked: object): Promise<readonly Loaded[]> {
  const rounds: Loaded[] = [];
  for (let k = 1; k <= few; k++) {
    const round = await loaded({ ...asked, from: 100_000 * k });
    process.stderr.write(`${JSON.stringify({ ...round, entries: round.entries.length })}\n`);
    rounds.push(round);
  }
  return rounds;
}

const loaded = (asked: object): Promise<Loaded> =>
  new Promise((done, failed) =>
    execFile(process.execPath, [load, JSON.stringify(asked)], { maxBuffer: 2 ** 28 }, (error, out) =>
      error ? failed(error) : done(JSON.parse(out) as Loaded),
    ),
  );

/** No entry is lost, every answer has a reservation, and no more is spent than the budget. */
async function refuseLost({ url, steward }: Place, rounds: readonly Loaded[], before: readonly number[] = []): Promise<void> {
  const entries = [...before, ...rounds.flatMap((round) => round.entries)];
  const get = async (path: string) =>
    (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${steward}` } })).json() as Promise<Record<string, never>>;
  const known = new Set<number>();
  for (let after = 0, more = true; more; ) {
    const page = (await get(`/v1/policies/policy/ledger?after=${after}&most=1000`)) as unknown as {
      readonly entries: readonly { readonly sequence: number; readonly settled: boolean }[];
      readonly more: boolean;
    };
    for (const { sequence, settled } of page.entries) if (settled) known.add(sequence);
    after = page.entries.at(-1)?.sequence ?? after;
    more = page.more;
  }
  const lost = entries.filter((entry) => !known.has(entry)).length;
  const { ok } = (await get('/v1/policies/policy/ledger/verify')) as unknown as { readonly ok: boolean };
  const { budget } = (await get('/v1/policies/policy/budget')) as unknown as {
    readonly budget: { readonly spent: number; readonly total: number };
  };
  const failed = rounds
    .flatMap(({ statuses }) => Object.keys(statuses))
    .filter((status) => / 5\d\d$/.test(status) && !status.endsWith(' 503'));
  if (lost > 0 || !ok || budget.spent > budget.total || known.size !== entries.length || failed.length > 0)
    throw new Error(`lost ${lost}, verifies ${ok}, spent ${budget.spent}, booked ${known.size} of ${entries.length}, ${failed}`);
}

/** One run for all lines that use it. */
let thinking: Promise<readonly Loaded[]> | undefined;
const whileTheyThink = (): Promise<readonly Loaded[]> =>
  (thinking ??= served(async (place) => {
    const { url, tokens } = place;
    // Warm-up: the owner has used the service before others arrive.
    await loaded({ url, tokens: tokens.slice(0, 4), seconds: 5, thinks: 20, releaseEvery: 3 });
    const before = await entriesOf(place);
    const rounds = await loadRounds({ url, tokens, seconds, thinks: 1000, releaseEvery: 2 });
    await refuseLost(place, rounds, before);
    for (const { statuses } of rounds)
      if (Object.keys(statuses).some((status) => !status.endsWith(' 200'))) throw new Error(JSON.stringify(statuses));
    return rounds;
  }));

async function entriesOf({ url, steward }: Place): Promise<readonly number[]> {
  const page = await fetch(`${url}/v1/policies/policy/ledger?most=1000`, { headers: { authorization: `Bearer ${steward}` } });
  return ((await page.json()) as { entries: { sequence: number }[] }).entries.map(({ sequence }) => sequence);
}

/** Attack simulations of a release, one after another, until stopped; returns the duration of each in milliseconds. */
function attacking({ url, steward }: Place): { end(): Promise<readonly number[]> } {
  const post = async (
    path: string,
    body: object,
  ): Promise<{ readonly receipt: { readonly ledger: { readonly entry: number } } }> => {
    const headers = { authorization: `Bearer ${steward}`, 'content-type': 'application/json' };
    const said = await fetch(`${url}/v1/policies/homes/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (said.status !== 200) throw new Error(`${path}: ${said.status} ${await said.text()}`);
    return (await said.json()) as never;
  };
  let ended = false;
  const work = async () => {
    const { receipt } = await post('release', { question: { kind: 'histogram', column: 'party' }, epsilon: '1/2' });
    const took: number[] = [];
    while (!ended) {
      const began = performance.now();
      await post('attack', { entry: receipt.ledger.entry });
      took.push(performance.now() - began);
    }
    return took;
  };
  const working = work();
  return {
    end: () => {
      ended = true;
      return working;
    },
  };
}

const p99Of = (kind: 'plans' | 'releases', rounds: readonly Loaded[]): Measured => ({
  ours: rounds.map((round) => round[kind].p99 / 1000),
});

/** Seconds for each release while nobody thinks. */
const underLoad = (people: number, examine: (round: Loaded) => void = () => undefined): Promise<Measured> =>
  served(async (place) => {
    const { url, tokens } = place;
    const rounds = await loadRounds({ url, tokens, seconds: seconds / 4, thinks: 0, releaseEvery: 1 });
    await refuseLost(place, rounds);
    rounds.forEach(examine);
    return { ours: rounds.map((round) => round.seconds / round.entries.length) };
  }, people);

export const benches: readonly Bench[] = [
  {
    name: 'service: p99 of a plan, 50 analysts who think a second',
    goal: { seconds: 0.05 },
    run: async () => p99Of('plans', await whileTheyThink()),
  },
  {
    name: 'service: p99 of a release of 3,000 rows, 50 analysts who think a second',
    goal: { seconds: 0.15 },
    run: async () => p99Of('releases', await whileTheyThink()),
  },
  {
    name: 'service: p99 of a plan while attacks on 3,000 rows run, 50 analysts who think a second',
    goal: { seconds: 0.05 },
    run: () =>
      served(async (place) => {
        const { url, tokens } = place;
        await loaded({ url, tokens: tokens.slice(0, 4), seconds: 5, thinks: 20, releaseEvery: 3 });
        const attacks = attacking(place);
        const rounds = await loadRounds({ url, tokens, seconds: seconds / 2, thinks: 1000, releaseEvery: 1e9 });
        const took = await attacks.end();
        process.stderr.write(
          `${JSON.stringify({ attacks: took.length, each: took.reduce((a, b) => a + b, 0) / took.length })}\n`,
        );
        return p99Of('plans', rounds);
      }),
  },
  { name: 'service: a release while 50 analysts never think, nothing lost', run: () => underLoad(analysts) },
  {
    name: 'service: a release while 350 analysts never think, beyond what waits turned away, nothing lost',
    run: () =>
      underLoad(350, ({ turnedAway, statuses }) => {
        if (turnedAway === 0 || turnedAway !== statuses['release 503']) throw new Error(JSON.stringify({ turnedAway, statuses }));
      }),
  },
];
