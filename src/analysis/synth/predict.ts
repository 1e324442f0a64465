import type { NoisyMarginal } from '../graphical/fit.js';
import { marginalSize } from '../graphical/marginal.js';
import { type CodedTable, countMarginal } from '../learn/network/coded.js';

/** Predictability of a column from the others: accuracy of a classifier trained on synthetic rows. */
export interface PredictQuality {
  readonly column: string;
  /** Share of the synthetic rows with the most common answer: accuracy without any other column. */
  readonly common: number;
  /** Naive Bayes on all other columns, trained on the rows and evaluated on others of the same model: the claimed accuracy. */
  readonly claimed: number;
  /**
   * Part of that accuracy that measurements can check: the likeliest answer by the columns of one measured table. Absent if the column
   * is in no such table.
   */
  readonly tried?: TriedQuality;
}
export interface TriedQuality {
  readonly by: readonly string[];
  /** Accuracy on the synthetic rows, and on the measured table. */
  readonly synthetic: number;
  readonly measured: number;
  /** Standard deviation of the latter from noise; and its largest mean bias, because the rows were made from the same noise. */
  readonly sd: number;
  readonly flattered: number;
}

const mostLevels = 32;
const mostColumns = 16;

/** `fresh` are other rows of the same model. Depends on released numbers only. */
export function predictQuality(
  rows: CodedTable,
  fresh: CodedTable,
  measured: readonly NoisyMarginal[],
  total: number,
): readonly PredictQuality[] {
  const columns = [...rows.levels.keys()].filter((y) => rows.levels[y]! <= mostLevels).slice(0, mostColumns);
  if (rows.levels.length < 2) return [];
  return columns.map((y) => {
    const tried = measured
      .filter((own) => own.columns.length > 1 && own.columns.includes(y))
      .map((own) => tryOn(rows, own, y, total))
      .reduce<TriedQuality | undefined>((best, own) => (!best || own.synthetic > best.synthetic ? own : best), undefined);
    return {
      column: rows.names[y]!,
      common: Math.max(...countMarginal(rows, [y])) / rows.rows,
      claimed: naiveBayes(rows, fresh, y),
      ...(tried && { tried }),
    };
  });
}

function tryOn(rows: CodedTable, { columns, counts, sd }: NoisyMarginal, y: number, total: number): TriedQuality {
  const k = rows.levels[y]!;
  const own = countMarginal(rows, columns);
  const stride = marginalSize(
    rows.levels,
    columns.filter((c) => c > y),
  );
  let [synthetic, correct] = [0, 0];
  const groups = own.length / k;
  for (let g = 0; g < groups; g++) {
    const first = Math.floor(g / stride) * stride * k + (g % stride);
    let best = first;
    for (let v = 1; v < k; v++) if (own[first + v * stride]! > own[best]!) best = first + v * stride;
    synthetic += own[best]!;
    correct += counts[best]!;
  }
  return {
    by: columns.filter((c) => c !== y).map((c) => rows.names[c]!),
    synthetic: synthetic / rows.rows,
    measured: Math.min(1, Math.max(0, correct / total)),
    sd: (sd * Math.sqrt(groups)) / total,
    // The expected maximum of k normal numbers is below sqrt(2 ln k).
    flattered: Math.min(1, (groups * sd * Math.sqrt(2 * Math.log(k))) / total),
  };
}

function naiveBayes(rows: CodedTable, fresh: CodedTable, y: number): number {
  const k = rows.levels[y]!;
  const singles = countMarginal(rows, [y]);
  const prior = singles.map((n) => Math.log(n + 1));
  const others = [...rows.levels.keys()].filter((c) => c !== y);
  const logs = others.map((c) => {
    const m = rows.levels[c]!;
    const pairs = countMarginal(rows, [c, y]);
    return pairs.map((n, cell) => Math.log((n + 1) / (singles[cell % k]! + m)));
  });
  let right = 0;
  const score = new Float64Array(k);
  for (let r = 0; r < fresh.rows; r++) {
    score.set(prior);
    for (const [i, c] of others.entries()) {
      const at = fresh.columns[c]![r]! * k;
      const own = logs[i]!;
      for (let v = 0; v < k; v++) score[v]! += own[at + v]!;
    }
    let best = 0;
    for (let v = 1; v < k; v++) if (score[v]! > score[best]!) best = v;
    if (best === fresh.columns[y]![r]) right++;
  }
  return right / fresh.rows;
}
