import { Fault } from '../../base/errors.js';
import { partCells } from '../../privacy/mechanism/residual/layout.js';
import { maxBatchCells, maxCells } from '../../query/keys.js';
import { downwardClosure } from './closure.js';
import type { Workload, WorkloadTable } from './form.js';
import { numberOfAnswers } from './residual-layout.js';

/** Refusal of a workload that is too large, before anything is allocated: depends on policy and workload alone. */
export function refuseLargeWorkload(workload: Workload): void {
  const { sizes, tables } = workload;
  for (const table of tables) {
    refuseLargeTable(workload, table, partCells(sizes, table), 'cells');
    refuseLargeTable(workload, table, numberOfAnswers(sizes, table), 'answers');
  }
  const all = downwardClosure(tables.map(({ axes }) => axes));
  const whole = all.reduce((n, axes) => n + partCells(sizes, { axes }), 0);
  if (whole <= maxBatchCells) return;
  throw new Fault(
    'DOMAIN_EXCEEDED',
    `The tables of the workload, and those inside them, have ${whole} cells; at most ${maxBatchCells} fit one request.`,
    dropHint(workload, all),
    { details: { size: whole, limit: maxBatchCells } },
  );
}

/** Names the column that makes a table large: among all tables of so many columns nobody would find it. */
function refuseLargeTable(workload: Workload, { axes }: WorkloadTable, size: number, what: string): void {
  if (size <= maxCells) return;
  const owner = ownersOf(workload);
  const places = new Map<string, number>();
  for (const axis of axes) places.set(owner[axis]!, (places.get(owner[axis]!) ?? 1) * workload.sizes[axis]!);
  const [widest, most] = [...places].reduce((a, b) => (b[1] > a[1] ? b : a));
  throw new Fault(
    'DOMAIN_EXCEEDED',
    `The table of ${[...places.keys()].map((name) => `"${name}"`).join(', ')} has ${size} ${what}; at most ${maxCells} fit one table.`,
    `Leave "${widest}" (${most} places) out of it, declare coarser bins, or ask for tables of fewer columns.`,
    { details: { size, limit: maxCells } },
  );
}

const ownersOf = ({ columns }: Workload): readonly string[] => columns.flatMap((column) => column.sizes.map(() => column.name));

/** Columns to leave out: always the one whose tables have most cells, until the rest fits. */
function dropHint(workload: Workload, all: readonly (readonly number[])[]): string {
  const { sizes } = workload;
  const dropped: string[] = [];
  let left = all.map((axes) => ({ axes, cells: partCells(sizes, { axes }) }));
  const sum = () => left.reduce((n, { cells }) => n + cells, 0);
  const owner = ownersOf(workload);
  while (sum() > maxBatchCells) {
    const by = new Map<string, number>();
    for (const { axes, cells } of left)
      for (const name of new Set(axes.map((axis) => owner[axis]!))) by.set(name, (by.get(name) ?? 0) + cells);
    const [most] = [...by].reduce((a, b) => (b[1] > a[1] ? b : a));
    dropped.push(most);
    left = left.filter(({ axes }) => axes.every((axis) => owner[axis] !== most));
  }
  const names = dropped.slice(0, 5).map((name) => `"${name}"`);
  const more = dropped.length > 5 ? ` and ${dropped.length - 5} more` : '';
  return `Leave out ${names.join(', ')}${more} (except:), and ${sum()} cells are left; or declare coarser bins, or ask for tables of fewer columns.`;
}
