import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Bench, timedBeside } from './bench.js';

/**
 * Time a person waits for a command, from start to end of its process,
 * compared with the smallest process that could answer.
 */
const program = resolve('dist/start/main.js');
const driver = import.meta.resolve('@duckdb/node-api');

const node =
  (cwd: string, ...words: readonly string[]) =>
  (): void => {
    const { status, stderr } = spawnSync(process.execPath, words, { cwd, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const rows = Array.from({ length: 3000 }, (_, i) => `${['dem', 'rep', 'other', 'green'][(i * 7) % 4]},${17 + (i % 74)}`);
const files: Readonly<Record<string, string>> = {
  'people.csv': `party,age\n${rows.join('\n')}\n`,
  'policy.yaml': `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: 20 }
population: bench
ledger: ledger.db
dependence: none
columns:
  party: { type: category, values: [dem, rep, other, green] }
  age: { type: integer, bounds: [17, 90] }
`,
  'model.json': JSON.stringify({
    records: ['a', 'b'].map((id) => ({ id, values: [0, 1] })),
    factors: [
      {
        records: ['a', 'b'],
        table: [
          [2, 1],
          [1, 2],
        ],
      },
    ],
  }),
  'duckdb.mjs': `import { DuckDBInstance } from ${JSON.stringify(driver.startsWith('file:') ? driver : pathToFileURL(driver).href)};
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const found = await connection.runAndReadAll("SELECT party, count(*) FROM 'people.csv' GROUP BY party");
console.log(found.getRows().length);
`,
};

const cold = (
  name: string,
  ratio: number | undefined,
  words: readonly string[],
  peer: string,
  peerWords: readonly string[],
): Bench => ({
  name: `start: ${name}, a process of its own`,
  ...(ratio !== undefined && { goal: { ratio } }),
  run: () =>
    inFolder(async (folder) =>
      timedBeside(peer, node(folder, program, ...words), node(folder, ...peerWords), { rounds: 15, warm: false }),
    ),
});
const alone = ['node that does nothing', ['-e', '0']] as const;
const release = ['release', 'policy.yaml', '--query', '{"kind": "histogram", "column": "party"}', '--epsilon', '0.1', '--fresh'];

export const benches: readonly Bench[] = [
  cold('fugu --version', 2, ['--version'], ...alone),
  cold('fugu --help', undefined, ['--help'], ...alone),
  cold('fugu epsilon', undefined, ['epsilon', '--prior', '0.1', '--posterior', '0.3'], ...alone),
  cold('fugu leak', undefined, ['leak', 'model.json', '--base', '0.1'], ...alone),
  cold('fugu release, a histogram of 3,000 rows of csv', 1.47, release, 'node with DuckDB, the same question', ['duckdb.mjs']),
];
