import { subsetsUpTo } from '../../src/analysis/workload/closure.js';
import { combineParts, tableFrom } from '../../src/analysis/workload/estimate.js';
import { nonNegative } from '../../src/analysis/workload/non-negative.js';
import { residualLayout } from '../../src/analysis/workload/residual-layout.js';
import { fromNumber } from '../../src/base/exact/rational.js';
import { additiveMechanism } from '../../src/privacy/mechanism/additive.js';
import { zcdp } from '../../src/privacy/mechanism/budget-share.js';
import { Payment } from '../../src/privacy/mechanism/payment.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import { partCells } from '../../src/privacy/mechanism/residual/layout.js';
import { noisedTables } from '../../src/privacy/mechanism/residual/residual.js';
import { sensitivityOn } from '../../src/privacy/mechanism/sensitivity.js';
import { nearestCounts } from '../../src/query/nearest-counts.js';

/** Rows by their number of answers to every question. */
export interface Coded {
  readonly sizes: readonly number[];
  readonly rows: number;
  readonly columns: readonly ArrayLike<number>[];
}

/** rho that guarantees (epsilon, delta), by the usual bound. */
export const rhoOf = (epsilon: number, delta: number): number =>
  (Math.sqrt(epsilon + Math.log(1 / delta)) - Math.sqrt(Math.log(1 / delta))) ** 2;

/**
 * Root mean squared errors of all cells of all tables of two columns, of one draw each: noise on each table separately,
 * with and without negative cells, and the same for the workload.
 */
export function measuredErrors({ sizes, rows, columns }: Coded, rho: number): readonly number[] {
  const tables = subsetsUpTo([...sizes.keys()], 2).filter((axes) => axes.length === 2);
  const exact = new Map(subsetsUpTo([...sizes.keys()], 2).map((axes) => [axes.join(), countsOf({ sizes, rows, columns }, axes)]));
  const allotment = zcdp(fromNumber(rho));
  const layout = residualLayout({ sizes, tables: tables.map((axes) => ({ axes, weight: 1 })) }, 'replaced');
  const noised = noisedTables({ name: 'tables', layout, changes: [{ of: everyRecord, change: 'replaced', rows: 1 }] }, allotment);
  const told = noised.mechanism.prepare(new Payment([noised.mechanism]))(
    noised.vector(layout.parts.map(({ axes }) => Array.from(exact.get(axes.join())!, BigInt))),
  );
  const estimate = combineParts(layout, noised.split(told.map(Number)), noised.variance);
  const tidied = nonNegative(estimate, tables);
  const each = additiveMechanism(
    {
      name: 'table',
      cells: Math.max(...tables.map((axes) => partCells(sizes, { axes }))),
      times: tables.length,
      sensitivity: sensitivityOn([everyRecord], { l1: 2n, l2squared: 2n }),
    },
    allotment,
  );
  const paid = new Payment([each]);
  const squares = [0, 0, 0, 0];
  let cells = 0;
  for (const axes of tables) {
    const truth = exact.get(axes.join())!;
    const alone = each.prepare(paid, truth.length)(Array.from(truth, BigInt)).map(Number);
    const readings = [alone, nearestCounts(alone, rows), tableFrom(estimate, axes), tableFrom(tidied, axes)];
    for (const [k, reading] of readings.entries())
      for (let i = 0; i < truth.length; i++) squares[k]! += (reading[i]! - truth[i]!) ** 2;
    cells += truth.length;
  }
  return squares.map((x) => Math.sqrt(x / cells));
}

export function countsOf({ sizes, rows, columns }: Coded, axes: readonly number[]): Float64Array {
  const counts = new Float64Array(partCells(sizes, { axes }));
  for (let r = 0; r < rows; r++) counts[axes.reduce((cell, axis) => cell * sizes[axis]! + columns[axis]![r]!, 0)]!++;
  return counts;
}
