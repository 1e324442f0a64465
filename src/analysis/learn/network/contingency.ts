import { cellStarts, type PairTables } from '../../../privacy/dependence/pairwise/pair-tables.js';
import type { CodedTable } from './coded.js';

/** All two-column tables of the survey. */
export function pairTables(table: CodedTable): PairTables {
  const start = cellStarts(table.levels);
  const cells = start[table.levels.length]!;
  const counts = new Uint32Array(cells * cells);
  const scratch = new Uint32Array(Math.max(...table.levels, 0) ** 2);
  for (let i = 0; i < table.columns.length; i++)
    for (let j = i; j < table.columns.length; j++) {
      const width = table.levels[j]!;
      const [first, second] = [table.columns[i]!, table.columns[j]!];
      for (let r = 0; r < table.rows; r++) scratch[first[r]! * width + second[r]!]!++;
      for (let a = 0; a < table.levels[i]!; a++)
        for (let b = 0; b < width; b++) {
          const count = scratch[a * width + b]!;
          scratch[a * width + b] = 0;
          counts[(start[i]! + a) * cells + start[j]! + b] = count;
          counts[(start[j]! + b) * cells + start[i]! + a] = count;
        }
    }
  return { names: table.names, levels: table.levels, start, counts };
}
