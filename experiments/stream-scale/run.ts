import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StreamOptions, stream } from '../../src/app/api/stream.js';

const fmt = (n: number): string => n.toLocaleString('en');

/** One point of a stream: its number of steps, the time of the last step and the memory in use. */
interface Point {
  readonly steps: number;
  /** Processor milliseconds per step since the last point, independent of other load. */
  readonly each: number;
  /** Megabytes after garbage collection. */
  readonly heap: number;
  readonly all: number;
}

interface Long {
  readonly title: string;
  readonly steps: number;
  readonly chain: boolean;
  readonly options: Omit<StreamOptions, 'query'>;
}

/**
 * Memory and time of the steps of a long stream, through the command's own function, with file and ledger. Steps:
 * FUGU_TOTALS running totals (10^6), FUGU_STEPS releases (20,000), FUGU_CHAIN of a chain (1,000); 0 skips. Needs --expose-gc.
 */
export async function run(out: string): Promise<void> {
  const count = (name: string, usual: number) => Number(process.env[name] ?? usual);
  const [totals, steps, chain] = [count('FUGU_TOTALS', 1_000_000), count('FUGU_STEPS', 20_000), count('FUGU_CHAIN', 1_000)];
  const lines = ['# Long streams', ''];
  const say = (...more: string[]) => {
    lines.push(...more, '');
    console.log(`${more.join('\n')}\n`);
  };
  const all: readonly Long[] = [
    {
      title: 'running totals, a chain declared',
      steps: totals,
      chain: true,
      options: { totals: true, horizon: totals, epsilon: 1 },
    },
    { title: 'one release for each step', steps, chain: false, options: { epsilon: 1 } },
    { title: 'one release for each step of a chain, its budget per step', steps: chain, chain: true, options: {} },
  ];
  for (const long of all.filter(({ steps }) => steps > 0)) {
    const points = await measured(long);
    const [first, last] = [points[Math.min(1, points.length - 1)]!, points.at(-1)!];
    say(
      `## ${long.title}: ${fmt(long.steps)} steps`,
      '| steps | processor ms for each | heap, MB | all memory, MB |',
      '|---|---|---|---|',
      ...points.map((p) => `| ${fmt(p.steps)} | ${p.each.toPrecision(3)} | ${p.heap.toFixed(1)} | ${p.all.toFixed(0)} |`),
      '',
      `From ${fmt(first.steps)} steps to ${fmt(last.steps)}: time for each ${(last.each / first.each).toFixed(2)} times, heap ${(last.heap - first.heap).toFixed(1)} MB more.`,
    );
  }
  writeFileSync(join(out, 'stream-scale.md'), lines.join('\n'));
}

async function measured({ steps, chain, options }: Long): Promise<readonly Point[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-scale-'));
  try {
    const points: Point[] = [];
    const every = Math.ceil(steps / 10);
    let [count, since] = [0, process.cpuUsage()];
    for await (const _ of await stream(policyWith(folder, steps, chain), {
      order: 'day',
      query: { kind: 'count', where: [{ column: 'ill', op: '=', value: 'yes' }] },
      through: steps,
      ...options,
    })) {
      if (++count % every !== 0 && count !== steps) continue;
      const { user, system } = process.cpuUsage(since);
      const took = (user + system) / 1000;
      globalThis.gc?.();
      const { heapUsed, rss } = process.memoryUsage();
      points.push({ steps: count, each: took / (count % every || every), heap: heapUsed / 2 ** 20, all: rss / 2 ** 20 });
      since = process.cpuUsage();
    }
    return points;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function policyWith(folder: string, steps: number, chain: boolean): string {
  const rows = Array.from({ length: steps }, (_, day) => `p0,${day + 1},${day % 7 < 2 ? 'yes' : 'no'}\n`);
  writeFileSync(join(folder, 'visits.csv'), `person,day,ill\n${rows.join('')}`);
  writeFileSync(join(folder, 'daily.json'), '[[0.8, 0.2], [0.2, 0.8]]');
  const policy = join(folder, 'visits.yaml');
  writeFileSync(
    policy,
    `data: { source: visits.csv }
protect: { secret: ${chain ? 'step' : 'row'} }
budget: { epsilon: 1${chain ? ', per: step' : ''} }
population: visits
ledger: ledger.db
dependence: ${chain ? '[{ kind: sequence, by: person, order: day, state: ill, transition: daily.json }]' : 'none'}
columns:
  day: { type: integer, bounds: [1, ${steps}], public: true }
  ill: { type: category, values: [yes, no] }
`,
  );
  return policy;
}
