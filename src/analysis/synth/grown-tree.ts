import { cellStarts } from '../../privacy/dependence/pairwise/pair-tables.js';
import type { BudgetShare } from '../../privacy/mechanism/budget-share.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import type { NoisyMarginal } from '../graphical/fit.js';
import { marginalSize } from '../graphical/marginal.js';
import type { CodedTable } from '../learn/network/coded.js';
import { pairTables } from '../learn/network/contingency.js';
import { learnTree, treeNoise } from '../learn/network/private-tree.js';
import type { SynthMethod, SynthSetting } from './method.js';

/**
 * A tree grown from the first column on, each column under its most informative parent (PrivBayes with one parent each;
 * analysis/learn/network/private-tree.proof.md).
 */
export function grownTreeMethod(
  { sizes, records: rows }: Required<Pick<SynthSetting, 'sizes' | 'records'>>,
  budgetShare: BudgetShare,
): SynthMethod {
  // More values than fit are refused before anything is reserved.
  cellStarts(sizes);
  const noise = treeNoise(sizes, rows, budgetShare);
  const sd = Math.sqrt(noise.tables.variance);
  const run = (
    table: CodedTable,
    payment: Payment,
    progress?: (done: number, total: number) => void,
  ): readonly NoisyMarginal[] => {
    // The noise is planned for this public number of rows; another number means that the data is being written to.
    if (table.rows !== rows) throw new RangeError('the number of records has changed');
    const { parent, tables } = learnTree(pairTables(table), noise, payment, progress);
    return parent.flatMap((p, child): readonly NoisyMarginal[] => {
      if (p < 0) return [];
      const counts = tables[child]!;
      if (p < child) return [{ columns: [p, child], counts, sd }];
      return [{ columns: [child, p], counts: transposed(counts, sizes[p]!, sizes[child]!), sd }];
    });
  };
  const [widest = 1, next = 1] = [...sizes].sort((a, b) => b - a);
  return {
    why: 'Half of the budget chooses under which other column each is put, half is for noisy tables of these pairs.',
    mechanisms: [noise.structure, noise.tables],
    cells: (sizes.length - 1) * Math.min(widest * next, marginalSize(sizes, [0]) * widest * next),
    run,
  };
}

const transposed = (counts: Float64Array, high: number, wide: number): Float64Array =>
  Float64Array.from(counts, (_, cell) => counts[(cell % high) * wide + Math.floor(cell / high)]!);
