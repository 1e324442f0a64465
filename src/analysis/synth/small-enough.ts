import type { Impossible, Measured } from '../graphical/fit.js';
import { placesOf, sumInto } from '../graphical/margin.js';
import { treeOf } from '../graphical/tree.js';
import type { Setting } from './method.js';

type Columns = readonly number[];

/** Number of cells of a model of these tables. */
export const modelCells = (sizes: readonly number[], sets: readonly Columns[], impossible: readonly Impossible[]): number =>
  treeOf(sizes, [...sets, ...impossible.map(({ columns }) => columns)]).cells;

/**
 * Measurements without those that make the model too large; only trees with structural zeros across branches have any. They are paid
 * for, so still published; the marginal of a column in no other table is kept.
 */
export function smallEnough(
  { sizes, impossible, mostCells }: Pick<Setting, 'sizes' | 'impossible' | 'mostCells'>,
  measured: readonly Measured[],
): readonly Measured[] {
  const all = measured.map(({ columns }) => columns);
  if (modelCells(sizes, all, impossible) <= mostCells) return measured;
  const kept: Measured[] = [];
  const fits = (own: Measured) =>
    modelCells(sizes, [...kept.map(({ columns }) => columns), own.columns], impossible) <= mostCells;
  for (const own of measured) if (fits(own)) kept.push(own);
  for (const own of measured)
    for (const column of own.columns) {
      if (kept.some(({ columns }) => columns.includes(column))) continue;
      const alone = ofColumn(sizes, own, column);
      if (fits(alone)) kept.push(alone);
    }
  return kept;
}

/** One-column marginal of a table: sums of cells with independent noise. */
function ofColumn(sizes: readonly number[], { columns, counts, sd }: Measured, column: number): Measured {
  const sums = new Float64Array(sizes[column]!);
  sumInto(placesOf(sizes, columns, [column]), counts, sums);
  return { columns: [column], counts: sums, sd: sd * Math.sqrt(counts.length / sums.length) };
}
