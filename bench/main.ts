import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Bench, type Failed, isMet } from './bench.js';
import { type Row, rowOf, skippedRow, textTable, withRows } from './figures.js';

// Every run queries the same data under a budget of its own.
process.env.FUGU_REGISTRY ??= 'off';

/**
 * `npm run bench [-- words]` prints every figure whose name holds all the words, and fails where one exceeds its goal.
 * `--json` prints one JSON document instead; `--write` also puts the figures into docs/reference/figures.md.
 */
const files: readonly (() => Promise<{ benches: readonly Bench[] }>)[] = [
  () => import('./start.js'),
  () => import('./exact.js'),
  () => import('./noise.js'),
  () => import('./engine.js'),
  () => import('./scale.js'),
  () => import('./dependence.js'),
  () => import('./ties.js'),
  () => import('./query.js'),
  () => import('./tables.js'),
  () => import('./graph.js'),
  () => import('./release.js'),
  () => import('./wide.js'),
  () => import('./workload.js'),
  () => import('./ledger.js'),
  () => import('./published.js'),
  () => import('./learn.js'),
  () => import('./attack.js'),
  () => import('./service.js'),
  () => import('./peers.js'),
];

const words = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const asked = (option: string): boolean => process.argv.includes(option);
const all = (await Promise.all(files.map((load) => load()))).flatMap((file) => file.benches);
const chosen = all.filter((b) => words.every((w) => b.name.toLowerCase().includes(w.toLowerCase())));
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();

/** A line that cannot be measured must not stop the others. */
const failed = (error: unknown): Failed => ({
  skipped: `FAILED: ${error instanceof Error ? error.message : error}`,
  failed: true,
});

const rows: Row[] = [];
const results: object[] = [];
for (const bench of chosen) {
  process.stderr.write(`${bench.name} ...\n`);
  const measured = await bench.run().catch(failed);
  const skipped = 'skipped' in measured;
  rows.push(skipped ? skippedRow(bench, measured) : rowOf(bench, measured, commit));
  results.push({
    name: bench.name,
    goal: bench.goal,
    ...measured,
    ...(!skipped && bench.goal && { ok: isMet(bench.goal, measured) }),
  });
}
console.log(asked('--json') ? JSON.stringify(results, undefined, 2) : textTable(rows));
if (asked('--write')) {
  const page = 'docs/reference/figures.md';
  writeFileSync(page, withRows(readFileSync(page, 'utf8'), rows, new Set(all.map(({ name }) => name))));
}
const missed = rows.filter(({ met }) => met === 'NO' || met === 'FAILED');
if (missed.length > 0) {
  process.stderr.write(`${missed.length} of ${rows.length} miss their goal: ${missed.map(({ work }) => work).join('; ')}\n`);
  process.exitCode = 1;
}
