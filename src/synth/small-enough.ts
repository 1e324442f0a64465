import type { Impossible, Measured } from '../graphical/fit.js';
import { treeOf } from '../graphical/tree.js';
import type { Setting } from './method.js';

type Columns = readonly number[];

/** How many cells a model of these tables has. */
export const modelCells = (sizes: readonly number[], sets: readonly Columns[], impossible: readonly Impossible[]): number =>
  treeOf(sizes, [...sets, ...impossible.map(({ columns }) => columns)]).cells;

/**
 * What was measured, without tables that would make the model too large. Rounds choose none of these; a tree of pairs may, where combinations are declared impossible across its branches. They are
 * paid for when that is seen: what they say is told, and the rows are made without them.
 */
export function smallEnough(
  { sizes, impossible, mostCells }: Pick<Setting, 'sizes' | 'impossible' | 'mostCells'>,
  measured: readonly Measured[],
): readonly Measured[] {
  const all = measured.map(({ columns }) => columns);
  if (modelCells(sizes, all, impossible) <= mostCells) return measured;
  const kept: Measured[] = [];
  for (const own of measured)
    if (modelCells(sizes, [...kept.map(({ columns }) => columns), own.columns], impossible) <= mostCells) kept.push(own);
  return kept;
}
