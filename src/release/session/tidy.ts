import type { AnswerRow, AnswerTable } from '../../query/bound.js';
import type { Measure } from '../../query/count/measure.js';
import { nearestCounts } from '../../query/nearest-counts.js';

/**
 * Post-processing for survey tables, at no cost: totals of measures that partition the rows are averaged (weight 1/variance), and each
 * moves to the nearest non-negative vector with that total. Lower error, at the price of bias in small cells.
 */
export function tidyCounts(
  measures: readonly Measure[],
  values: readonly (readonly number[])[],
  variances: readonly number[],
): bigint[][] {
  const partitions = measures.map(isPartition);
  let weighted = 0;
  let weights = 0;
  measures.forEach((m, k) => {
    if (!partitions[k] || !(variances[k]! > 0)) return;
    const weight = 1 / (variances[k]! * m.cells.length);
    weighted += weight * values[k]!.reduce((a, b) => a + b, 0);
    weights += weight;
  });
  const total = weights > 0 ? Math.max(0, Math.round(weighted / weights)) : 0;
  return measures.map((_, k) => {
    if (!(variances[k]! > 0) || !isCount(measures[k]!)) return values[k]!.map((v) => BigInt(Math.round(v)));
    return partitions[k]
      ? wholeNumbers(nearestCounts(values[k]!, total))
      : values[k]!.map((v) => BigInt(Math.max(0, Math.round(v))));
  });
}

const isCount = (m: Measure): boolean => m.mechanism === 'additive' && m.counting.value.kind === 'one';
const isPartition = (m: Measure): boolean =>
  isCount(m) &&
  m.counting.filter.length === 0 &&
  m.counting.keys.length > 0 &&
  m.counting.keys.every((key) => key.kind === 'bin' || key.kind === 'joint' || (key.kind === 'code' && key.missing === 'cell'));

/** Rounds to whole numbers with the same (whole) total: the largest remainders are rounded up. */
export function wholeNumbers(values: readonly number[]): bigint[] {
  const floors = values.map(Math.floor);
  const missing = Math.round(values.reduce((a, b) => a + b, 0)) - floors.reduce((a, b) => a + b, 0);
  const order = values.map((v, k) => [v - floors[k]!, k] as const).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  for (const [, k] of order.slice(0, Math.max(0, missing))) floors[k]!++;
  return floors.map(BigInt);
}

/**
 * Tidying lowers large cells of sparse tables by more than their noise,
 * so confidence intervals stay those of the noisy numbers, widened to hold the tidied one: at least the stated coverage.
 */
export const withErrorsOf = (tidied: readonly AnswerTable[], noised: readonly AnswerTable[]): readonly AnswerTable[] =>
  tidied.map((table, t) => ({ ...table, rows: table.rows.map((row, r) => withErrorOf(row, noised[t]!.rows[r]!)) }));

function withErrorOf(row: AnswerRow, { standardError, low, high, share }: AnswerRow): AnswerRow {
  const widened = row.share && share ? { ...row, share: holding(share, row.share) } : row;
  if (row.value === null || low === null || high === null) return { ...widened, standardError, low, high };
  return { ...widened, standardError, low: Math.min(low, row.value), high: Math.max(high, row.value) };
}

type Share = NonNullable<AnswerRow['share']>;
const holding = ({ low, high }: Share, { value }: Share): Share => ({
  value,
  low: Math.min(low, value ?? low),
  high: Math.max(high, value ?? high),
});
