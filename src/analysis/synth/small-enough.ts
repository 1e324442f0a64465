import type { Impossible, Measured } from '../graphical/fit.js';
import { placesOf, sumInto } from '../graphical/margin.js';
import { treeOf } from '../graphical/tree.js';
import type { Setting } from './method.js';

type Columns = readonly number[];

/** How many cells a model of these tables has. */
export const modelCells = (sizes: readonly number[], sets: readonly Columns[], impossible: readonly Impossible[]): number =>
  treeOf(sizes, [...sets, ...impossible.map(({ columns }) => columns)]).cells;

/**
 * What was measured, without tables that would make the model too large. Rounds choose none of these; a tree of pairs may, where combinations are declared impossible across its branches. They are
 * paid for when that is seen: what they say is told, and the rows are made without them. What one says of a column that no other table has is kept.
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

/** What a table says of one of its columns: sums of cells whose noise is each by itself. */
function ofColumn(sizes: readonly number[], { columns, counts, sd }: Measured, column: number): Measured {
  const sums = new Float64Array(sizes[column]!);
  sumInto(placesOf(sizes, columns, [column]), counts, sums);
  return { columns: [column], counts: sums, sd: sd * Math.sqrt(counts.length / sums.length) };
}
