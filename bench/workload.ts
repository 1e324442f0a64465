import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fugu, open } from '../src/app/api/fugu.js';
import { type Bench, few, type Measured, timed } from './bench.js';

/** All tables of two columns, of a survey of 100 columns of five answers and 3,000 rows; data and ledger are open. */
async function asked(work: (fugu: Fugu) => Promise<unknown>): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-bench-'));
  const names = Array.from({ length: 100 }, (_, c) => `q${c}`);
  const lines = Array.from({ length: 3000 }, (_, i) => names.map((_, c) => (i * 31 + c * 17 + ((i * c) % 7)) % 5).join());
  await writeFile(join(folder, 's.csv'), `${names.join()}\n${lines.join('\n')}\n`);
  await writeFile(
    join(folder, 'policy.yaml'),
    `data: { source: s.csv }\nprotect: { secret: row }\nbudget: { epsilon: 1000, delta: 1e-6 }\npopulation: bench\nledger: ledger.db\ndependence: none\ncolumns:\n${names
      .map((q) => `  ${q}: { type: category, values: [0, 1, 2, 3, 4] }`)
      .join('\n')}\n`,
  );
  const fugu = await open(join(folder, 'policy.yaml'), { acceptNoProtection: true });
  try {
    return await timed(() => work(fugu), { rounds: few });
  } finally {
    await fugu.close();
    await rm(folder, { recursive: true, force: true });
  }
}
const workload = { tables: [{ all: 2 }] };

export const benches: readonly Bench[] = [
  {
    name: 'workload: all 4,950 tables of 2 of 100 columns, planned',
    goal: { seconds: 2 },
    run: () => asked((fugu) => fugu.plan({ workload }, { epsilon: 1 })),
  },
  {
    name: 'workload: all 4,950 tables of 2 of 100 columns, 3,000 rows, released',
    goal: { seconds: 5 },
    run: () => asked((fugu) => fugu.release({ workload }, { epsilon: 1, fresh: true })),
  },
];
