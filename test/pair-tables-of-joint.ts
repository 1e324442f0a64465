import { cellStarts, type PairTables } from '../src/privacy/dependence/pairwise/pair-tables.js';

/** The pair tables of a whole joint distribution given as weights in C order (last column fastest). */
export function pairTablesOfJoint(names: readonly string[], levels: readonly number[], weights: ArrayLike<number>): PairTables {
  const start = cellStarts(levels);
  const cells = start[levels.length]!;
  const counts = new Float64Array(cells * cells);
  const at = levels.map(() => 0);
  for (let state = 0; state < weights.length; state++) {
    for (let i = 0; i < levels.length; i++)
      for (let j = 0; j < levels.length; j++) counts[(start[i]! + at[i]!) * cells + start[j]! + at[j]!]! += weights[state]!;
    for (let c = levels.length - 1; c >= 0; c--) {
      if (++at[c]! < levels[c]!) break;
      at[c] = 0;
    }
  }
  return { names, levels, start, counts };
}
