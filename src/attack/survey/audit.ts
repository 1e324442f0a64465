import { type CodedTable, chooseColumns } from '../../learn/network/coded.js';
import { tabularLoss } from '../../papers/correlated-columns/tabular-loss.js';

/** One exact audit: a handful of the survey's columns, their empirical joint taken as the truth. */
export interface SubSurveyAudit {
  readonly columns: readonly string[];
  readonly epsilon: number;
  readonly loss: number;
  /** Noise scale over 2n/epsilon (largest column). */
  readonly ratio: number;
}

/** Costs (2/scale per column) some mechanism uses for a small survey at epsilon. */
export type Calibrate = (table: CodedTable, epsilon: number) => readonly number[];

/** `count` sub-surveys of four or five columns with at most `levels` answers each: every other one neighbouring, the rest scattered. */
export function subSurveys(table: CodedTable, count: number, levels = 4): readonly CodedTable[] {
  const usable = table.levels.flatMap((v, c) => (v >= 2 && v <= levels ? [c] : []));
  const surveys: CodedTable[] = [];
  for (let k = 0; k < count && usable.length >= 5; k++) {
    const size = k % 5 < 2 ? 4 : 5;
    const chosen = new Set<number>();
    for (let step = 0; chosen.size < size; step++) {
      // a fixed scatter (golden ratio), not noise: audits must be repeatable
      const at =
        k % 2 === 0
          ? Math.floor(((k * 0.618034) % 1) * usable.length) + step
          : Math.floor((((k + 1) * (step + 1) * 0.618034) % 1) * usable.length) + step;
      chosen.add(usable[at % usable.length]!);
    }
    surveys.push(
      chooseColumns(
        table,
        [...chosen].sort((a, b) => a - b),
      ),
    );
  }
  return surveys;
}

/** Exact loss of a mechanism on each sub-survey. */
export function auditSubSurveys(
  surveys: readonly CodedTable[],
  epsilon: number,
  calibrate: Calibrate,
  adversary: 'informed' | 'uninformed' = 'uninformed',
): readonly SubSurveyAudit[] {
  return surveys.map((sub) => {
    const costs = calibrate(sub, epsilon);
    const bare = costs.some((cost) => cost === Number.POSITIVE_INFINITY);
    return {
      columns: sub.names,
      epsilon,
      loss: bare ? Number.POSITIVE_INFINITY : tabularLoss(jointCounts(sub), sub.levels, costs, adversary).loss,
      ratio: Math.max(...costs.map((cost) => epsilon / (cost * sub.names.length))),
    };
  });
}

export function jointCounts(table: CodedTable): Float64Array {
  const counts = new Float64Array(table.levels.reduce((p, v) => p * v, 1));
  for (let r = 0; r < table.rows; r++) {
    let cell = 0;
    for (let c = 0; c < table.levels.length; c++) cell = cell * table.levels[c]! + table.columns[c]![r]!;
    counts[cell]!++;
  }
  return counts;
}
