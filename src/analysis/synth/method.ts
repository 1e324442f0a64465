import type { AdditiveMechanism } from '../../privacy/mechanism/additive.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import type { RecordSensitivity } from '../../privacy/mechanism/sensitivity.js';
import type { NoisyMarginal, StructuralZeros } from '../graphical/fit.js';
import { marginalSize } from '../graphical/marginal.js';
import { type CodedTable, countMarginal } from '../learn/network/coded.js';
import { perRecordSensitivity, tableSensitivity } from '../learn/record-sensitivity.js';
import { penaltySensitivity, rowLimit } from './distance.js';

/** Public facts known before the data is read; every method derives its noise from these alone. */
export interface SynthSetting {
  readonly sizes: readonly number[];
  /** Difference between neighbouring data sets: one record replaced or removed. */
  readonly change: 'replaced' | 'removed';
  /** The public number of records; absent if secret. */
  readonly records?: number;
  /** Records may be left out as a whole: there may be fewer rows than records. */
  readonly leftOut?: boolean;
  /** Most rows of one record. */
  readonly each: number;
  readonly impossible: readonly StructuralZeros[];
  /** Most cells of the model. */
  readonly mostCells: number;
}

/** A strategy for choosing and measuring tables. */
export interface SynthMethod {
  /** For people: the division of the budget. */
  readonly why: string;
  readonly mechanisms: readonly Mechanism[];
  /** Cells of the largest model that may result. */
  readonly cells: number;
  /** All measurements of the rows, in the order in which they were made. */
  run(rows: CodedTable, payment: Payment, progress?: (done: number, total: number) => void): readonly NoisyMarginal[];
}

/** Sensitivity of a table of counts to one record. */
export function countSensitivity({ each, change }: Pick<SynthSetting, 'each' | 'change'>): RecordSensitivity {
  if (change === 'replaced') return tableSensitivity(each);
  const m = BigInt(each);
  return perRecordSensitivity({ l1: m, l2squared: m * m });
}

/** Sensitivity of `choices` choices among penalties to one record. */
export function choiceSensitivity({ each, change }: Pick<SynthSetting, 'each' | 'change'>, choices = 1): RecordSensitivity {
  const [reach, many] = [penaltySensitivity(each, change), BigInt(choices)];
  return perRecordSensitivity({ l1: many * reach, l2squared: many * reach * reach });
}

/** One table with noise: the noise is drawn before the rows are counted. */
export function measureMarginal(
  rows: CodedTable,
  columns: readonly number[],
  noise: AdditiveMechanism,
  payment: Payment,
): NoisyMarginal {
  const add = noise.prepare(payment, marginalSize(rows.levels, columns));
  const counts = Float64Array.from(add(Array.from(countMarginal(rows, columns), BigInt)), Number);
  return { columns, counts, sd: Math.sqrt(noise.variance) };
}

/**
 * Number of rows: public if a record is one row and is replaced, else estimated from the tables; with public records at most `each`
 * rows per record, and at least one if nobody is left out.
 */
export function estimatedTotal(
  setting: Pick<SynthSetting, 'records' | 'each' | 'leftOut'>,
  measured: readonly NoisyMarginal[],
): number {
  if (hasOneRowEach(setting)) return setting.records;
  const { records, each, leftOut } = setting;
  let [sum, precision] = [0, 0];
  for (const { counts, sd } of measured) {
    const own = 1 / (counts.length * sd * sd);
    sum += own * counts.reduce((a, b) => a + b, 0);
    precision += own;
  }
  const estimated = Math.min(rowLimit, Math.max(1, sum / precision));
  return records === undefined ? estimated : Math.min(each * records, leftOut ? estimated : Math.max(records, estimated));
}

/** True if there are as many rows as records and their number is public. */
export const hasOneRowEach = <S extends Pick<SynthSetting, 'records' | 'each' | 'leftOut'>>(
  setting: S,
): setting is S & { readonly records: number } => setting.each === 1 && setting.records !== undefined && setting.leftOut !== true;

/** Mean absolute noise of one cell. */
export const meanNoise = ({ distribution, variance }: AdditiveMechanism): number =>
  distribution.kind === 'gaussian' ? Math.sqrt((2 * variance) / Math.PI) : Math.sqrt(variance / 2);
