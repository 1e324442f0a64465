import type { Additive } from '../../privacy/mechanism/additive.js';
import type { Effects } from '../../privacy/mechanism/effect.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import type { Paid } from '../../privacy/mechanism/paid.js';
import type { Impossible, Measured } from '../graphical/fit.js';
import { ofRecord, rowsMoved } from '../learn/effects.js';
import type { CodedTable } from '../learn/network/coded.js';
import { cellsOf, countsOf } from './counts.js';
import { mostRows, reachOf } from './distance.js';

/** Public facts known before the data is read; every method derives its noise from these alone. */
export interface Setting {
  readonly sizes: readonly number[];
  /** Difference between neighbouring data sets: one record replaced or removed. */
  readonly change: 'replaced' | 'removed';
  /** The public number of records; absent if secret. */
  readonly records?: number;
  /** Records may be left out as a whole: there may be fewer rows than records. */
  readonly leftOut?: boolean;
  /** Most rows of one record. */
  readonly each: number;
  readonly impossible: readonly Impossible[];
  /** Most cells of the model. */
  readonly mostCells: number;
}

/** A strategy for choosing and measuring tables. */
export interface Method {
  /** For people: the division of the budget. */
  readonly why: string;
  readonly mechanisms: readonly Mechanism[];
  /** Cells of the largest model that may result. */
  readonly cells: number;
  /** All measurements of the rows, in the order in which they were made. */
  run(rows: CodedTable, paid: Paid, progress?: (done: number, total: number) => void): readonly Measured[];
}

/** Sensitivity of a table of counts to one record. */
export function countsMoved({ each, change }: Pick<Setting, 'each' | 'change'>): Effects {
  if (change === 'replaced') return rowsMoved(each);
  const m = BigInt(each);
  return ofRecord({ l1: m, l2squared: m * m });
}

/** Sensitivity of `choices` choices among penalties to one record. */
export function choicesMoved({ each, change }: Pick<Setting, 'each' | 'change'>, choices = 1): Effects {
  const [reach, many] = [reachOf(each, change), BigInt(choices)];
  return ofRecord({ l1: many * reach, l2squared: many * reach * reach });
}

/** One table with noise: the noise is drawn before the rows are counted. */
export function measure(rows: CodedTable, columns: readonly number[], noise: Additive, paid: Paid): Measured {
  const add = noise.ready(paid, cellsOf(rows.levels, columns));
  const counts = Float64Array.from(add(Array.from(countsOf(rows, columns), BigInt)), Number);
  return { columns, counts, sd: Math.sqrt(noise.variance) };
}

/**
 * Number of rows: public if a record is one row and is replaced, else estimated from the tables; with public records at most `each`
 * rows per record, and at least one if nobody is left out.
 */
export function totalOf(setting: Pick<Setting, 'records' | 'each' | 'leftOut'>, measured: readonly Measured[]): number {
  if (isOneRowEach(setting)) return setting.records;
  const { records, each, leftOut } = setting;
  let [sum, precision] = [0, 0];
  for (const { counts, sd } of measured) {
    const own = 1 / (counts.length * sd * sd);
    sum += own * counts.reduce((a, b) => a + b, 0);
    precision += own;
  }
  const said = Math.min(mostRows, Math.max(1, sum / precision));
  return records === undefined ? said : Math.min(each * records, leftOut ? said : Math.max(records, said));
}

/** True if there are as many rows as records and their number is public. */
export const isOneRowEach = <S extends Pick<Setting, 'records' | 'each' | 'leftOut'>>(
  setting: S,
): setting is S & { readonly records: number } => setting.each === 1 && setting.records !== undefined && setting.leftOut !== true;

/** Mean absolute noise of one cell. */
export const meanNoise = ({ law, variance }: Additive): number =>
  law.kind === 'gaussian' ? Math.sqrt((2 * variance) / Math.PI) : Math.sqrt(variance / 2);
