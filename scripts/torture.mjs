// npm run torture: the long runs that the suite only takes a slice of. Each prints its own table; this prints how they ended.
//
//   FUGU_TORTURE_MINUTES   how long the planted disk faults may take (10)
//   node scripts/torture.mjs faults fuzz …   only these
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const minutes = process.env.FUGU_TORTURE_MINUTES ?? '10';

/** Environment of each run; a value that is already set wins. */
const runs = [
  { name: 'faults', test: 'test/faults/faults.deep.test.ts', env: { FUGU_TORTURE: '1', FUGU_TORTURE_MINUTES: minutes } },
  { name: 'ledger', test: 'src/release/ledger', env: { FUGU_TORTURE: '1' } },
  { name: 'fuzz', test: 'test/fuzz', env: { FUGU_FUZZ: '100000' } },
  { name: 'cells', test: 'test/ugly-cells.deep.test.ts', env: { FUGU_FUZZ_CELLS: '5000' } },
  { name: 'climb', test: 'test/gaussian-promise.deep.test.ts', env: { FUGU_CLIMB: '30000' } },
];

const wanted = process.argv.slice(2);
const ended = runs
  .filter(({ name, test }) => (wanted.length === 0 || wanted.includes(name)) && existsSync(`${root}${test}`))
  .map(({ name, test, env }) => {
    const started = Date.now();
    process.stdout.write(`\n== ${name}: ${test} (${Object.entries(env).map((pair) => pair.join('=')).join(' ')})\n`);
    const { status } = spawnSync('npx', ['vitest', 'run', test, '--maxWorkers=2', '--testTimeout=3600000'], {
      cwd: root,
      stdio: 'inherit',
      timeout: 15 * 60_000,
      env: { ...env, ...process.env },
    });
    return { name, ok: status === 0, seconds: Math.round((Date.now() - started) / 1000) };
  });

process.stdout.write(`\n${'run'.padEnd(10)}${'ended'.padEnd(10)}seconds\n`);
for (const { name, ok, seconds } of ended) process.stdout.write(`${name.padEnd(10)}${(ok ? 'well' : 'BADLY').padEnd(10)}${seconds}\n`);
process.exitCode = ended.length > 0 && ended.every(({ ok }) => ok) ? 0 : 1;
