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

/** No value is told below `least`. */
export function answerTables(
  workload: Workload,
  estimate: Estimate,
  wide: number,
  least = Number.NEGATIVE_INFINITY,
): readonly AnswerTable[] {
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
        const value = Math.max(least, values[cell]!);
        return { keys, value, standardError, low: value - half, high: value + half };
      }),
      error: 'combined',
    };
  });
}
