import type { NoisyMarginal, StructuralZeros } from '../graphical/fit.js';
import { junctionTree } from '../graphical/junction-tree.js';
import { marginalIndex, sumInto } from '../graphical/marginal.js';
import type { SynthSetting } from './method.js';

type Columns = readonly number[];

/** Number of cells of a model of these tables. */
export const modelCells = (sizes: readonly number[], sets: readonly Columns[], impossible: readonly StructuralZeros[]): number =>
  junctionTree(sizes, [...sets, ...impossible.map(({ columns }) => columns)]).cells;

/**
 * Measurements without those that make the model too large; only trees with structural zeros across branches have any. They are paid
 * for, so still published; the marginal of a column in no other table is kept.
 */
export function withinModelLimit(
  { sizes, impossible, mostCells }: Pick<SynthSetting, 'sizes' | 'impossible' | 'mostCells'>,
  measured: readonly NoisyMarginal[],
): readonly NoisyMarginal[] {
  const all = measured.map(({ columns }) => columns);
  if (modelCells(sizes, all, impossible) <= mostCells) return measured;
  const kept: NoisyMarginal[] = [];
  const fits = (own: NoisyMarginal) =>
    modelCells(sizes, [...kept.map(({ columns }) => columns), own.columns], impossible) <= mostCells;
  for (const own of measured) if (fits(own)) kept.push(own);
  for (const own of measured)
    for (const column of own.columns) {
      if (kept.some(({ columns }) => columns.includes(column))) continue;
      const alone = columnMarginal(sizes, own, column);
      if (fits(alone)) kept.push(alone);
    }
  return kept;
}

/** One-column marginal of a table: sums of cells with independent noise. */
function columnMarginal(sizes: readonly number[], { columns, counts, sd }: NoisyMarginal, column: number): NoisyMarginal {
  const sums = new Float64Array(sizes[column]!);
  sumInto(marginalIndex(sizes, columns, [column]), counts, sums);
  return { columns: [column], counts: sums, sd: sd * Math.sqrt(counts.length / sums.length) };
}
