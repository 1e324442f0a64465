import { partCells } from '../../privacy/mechanism/residual/layout.js';
import { fitModel as fitted } from '../graphical/fit.js';
import type { GraphicalModel } from '../graphical/graphical-model.js';
import { junctionTree } from '../graphical/junction-tree.js';
import { maximalSets, subsets } from './closure.js';
import { type TableEstimate, tableFrom } from './estimate.js';
import type { RequestedTable } from './form.js';

/** Most cells of all cliques for which one distribution is fitted to all tables: some seconds. */
const maxFittedCells = 2 ** 17;

/**
 * Cells of the distribution behind all tables; undefined if there are too many. Depends on the workload alone, before anything
 * starts.
 */
export function distributionCells({
  sizes,
  tables,
}: {
  readonly sizes: readonly number[];
  readonly tables: readonly Pick<RequestedTable, 'axes'>[];
}): number | undefined {
  const { cells } = junctionTree(sizes, maximalSets(tables.map(({ axes }) => axes)));
  return cells <= maxFittedCells ? cells : undefined;
}

/**
 * Distribution whose marginals are nearest to an estimate, in units of noise (analysis/graphical/fit.proof.md). Tables agree on a
 * shared marginal, so each counts for its share of it. Published numbers only.
 */
export function fitDistribution(estimate: TableEstimate, tables: readonly (readonly number[])[], rows: number): GraphicalModel {
  const { sizes, by } = estimate;
  const maximal = maximalSets(tables);
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
        return (
          (by.get(text)!.variance * times.get(text)! * partCells(sizes, { axes: inner })) / partCells(sizes, { axes: columns })
        );
      }),
    })),
  });
}
