/**
 * What a cost is booked under. Made only here, and read only here: a class is its text, as ledgers and receipts hold it, and no other file looks at that text.
 * The kinds cannot be taken for one another, because a name that would be is refused (isReserved).
 */
declare const kind: unique symbol;
type Of<K extends Kind> = string & { readonly [kind]: K };
/** Every record; the records of one part of the data; how a cost was paid; what may be paid one time only. */
export type Kind = 'every' | 'part' | 'mark' | 'once';

export type EveryRecord = Of<'every'>;
/** The answers to one column (secret `answer`), or the tuples of one relation (`edge`). */
export type Part = Of<'part'>;
/** A note beside the classes of records: costs that met a condition are booked once more under its mark (dependence/condition.ts). */
export type Mark = Of<'mark'>;
export type Once = Of<'once'>;
export type RecordClass = EveryRecord | Part | Mark | Once;

export const everyRecord = '*' as EveryRecord;

export const answersTo = (column: string): Part => part(column);
export const tuplesOf = (relation: string): Part => part(relation);

/** Paid by the records that releases may use; the digest is of those left out. */
export const usedMark = (digest: string): Mark => `used:${digest}` as Mark;
/** Paid for reading no finer than the levels of this digest. */
export const levelsMark = (digest: string): Mark => `levels:${digest}` as Mark;
/** Paid for noise on sums. */
export const sumsMark = 'sums:all' as Mark;
/** The same under more words: totals of another secret are other totals. */
export const markedBy = (mark: Mark, words: readonly (string | number)[]): Mark => [mark, ...words].join(':') as Mark;

export const onceFor = (what: string): Once => `once:${what}` as Once;

/** As a ledger holds it. */
export const storedClass = (text: string): RecordClass => text as RecordClass;

export const kindOf = (text: RecordClass): Kind => {
  if (text === everyRecord) return 'every';
  const prefix = /^(used|levels|sums|once):/.exec(text)?.[1];
  return prefix === undefined ? 'part' : prefix === 'once' ? 'once' : 'mark';
};
export const isPart = (record: RecordClass): record is Part => kindOf(record) === 'part';
export const isOnce = (record: RecordClass): record is Once => kindOf(record) === 'once';
/** A class of records, not a note on how they paid. */
export const isOfRecords = (record: RecordClass): record is EveryRecord | Part => record === everyRecord || isPart(record);

/** A column or relation by such a name would be taken for something else. */
export const isReserved = (name: string): boolean => !isPart(storedClass(name));

function part(name: string): Part {
  if (isReserved(name)) throw new RangeError(`a part of the data cannot be called ${name}`);
  return name as Part;
}
