import type { Impossible, Measured } from '../graphical/fit.js';
import type { CodedTable } from '../learn/network/coded.js';
import type { Additive } from '../mechanism/additive.js';
import type { Mechanism } from '../mechanism/mechanism.js';
import type { Paid } from '../mechanism/paid.js';
import { cellsOf, countsOf } from './counts.js';

/** What is known before the data is read; every method makes its noise from this alone. */
export interface Setting {
  readonly sizes: readonly number[];
  /** The public number of records. */
  readonly records: number;
  /** Most rows of one record. */
  readonly each: number;
  readonly impossible: readonly Impossible[];
  /** Most cells of the model. */
  readonly mostCells: number;
}

/** A way to choose tables and to measure them. */
export interface Method {
  /** For people: how the budget is divided. */
  readonly why: string;
  readonly mechanisms: readonly Mechanism[];
  /** Largest model that may come out of it, in cells. */
  readonly cells: number;
  /** Everything that is told of the rows, in the order in which it was measured. */
  run(rows: CodedTable, paid: Paid, progress?: (done: number, total: number) => void): readonly Measured[];
}

/** One table with noise: the noise is drawn before the rows are counted. */
export function measure(rows: CodedTable, columns: readonly number[], noise: Additive, paid: Paid): Measured {
  const add = noise.ready(paid, cellsOf(rows.levels, columns));
  const counts = Float64Array.from(add(Array.from(countsOf(rows, columns), BigInt)), Number);
  return { columns, counts, sd: Math.sqrt(noise.variance) };
}

/** How many rows there are: public where a record is one row, else what the tables say together, between one row each and as many as anybody may have. */
export function totalOf({ records, each }: Pick<Setting, 'records' | 'each'>, measured: readonly Measured[]): number {
  if (each === 1) return records;
  let [sum, precision] = [0, 0];
  for (const { counts, sd } of measured) {
    const own = 1 / (counts.length * sd * sd);
    sum += own * counts.reduce((a, b) => a + b, 0);
    precision += own;
  }
  return Math.min(each * records, Math.max(1, records, sum / precision));
}

/** Mean absolute noise of one cell. */
export const meanNoise = ({ law, variance }: Additive): number =>
  law.kind === 'gaussian' ? Math.sqrt((2 * variance) / Math.PI) : Math.sqrt(variance / 2);
