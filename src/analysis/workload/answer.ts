import type { AdditiveDistribution } from '../../privacy/mechanism/distribution.js';
import type { NoisedTables } from '../../privacy/mechanism/residual/residual.js';
import type { AnswerTable, ExpectedError } from '../../query/bound.js';
import type { Query } from '../../query/query.js';
import { type TableEstimate, tableFrom } from './estimate.js';
import type { Workload, WorkloadTable } from './form.js';
import { evaluateViews, variancesIn } from './linear-query.js';
import { variancesGivenKnown } from './residual-layout.js';

/** Standard errors in half a 95 % interval: a cell is a sum of many noises, at worst a single Laplace noise (estimate.proof.md). */
export const halfWidthFactor = (kind: AdditiveDistribution['kind']): number =>
  kind === 'laplace' ? Math.log(20) / Math.SQRT2 : 1.959964;

const namesOf = ({ views }: WorkloadTable): readonly string[] => views.map(({ view }) => view.name);
const titleOf = (table: WorkloadTable): string => namesOf(table).join(' x ');
const queryOf = (table: WorkloadTable): Query => ({ kind: 'count', by: [...namesOf(table)] });

/** Expected error of every table before anything is drawn: that of its worst answer, if they differ. */
export function expectedTableErrors(
  { tables }: Pick<Workload, 'tables'>,
  { layout, variance, mechanism }: NoisedTables,
  known: readonly number[] = [],
): readonly ExpectedError[] {
  const variances = variancesGivenKnown(layout, known);
  return tables.map((table) => {
    const own = variancesIn(table.views, (axes) => variances.get(axes)!);
    const standardError = Math.sqrt(own.reduce((a, b) => Math.max(a, b), 0) * variance);
    return {
      name: titleOf(table),
      query: queryOf(table),
      cells: own.length,
      error: 'combined',
      standardError,
      halfWidth: standardError * halfWidthFactor(mechanism.distribution.kind),
      perRow: false,
    };
  });
}

/** Labels of all answers of a table, the last key fastest. */
function labelsOf({ views }: WorkloadTable): readonly (readonly string[])[] {
  let cells: readonly (readonly string[])[] = [[]];
  for (const { view } of views) cells = cells.flatMap((before) => view.labels.map((label) => [...before, label]));
  return cells;
}

/** Every table as measured: unbiased, with confidence intervals of stated coverage. */
export function answerTables(
  { tables }: Pick<Workload, 'tables'>,
  estimate: TableEstimate,
  wide: number | ((axes: readonly number[]) => number),
): readonly AnswerTable[] {
  return tables.map((table) => {
    const values = evaluateViews(table.views, tableFrom(estimate, table.axes));
    const variances = variancesIn(table.views, (axes) => estimate.by.get(axes)!.variance);
    const times = typeof wide === 'number' ? wide : wide(table.axes);
    return {
      name: titleOf(table),
      query: queryOf(table),
      columns: [...namesOf(table), 'count'],
      rows: labelsOf(table).map((keys, cell) => {
        const value = values[cell]!;
        const standardError = Math.sqrt(variances[cell]!);
        const half = standardError * times;
        return { keys, value, standardError, low: value - half, high: value + half };
      }),
      error: 'combined',
    };
  });
}

/**
 * Nearer values for the cells of noisy tables, none negative. Intervals are those of the noisy tables, clamped at zero and widened to
 * hold the value, so coverage does not fall (non-negative.proof.md).
 */
export const tidyTables = (
  { tables }: Pick<Workload, 'tables'>,
  noisy: readonly AnswerTable[],
  improved: (axes: readonly number[]) => Float64Array,
): readonly AnswerTable[] =>
  noisy.map((table, t) => {
    const { views, axes } = tables[t]!;
    const values = evaluateViews(views, improved(axes));
    return {
      ...table,
      rows: table.rows.map((row, cell) => {
        const value = Math.max(0, values[cell]!);
        return { ...row, value, low: Math.max(0, Math.min(row.low!, value)), high: Math.max(row.high!, value) };
      }),
    };
  });
