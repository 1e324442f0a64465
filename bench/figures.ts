import { type Bench, formatFigure, formatGoal, formatOurs, isMet, type Measured, type Skipped } from './bench.js';

/** A line of the table, as text. */
export interface Row {
  readonly work: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
  /** The middle half of the rounds. */
  readonly spread: string;
  readonly goal: string;
  readonly met: string;
  /** Commit of the measurement. */
  readonly at: string;
}
const keys = ['work', 'ours', 'peer', 'ratio', 'spread', 'goal', 'met', 'at'] as const satisfies readonly (keyof Row)[];

const metText = (met: boolean | undefined): string => (met === undefined ? '' : met ? 'yes' : 'NO');
const times = (x: number): string => `${x.toPrecision(3)}x`;

export const rowOf = (bench: Bench, measured: Measured, at: string): Row => ({
  work: bench.name,
  ours: measured.unit ? formatFigure(measured.ours, measured.unit) : formatOurs(bench.goal, measured.ours),
  peer: measured.peer ? `${formatFigure(measured.peer.seconds, measured.unit)} (${measured.peer.name})` : '',
  ratio: measured.peer ? times(measured.ours / measured.peer.seconds) : '',
  spread: measured.spread
    ? measured.spread.map((x) => (measured.peer ? times(x) : formatFigure(x, measured.unit))).join(' to ')
    : '',
  goal: formatGoal(bench.goal),
  met: metText(isMet(bench.goal, measured)),
  at,
});

export const skippedRow = ({ name }: Bench, { skipped, failed }: Skipped): Row => ({
  ...(Object.fromEntries(keys.map((k) => [k, ''])) as unknown as Row),
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

/**
 * The page with these rows: rows of the same name are replaced, new ones appended;
 * others stay as long as the figure still exists.
 */
export function withRows(page: string, rows: readonly Row[], names: ReadonlySet<string>): string {
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start < 0 || end < start) throw new Error('the page has no place for the table');
  const line = (row: Row) => `| ${keys.map((k) => row[k]).join(' | ')} |`;
  const fresh = new Map(rows.filter(({ met }) => met !== '-' && met !== 'FAILED').map((row) => [row.work, line(row)]));
  const kept = page
    .slice(start + from.length, end)
    .split('\n')
    .filter((text) => text.startsWith('| '))
    .slice(1)
    .flatMap((text) => {
      const work = text.split(' | ')[0]!.slice(2);
      const now = fresh.get(work);
      fresh.delete(work);
      return names.has(work) ? [now ?? text] : [];
    });
  const table = [`| ${keys.join(' | ')} |`, `|${'---|'.repeat(keys.length)}`, ...kept, ...fresh.values()];
  return `${page.slice(0, start + from.length)}\n${table.join('\n')}\n${page.slice(end)}`;
}
