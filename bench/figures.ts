import { cpus, totalmem } from 'node:os';
import { type Bench, decidingFigure, type Goal, isMet, type Measured, ownFigure, ratioFigure, type Skipped } from './bench.js';
import { median } from './statistics.js';

const keys = ['work', 'ours', 'peer', 'ratio', 'interval', 'rounds', 'goal', 'met', 'commit', 'machine'] as const;
/** A line of the table, as text. */
export type Row = Readonly<Record<(typeof keys)[number], string>>;

/** Where a line was measured. */
export interface Place {
  readonly commit: string;
  readonly machine: string;
}

/** FUGU_BENCH_MACHINE, or what the system says of itself. */
export function machineName(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return (
    process.env.FUGU_BENCH_MACHINE ?? `${cpus().length} x ${first?.model.trim()}, ${memory} GB, Node ${process.versions.node}`
  );
}

function formatSeconds(s: number): string {
  if (s < 1e-6) return `${(s * 1e9).toFixed(0)} ns`;
  if (s < 1e-3) return `${(s * 1e6).toFixed(1)} us`;
  return s < 1 ? `${(s * 1e3).toFixed(1)} ms` : `${s.toFixed(2)} s`;
}
const formatBytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
const formatTimes = (x: number): string => `${x.toPrecision(3)}x`;

const formatGoal = (goal: Goal): string => {
  if ('ratio' in goal) return `<= ${goal.ratio}x`;
  return `<= ${'bytes' in goal ? formatBytes(goal.bytes) : formatSeconds(goal.seconds)}`;
};
const metTexts = new Map([
  [true, 'yes'],
  [false, 'NO'],
]);

export function rowOf({ name, goal }: Bench, measured: Measured, place: Place): Row {
  const { ours, peer, unit } = measured;
  const format = (x: number): string => {
    if (unit) return `${x.toPrecision(3)} ${unit}`;
    return goal && 'bytes' in goal ? formatBytes(x) : formatSeconds(x);
  };
  const ratio = ratioFigure(measured);
  const aboutRatio = ratio !== undefined && (!goal || 'ratio' in goal);
  const met = isMet(goal, measured);
  return {
    ...place,
    work: name,
    ours: format(ownFigure(measured).median),
    peer: peer ? `${format(median(peer.rounds))} (${peer.name})` : '',
    ratio: ratio ? formatTimes(ratio.median) : '',
    interval:
      decidingFigure(goal, measured)
        .interval?.map(aboutRatio ? formatTimes : format)
        .join(' to ') ?? 'too few rounds',
    rounds: String(ours.length),
    goal: goal ? formatGoal(goal) : '',
    met: met === undefined ? '' : metTexts.get(met)!,
  };
}

export const skippedRow = ({ name }: Bench, { skipped, failed }: Skipped): Row => ({
  ...(Object.fromEntries(keys.map((k) => [k, ''])) as Row),
  work: name,
  peer: failed ? skipped : `skipped: ${skipped}`,
  met: failed ? 'FAILED' : '-',
});

/** Aligned, for a terminal. */
export function textTable(rows: readonly Row[]): string {
  const width = Object.fromEntries(keys.map((k) => [k, Math.max(k.length, ...rows.map((r) => r[k].length))]));
  const line = (cell: (key: (typeof keys)[number]) => string) =>
    keys
      .map((k) => cell(k).padEnd(width[k]!))
      .join('  ')
      .trimEnd();
  return [line((k) => k), line((k) => '-'.repeat(width[k]!)), ...rows.map((row) => line((k) => row[k]))].join('\n');
}

const from = '<!-- written by npm run bench -- --write -->';
const to = '<!-- end -->';
const header = `| ${keys.join(' | ')} |`;

/**
 * The page with these rows. A run of some benches replaces rows of the same name and appends new ones; others stay as long
 * as `names` has them and the table has the columns of today. A whole run keeps nothing that it did not measure.
 */
export function withRows(page: string, rows: readonly Row[], names: ReadonlySet<string>, whole: boolean): string {
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start < 0 || end < start) throw new Error('the page has no place for the table');
  const measured = rows.filter(({ met }) => met !== '-' && met !== 'FAILED');
  const fresh = new Map(measured.map((row) => [row.work, `| ${keys.map((k) => row[k]).join(' | ')} |`]));
  const [headed, ...lines] = page
    .slice(start + from.length, end)
    .split('\n')
    .filter((text) => text.startsWith('| '));
  const nameOf = (line: string): string => line.split(' | ')[0]!.slice(2);
  const old = whole || headed !== header ? [] : lines.filter((line) => names.has(nameOf(line)));
  const kept = new Map(old.map((line) => [nameOf(line), line]));
  const table = [header, `|${'---|'.repeat(keys.length)}`, ...new Map([...kept, ...fresh]).values()];
  return `${page.slice(0, start + from.length)}\n${table.join('\n')}\n${page.slice(end)}`;
}
