import { type CodedTable, chooseColumns } from '../../../analysis/learn/network/coded.js';
import { tabularLoss, tensorSize } from '../../papers/correlated-columns/tabular-loss.js';

/** One exact audit: a handful of the survey's columns, their empirical joint taken as the truth. */
export interface SubSurveyAudit {
  readonly columns: readonly string[];
  readonly epsilon: number;
  readonly loss: number;
  /** The loss is a lower bound (tabular-loss.ts). */
  readonly atLeast?: true;
  /** Noise scale over 2n/epsilon (largest column). */
  readonly ratio: number;
}

/** Costs (2/scale per column) some mechanism uses for a small survey at epsilon. */
export type Calibrate = (table: CodedTable, epsilon: number) => readonly number[];

/**
 * `count` sub-surveys of four or five columns with at most `levels` answers each: half of adjacent columns, half
 * scattered. With fewer than five such short columns, one sub-survey of as many columns as an exact audit can hold.
 */
export function subSurveys(table: CodedTable, count: number, levels = 4): readonly CodedTable[] {
  const usable = table.levels.flatMap((v, c) => (v >= 2 && v <= levels ? [c] : []));
  if (usable.length < 5) return fewColumns(table);
  const surveys: CodedTable[] = [];
  for (let k = 0; k < count; k++) {
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

/** Outputs of the one audit of a survey with few short columns: a few seconds. */
const mostOutputs = 2 ** 21;

/**
 * The columns with the fewest answers, at most five. A single one of
 * several columns shows nothing about dependence, so it is no sub-survey.
 */
function fewColumns(table: CodedTable): readonly CodedTable[] {
  const varied = table.levels.flatMap((v, c) => (v >= 2 ? [c] : [])).sort((a, b) => table.levels[a]! - table.levels[b]! || a - b);
  const sizes = (columns: readonly number[]) => columns.map((c) => table.levels[c]!);
  let size = Math.min(5, varied.length);
  while (size > 0 && tensorSize(sizes(varied.slice(0, size))) > mostOutputs) size--;
  if (size === 0 || (size === 1 && varied.length > 1)) return [];
  const chosen = varied.slice(0, size).sort((a, b) => a - b);
  return [chooseColumns(table, chosen)];
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
    const { loss, atLeast } = bare
      ? { loss: Number.POSITIVE_INFINITY, atLeast: undefined }
      : tabularLoss(jointCounts(sub), sub.levels, costs, adversary);
    return {
      columns: sub.names,
      epsilon,
      loss,
      ...(atLeast && { atLeast }),
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
