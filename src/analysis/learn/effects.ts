import { type Effect, type Effects, effectOn } from '../../privacy/mechanism/effect.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';

/** A table in which a record stands for at most `each` rows, every row adding one whole number of 0 .. `most` to one cell: counts, where that is 1 (effects.proof.md). */
export const rowsMoved = (each: number, most = 1): Effects => {
  const m = BigInt(each) * BigInt(most);
  return ofRecord({ l1: 2n * m, l2squared: 2n * m * m });
};

/** A sum of whole-number vectors, at most `each` of them a record's, none longer than this. */
export const rowsWithin = (each: number, length: { readonly l1: number; readonly l2: number }): Effects => {
  const [m, l1, l2] = [BigInt(each), BigInt(length.l1), BigInt(length.l2)];
  return ofRecord({ l1: 2n * m * l1, l2squared: 4n * m * m * l2 * l2 });
};

/** A sum of whole-number vectors, at most `each` of them a record's, with at most `entries` numbers other than zero in each, none larger than `size`. */
export const rowsReplaced = (each: number, entries: number, size: number): Effects => {
  const [m, k, most] = [BigInt(each), BigInt(entries), BigInt(size)];
  return ofRecord({ l1: 2n * m * k * most, l2squared: 4n * m * m * k * most * most });
};

/** The same for every record. */
export const ofRecord = (effect: Effect): Effects => effectOn([everyRecord], effect);
