import { Fault } from '../errors.js';
import { cellsOf } from '../mechanism/residual/part.js';
import { mostCells, mostCellsTogether, refuseManyCells } from '../query/keys.js';
import { closureOf } from './closure.js';
import type { Workload } from './form.js';
import { answersIn } from './ways.js';

/** Asked before anything of that size is made: it speaks about policy and workload alone. */
export function refuseLarge(workload: Workload): void {
  const { sizes, tables } = workload;
  for (const table of tables) {
    refuseManyCells(cellsOf(sizes, table), 'A table of the workload has', 'cells', mostCells);
    refuseManyCells(answersIn(sizes, table), 'A table of the workload has', 'answers', mostCells);
  }
  const all = closureOf(tables.map(({ axes }) => axes));
  const whole = all.reduce((n, axes) => n + cellsOf(sizes, { axes }), 0);
  if (whole <= mostCellsTogether) return;
  throw new Fault(
    'DOMAIN_EXCEEDED',
    `The tables of the workload, and those inside them, have ${whole} cells; at most ${mostCellsTogether} fit one request.`,
    dropHint(workload, all),
    { details: { size: whole, limit: mostCellsTogether } },
  );
}

/** Which columns to leave out: always the one whose tables have most cells, until the rest fits. */
function dropHint({ columns, sizes }: Workload, all: readonly (readonly number[])[]): string {
  const dropped: string[] = [];
  let left = all.map((axes) => ({ axes, cells: cellsOf(sizes, { axes }) }));
  const sum = () => left.reduce((n, { cells }) => n + cells, 0);
  const owner = columns.flatMap((column) => column.sizes.map(() => column.name));
  while (sum() > mostCellsTogether) {
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
