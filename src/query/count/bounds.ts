import type { Sensitivity } from '../../privacy/mechanism/sensitivity.js';

export const absolute = (x: bigint): bigint => (x < 0n ? -x : x);
export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Change of one number by at most `by`. */
export const scalarSensitivity = (by: bigint): Sensitivity => ({ l1: by, l2squared: by ** 2n });
/** Changes of different cells: their squares add up. */
export const overCells = (cells: bigint, { l1, l2squared }: Sensitivity): Sensitivity => ({
  l1: cells * l1,
  l2squared: cells * l2squared,
});
/** Changes by several records, which may all meet in one cell. */
export const overRecords = (records: bigint, { l1, l2squared }: Sensitivity): Sensitivity => ({
  l1: records * l1,
  l2squared: records ** 2n * l2squared,
});
export const largerSensitivity = (a: Sensitivity, b: Sensitivity): Sensitivity => ({
  l1: larger(a.l1, b.l1),
  l2squared: larger(a.l2squared, b.l2squared),
});
export const smallerSensitivity = (a: Sensitivity, b: Sensitivity): Sensitivity => ({
  l1: smaller(a.l1, b.l1),
  l2squared: smaller(a.l2squared, b.l2squared),
});
