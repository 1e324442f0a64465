import { type Effect, type Effects, effectOn } from '../mechanism/effect.js';
import { everyRecord } from '../mechanism/record-class.js';

/** A table of counts in which a record stands for at most `each` rows, every row in one cell (effects.proof.md). */
export const rowsMoved = (each: number): Effects => {
  const m = BigInt(each);
  return ofRecord({ l1: 2n * m, l2squared: 2n * m * m });
};

/** A sum of whole-number vectors, at most `each` of them a record's, with at most `entries` numbers other than zero in each, none larger than `size`. */
export const rowsReplaced = (each: number, entries: number, size: number): Effects => {
  const [m, k, most] = [BigInt(each), BigInt(entries), BigInt(size)];
  return ofRecord({ l1: 2n * m * k * most, l2squared: 4n * m * m * k * most * most });
};

/** The same for every record. */
export const ofRecord = (effect: Effect): Effects => effectOn([everyRecord], effect);
