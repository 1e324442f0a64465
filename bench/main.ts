import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Bench, type Failed, isMet } from './bench.js';
import { machineName, type Row, rowOf, skippedRow, textTable, withRows } from './figures.js';

// Every run queries the same data under a budget of its own.
process.env.FUGU_REGISTRY ??= 'off';

/**
 * `npm run bench [-- words]` prints every figure whose name holds all the words, and fails where the interval of one is not
 * within its goal. `--json` prints one JSON document instead; `--write` also puts the figures into docs/reference/figures.md,
 * from a tree whose sources are committed.
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
const has = (option: string): boolean => process.argv.includes(option);
const all = (await Promise.all(files.map((load) => load()))).flatMap((file) => file.benches);
const chosen = all.filter((b) => words.every((w) => b.name.toLowerCase().includes(w.toLowerCase())));
const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
const uncommitted = git('status', '--porcelain', '--', 'src', 'bench', 'experiments', 'package-lock.json');
if (has('--write') && uncommitted) throw new Error(`a figure names the commit it was measured at; commit first:\n${uncommitted}`);
const place = { commit: git('rev-parse', '--short=8', 'HEAD') + (uncommitted && '-dirty'), machine: machineName() };

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
  rows.push(skipped ? skippedRow(bench, measured) : rowOf(bench, measured, place));
  results.push({
    name: bench.name,
    goal: bench.goal,
    ...measured,
    ...(!skipped && bench.goal && { ok: isMet(bench.goal, measured) }),
  });
}
console.log(has('--json') ? JSON.stringify(results, undefined, 2) : textTable(rows));
if (has('--write')) {
  const page = 'docs/reference/figures.md';
  const names = new Set(all.map(({ name }) => name));
  writeFileSync(page, withRows(readFileSync(page, 'utf8'), rows, names, words.length === 0));
}
const missed = rows.filter(({ met }) => met === 'NO' || met === 'FAILED');
if (missed.length > 0) {
  process.stderr.write(`${missed.length} of ${rows.length} miss their goal: ${missed.map(({ work }) => work).join('; ')}\n`);
  process.exitCode = 1;
}
