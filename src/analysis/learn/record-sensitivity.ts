import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { type RecordSensitivity, type Sensitivity, sensitivityOn } from '../../privacy/mechanism/sensitivity.js';

/**
 * Sensitivity of a table with at most `each` rows per record, each row adding a whole number of 0 .. `most` to one cell; `most` is 1
 * for counts (record-sensitivity.proof.md).
 */
export const tableSensitivity = (each: number, most = 1): RecordSensitivity => {
  const m = BigInt(each) * BigInt(most);
  return perRecordSensitivity({ l1: 2n * m, l2squared: 2n * m * m });
};

/** Sensitivity of a sum of whole-number vectors, at most `each` per record, none longer than this. */
export const boundedRowsSensitivity = (each: number, length: { readonly l1: number; readonly l2: number }): RecordSensitivity => {
  const [m, l1, l2] = [BigInt(each), BigInt(length.l1), BigInt(length.l2)];
  return perRecordSensitivity({ l1: 2n * m * l1, l2squared: 4n * m * m * l2 * l2 });
};

/**
 * Sensitivity of a sum of whole-number vectors, at most `each` per record, each with at most `entries` nonzero numbers, none larger
 * than `size`.
 */
export const sparseRowsSensitivity = (each: number, entries: number, size: number): RecordSensitivity => {
  const [m, k, most] = [BigInt(each), BigInt(entries), BigInt(size)];
  return perRecordSensitivity({ l1: 2n * m * k * most, l2squared: 4n * m * m * k * most * most });
};

/** The same sensitivity for every record. */
export const perRecordSensitivity = (sensitivity: Sensitivity): RecordSensitivity => sensitivityOn([everyRecord], sensitivity);
