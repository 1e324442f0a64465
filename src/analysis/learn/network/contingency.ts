import { cellStarts, type PairTables } from '../../../privacy/dependence/pairwise/pair-tables.js';
import type { CodedTable, Codes } from './coded.js';

/** All two-column tables of the survey. */
export function pairTables(table: CodedTable): PairTables {
  const start = cellStarts(table.levels);
  const cells = start[table.levels.length]!;
  const counts = new Uint32Array(cells * cells);
  const scratch = new Uint32Array(Math.max(...table.levels, 0) ** 2);
  for (let i = 0; i < table.columns.length; i++)
    for (let j = i; j < table.columns.length; j++) {
      const width = table.levels[j]!;
      countPairs(table.columns[i]!, table.columns[j]!, width, table.rows, scratch);
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

function countPairs(a: Codes, b: Codes, width: number, rows: number, counts: Uint32Array): void {
  for (let r = 0; r < rows; r++) counts[a[r]! * width + b[r]!]!++;
}

/** One three-column table, C order. */
export function tripleTable(table: CodedTable, i: number, j: number, k: number): Uint32Array {
  const [a, b, c] = [table.columns[i]!, table.columns[j]!, table.columns[k]!];
  const [vj, vk] = [table.levels[j]!, table.levels[k]!];
  const counts = new Uint32Array(table.levels[i]! * vj * vk);
  for (let r = 0; r < table.rows; r++) counts[(a[r]! * vj + b[r]!) * vk + c[r]!]!++;
  return counts;
}

/**
 * Three-way tables with one answer fixed: the pair tables of the rows with answer a in column i. All three-way tables of one pair of
 * secrets take two of these.
 */
export function pairTablesGiven(table: CodedTable, i: number, a: number): PairTables {
  const answer = table.columns[i]!;
  const rows: number[] = [];
  for (let r = 0; r < table.rows; r++) if (answer[r] === a) rows.push(r);
  return pairTables({
    ...table,
    rows: rows.length,
    columns: table.columns.map((codes) => Uint16Array.from(rows, (r) => codes[r]!)),
  });
}
