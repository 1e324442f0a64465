import { type Bench, formatFigure, formatSeconds, isMet, type Measured } from './bench.js';

/** `npm run bench [-- words]` prints every figure whose name holds all the words. `--json` prints one JSON document instead. */
const files: readonly (() => Promise<{ benches: readonly Bench[] }>)[] = [
  () => import('./exact.js'),
  () => import('./noise.js'),
  () => import('./engine.js'),
  () => import('./dependence.js'),
  () => import('./query.js'),
  () => import('./graph.js'),
  () => import('./release.js'),
  () => import('./ledger.js'),
  () => import('./published.js'),
  () => import('./learn.js'),
  () => import('./attack.js'),
];

interface Row {
  readonly work: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
  readonly goal: string;
  readonly ok: string;
}

const rowOf = (bench: Bench, measured: Measured): Row => ({
  work: bench.name,
  ours: formatFigure(measured.ours, measured.unit),
  peer: measured.peer ? `${formatFigure(measured.peer.seconds, measured.unit)} (${measured.peer.name})` : '',
  ratio: measured.peer ? `${(measured.ours / measured.peer.seconds).toPrecision(3)}x` : '',
  goal: 'ratio' in bench.goal ? `<= ${bench.goal.ratio}x` : `<= ${formatSeconds(bench.goal.seconds)}`,
  ok: isMet(bench.goal, measured) ? 'yes' : 'NO',
});

function printTable(rows: readonly Row[]): void {
  const keys = ['work', 'ours', 'peer', 'ratio', 'goal', 'ok'] as const;
  const width = Object.fromEntries(keys.map((k) => [k, Math.max(k.length, ...rows.map((r) => r[k].length))]));
  const line = (cells: Record<(typeof keys)[number], string>) =>
    keys
      .map((k) => cells[k].padEnd(width[k]!))
      .join('  ')
      .trimEnd();
  console.log(line({ work: 'work', ours: 'ours', peer: 'peer', ratio: 'ratio', goal: 'goal', ok: 'ok' }));
  console.log(keys.map((k) => '-'.repeat(width[k]!)).join('  '));
  for (const row of rows) console.log(line(row));
}

const words = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const asJson = process.argv.includes('--json');
const chosen = (await Promise.all(files.map((load) => load())))
  .flatMap((file) => file.benches)
  .filter((b) => words.every((w) => b.name.toLowerCase().includes(w.toLowerCase())));

const rows: Row[] = [];
const results: object[] = [];
for (const bench of chosen) {
  process.stderr.write(`${bench.name} ...\n`);
  const measured = await bench.run();
  if ('skipped' in measured) {
    rows.push({ work: bench.name, ours: '', peer: `skipped: ${measured.skipped}`, ratio: '', goal: '', ok: '-' });
    results.push({ name: bench.name, goal: bench.goal, ...measured });
  } else {
    rows.push(rowOf(bench, measured));
    results.push({ name: bench.name, goal: bench.goal, ...measured, ok: isMet(bench.goal, measured) });
  }
}
if (asJson) console.log(JSON.stringify(results, undefined, 2));
else printTable(rows);
