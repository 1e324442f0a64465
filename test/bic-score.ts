import { type CodedTable, countMarginal } from '../src/analysis/learn/network/coded.js';

/** BIC of a given structure on the data: what `bestStructure` maximises. */
export function bicScore(table: CodedTable, parents: readonly (readonly number[])[]): number {
  const weight = Math.log(Math.max(table.rows, 2)) / 2;
  let score = 0;
  parents.forEach((list, x) => {
    const width = table.levels[x]!;
    const counts = countMarginal(table, [...list, x]);
    for (let row = 0; row < counts.length; row += width) {
      let total = 0;
      for (let v = row; v < row + width; v++) {
        total += counts[v]!;
        if (counts[v]! > 0) score += counts[v]! * Math.log(counts[v]!);
      }
      if (total > 0) score -= total * Math.log(total);
    }
    score -= weight * (width - 1) * (counts.length / width);
  });
  return score;
}
