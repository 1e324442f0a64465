import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Bench, few, inPairs, type Measured, secondsOf, timed } from './bench.js';

/** A survey from the command line: a process that reads the policy and 1,000 rows of a csv, and releases a histogram of every column. */
const program = resolve('dist/start/main.js');
const rows = 1000;

async function withSurvey<T>(columns: number, work: (release: () => void) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  try {
    const names = Array.from({ length: columns }, (_, c) => `q${c}`);
    const lines = Array.from({ length: rows }, (_, i) => names.map((_, c) => (i * 31 + c * 17 + ((i * c) % 7)) % 5).join());
    await writeFile(join(folder, 's.csv'), `${names.join()}\n${lines.join('\n')}\n`);
    const declared = names.map((q) => `  ${q}: { type: category, values: [0, 1, 2, 3, 4] }`).join('\n');
    await writeFile(
      join(folder, 'policy.yaml'),
      `data: { source: s.csv }\nprotect: { secret: row }\nbudget: { epsilon: 20, delta: 1e-6 }\npopulation: bench\nledger: ledger.db\ndependence: none\ncolumns:\n${declared}\n`,
    );
    const words = [program, 'release', 'policy.yaml', '--survey', '--epsilon', '1', '--fresh', '--json'];
    return await work(() => {
      const { status, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 });
      if (status !== 0) throw new Error(stderr);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const perColumn = (columns: number): Promise<Measured> =>
  withSurvey(columns, (ours) =>
    withSurvey(1000, (thousand) =>
      inPairs(
        secondsOf(ours, { calls: columns, warm: false }),
        'a column of 1,000',
        secondsOf(thousand, { calls: 1000, warm: false }),
        few,
      ),
    ),
  );

export const benches: readonly Bench[] = [
  { name: 'survey of 5,000 columns from the command line, a column', goal: { ratio: 1 }, run: () => perColumn(5000) },
  { name: 'survey of 10,000 columns from the command line, a column', goal: { ratio: 1 }, run: () => perColumn(10_000) },
  {
    name: 'survey of 10,000 columns from the command line',
    goal: { seconds: 3 },
    run: () => withSurvey(10_000, (ours) => timed(ours, { rounds: few, warm: false })),
  },
];
