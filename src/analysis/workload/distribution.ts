import { cellsOf } from '../../privacy/mechanism/residual/part.js';
import { fit as fitted } from '../graphical/fit.js';
import type { Graphical } from '../graphical/graphical.js';
import { treeOf } from '../graphical/tree.js';
import { maximalOf, subsets } from './closure.js';
import { type Estimate, tableFrom } from './estimate.js';
import type { AskedTable } from './form.js';

/** Most cells of all cliques for which one distribution is fitted to all tables: some seconds. */
const mostCells = 2 ** 17;

/**
 * Cells of the distribution behind all tables; undefined if there are too many. Depends on the workload alone, before anything
 * starts.
 */
export function distributionCells({
  sizes,
  tables,
}: {
  readonly sizes: readonly number[];
  readonly tables: readonly Pick<AskedTable, 'axes'>[];
}): number | undefined {
  const { cells } = treeOf(sizes, maximalOf(tables.map(({ axes }) => axes)));
  return cells <= mostCells ? cells : undefined;
}

/**
 * Distribution whose marginals are nearest to an estimate, in units of noise (analysis/graphical/fit.proof.md). Tables agree on a
 * shared marginal, so each counts for its share of it. Published numbers only.
 */
export function distributionFrom(estimate: Estimate, tables: readonly (readonly number[])[], rows: number): Graphical {
  const { sizes, by } = estimate;
  const maximal = maximalOf(tables);
  const times = new Map<string, number>();
  for (const axes of maximal) for (const inner of subsets(axes)) times.set(inner.join(), (times.get(inner.join()) ?? 0) + 1);
  return fitted({
    sizes,
    total: rows,
    within: 0.03,
    iterations: 3000,
    measured: maximal.map((columns) => ({
      columns,
      counts: tableFrom(estimate, columns),
      sd: 1,
      variances: Array.from({ length: 1 << columns.length }, (_, set) => {
        const inner = columns.filter((_, k) => (set >> k) & 1);
        const text = inner.join();
        return (by.get(text)!.variance * times.get(text)! * cellsOf(sizes, { axes: inner })) / cellsOf(sizes, { axes: columns });
      }),
    })),
  });
}
