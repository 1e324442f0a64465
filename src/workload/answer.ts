import type { AdditiveLaw } from '../mechanism/law.js';
import { cellsOf } from '../mechanism/residual/part.js';
import type { NoisedTables } from '../mechanism/residual/residual.js';
import type { AnswerTable, Foreseen } from '../query/bound.js';
import { cellsOf as labelsOf } from '../query/keys.js';
import type { Query } from '../query/query.js';
import { cellVariance, type Estimate, tableFrom, variancesOf } from './estimate.js';
import type { AskedTable, Workload } from './form.js';

/** Standard errors in half a 95 % interval: a cell is a sum of many noises, at worst one of Laplace's by itself (estimate.proof.md). */
export const halfWidths = (kind: AdditiveLaw['kind']): number => (kind === 'laplace' ? Math.log(20) / Math.SQRT2 : 1.959964);

const namesOf = ({ names }: Workload, { axes }: AskedTable): readonly string[] => axes.map((axis) => names[axis]!);
const titleOf = (workload: Workload, table: AskedTable): string => namesOf(workload, table).join(' x ');
const queryOf = (workload: Workload, table: AskedTable): Query => ({ kind: 'count', by: [...namesOf(workload, table)] });

/** Every cell's error, before anything is drawn: all cells of a table have the same. */
export function foreseen(workload: Workload, { layout, variance, mechanism }: NoisedTables): readonly Foreseen[] {
  const variances = variancesOf(layout);
  return workload.tables.map((table) => {
    const standardError = Math.sqrt(cellVariance(workload.sizes, table.axes, variances) * variance);
    return {
      name: titleOf(workload, table),
      query: queryOf(workload, table),
      cells: cellsOf(workload.sizes, table),
      error: 'combined',
      standardError,
      halfWidth: standardError * halfWidths(mechanism.law.kind),
      perRow: false,
    };
  });
}

/** Every table as it was noised: unbiased, with intervals that hold the truth as often as they say. */
export function answerTables(workload: Workload, estimate: Estimate, wide: number): readonly AnswerTable[] {
  const variances = new Map([...estimate.by].map(([text, { variance }]) => [text, variance]));
  return workload.tables.map((table) => {
    const values = tableFrom(estimate, table.axes);
    const standardError = Math.sqrt(cellVariance(workload.sizes, table.axes, variances));
    const half = standardError * wide;
    return {
      name: titleOf(workload, table),
      query: queryOf(workload, table),
      columns: [...namesOf(workload, table), 'count'],
      rows: labelsOf(table.axes.map((axis) => workload.axes[axis]!)).map((keys, cell) => {
        const value = values[cell]!;
        return { keys, value, standardError, low: value - half, high: value + half };
      }),
      error: 'combined',
    };
  });
}

/** Such tables with other values for their cells, each with an error as large as before. */
export const withValues = (
  workload: Workload,
  tables: readonly AnswerTable[],
  valuesOf: (axes: readonly number[]) => Float64Array,
): readonly AnswerTable[] =>
  tables.map((table, t) => {
    const values = valuesOf(workload.tables[t]!.axes);
    return {
      ...table,
      rows: table.rows.map((row, cell) => {
        const value = values[cell]!;
        return { ...row, value, low: value + row.low! - row.value!, high: value + row.high! - row.value! };
      }),
    };
  });

/**
 * Better values for the cells of noisy tables, none below zero. Intervals stay those of the noisy ones, without what is below zero, where no count is, and widened to hold the value: the truth is in them no
 * less often (non-negative.proof.md).
 */
export const tidied = (noisy: readonly AnswerTable[], better: readonly AnswerTable[]): readonly AnswerTable[] =>
  noisy.map((table, t) => ({
    ...table,
    rows: table.rows.map((row, cell) => {
      const value = Math.max(0, better[t]!.rows[cell]!.value!);
      return { ...row, value, low: Math.max(0, Math.min(row.low!, value)), high: Math.max(row.high!, value) };
    }),
  }));
