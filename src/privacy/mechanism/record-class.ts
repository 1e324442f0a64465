import type { Range } from './slices.js';

/**
 * Record class that a cost is booked under. It is a text, as in ledgers and receipts, that only this file makes and parses.
 * Reserved names are refused, so kinds cannot collide (isReserved).
 */
declare const kind: unique symbol;
type Of<K extends RecordClassKind> = string & { readonly [kind]: K };
/**
 * Every record; the records of one data part; a mark of how a cost was paid; a one-time cost; records by values of a public
 * column; every record, along declared pairs.
 */
export type RecordClassKind = 'every' | 'part' | 'mark' | 'once' | 'slice' | 'sliced' | 'pairs' | 'paired';

export type EveryRecord = Of<'every'>;
/** The answers to one column (secret `answer`), or the tuples of one relation (`edge`). */
export type DataPart = Of<'part'>;
/**
 * Mark in addition to record classes: costs that meet a condition are booked once more under it
 * (privacy/dependence/condition.ts).
 */
export type Mark = Of<'mark'>;
export type OneTimeClass = Of<'once'>;
/** Records whose public column has a value in some range. */
export type Slice = Of<'slice'>;
/**
 * Part of the cost under `*` that was booked by slices of a public column; the rest counts for every slice, older costs without
 * slices included (slices.proof.md).
 */
export type Sliced = Of<'sliced'>;
/** Every record, replaced along one declared pair of values (pairs.proof.md). */
export type PairsClass = Of<'pairs'>;
/** Part of the cost under `*` that was also booked along pairs; the rest counts in full. */
export type Paired = Of<'paired'>;
export type RecordClass = EveryRecord | DataPart | Mark | OneTimeClass | Slice | Sliced | PairsClass | Paired;

declare const slicing: unique symbol;
/** Public column with the reading of its cells; costs booked under another reading are separate totals. */
export type Slicing = string & { readonly [slicing]: true };
/** The digest covers all that determines the value of a cell. */
export const slicingOf = (column: string, digest: string): Slicing =>
  `${column.replace(/[%:#]/g, encodeURIComponent)}#${digest}` as Slicing;

/** Several public columns at once: costs for combinations of their values. */
export const slicingTogether = (slicings: readonly Slicing[]): Slicing => [...slicings].sort().join(':') as Slicing;
/** The columns it is of, in the order of its values. */
export const columnsIn = (of: Slicing): readonly Slicing[] => of.split(':') as Slicing[];

export const everyRecord = '*' as EveryRecord;

export const answersTo = (column: string): DataPart => part(column);
export const tuplesIn = (relation: string): DataPart => part(relation);

/** Paid by the records that releases may use; the digest is of those left out. */
export const usedMark = (digest: string): Mark => `used:${digest}` as Mark;
/** Paid for reading no finer than the levels of this digest. */
export const levelsMark = (digest: string): Mark => `levels:${digest}` as Mark;
/** Paid for noise on sums. */
export const sumsMark = 'sums:all' as Mark;
/** Paid for reading the data of this digest, and ties from relations of the other one. */
export const sourceMark = (data: string, relations?: string): Mark =>
  `source:${relations === undefined ? data : `${data}:${relations}`}` as Mark;
/** Paid under a source mark, or under none, and declared to be paid for reading the data of `own` (release/accountant/sources.proof.md). */
export const declaredMark = (own: Mark, paidMark?: Mark): Mark => `${own}=${paidMark?.slice('source:'.length) ?? ''}` as Mark;
/** The same under more words: totals of another secret are other totals. */
export const extendMark = (mark: Mark, words: readonly (string | number)[]): Mark => [mark, ...words].join(':') as Mark;

export const oneTimeClass = (what: string): OneTimeClass => `once:${what}` as OneTimeClass;

/** From one numbered value to another, without end where `to` is infinite; NaN for the records that have none. */
export const slice = (of: Slicing, from: number, to: number): Slice => sliceOfAll(of, [{ from, to }]);
/** Some values of each of several columns; undefined for all there are, and none. */
export const sliceOfAll = (of: Slicing, box: readonly (Range | undefined)[]): Slice =>
  `slice:${of}:${box.map(endsText).join(';')}` as Slice;
export const sliced = (of: Slicing): Sliced => `sliced:${of}` as Sliced;

const end = (x: number): string => (Number.isFinite(x) ? `${x}` : '');
const endsText = (ends: Range | undefined): string => {
  if (ends === undefined) return '*';
  const { from, to } = ends;
  if (Number.isNaN(from)) return 'none';
  return from === to ? `${from}` : `${end(from)}..${end(to)}`;
};
function endsIn(text: string): Range | undefined {
  if (text === '*') return undefined;
  const found = /^(?:(none)|(-?\d+)|(-?\d+)?\.\.(-?\d+)?)$/.exec(text);
  if (!found) throw new RangeError(`no values are written ${text}`);
  const [, none, one, from, to] = found;
  if (none !== undefined) return { from: Number.NaN, to: Number.NaN };
  if (one !== undefined) return { from: Number(one), to: Number(one) };
  return {
    from: from === undefined ? Number.NEGATIVE_INFINITY : Number(from),
    to: to === undefined ? Number.POSITIVE_INFINITY : Number(to),
  };
}

/** Columns and values of a slice: one entry for each of its columns. */
export function boxIn(text: Slice): { readonly of: Slicing; readonly box: readonly (Range | undefined)[] } {
  const at = text.lastIndexOf(':');
  if (at <= 'slice:'.length) throw new RangeError(`no slice is written ${text}`);
  return {
    of: text.slice('slice:'.length, at) as Slicing,
    box: text
      .slice(at + 1)
      .split(';')
      .map(endsIn),
  };
}
export const slicingIn = (text: Sliced): Slicing => text.slice('sliced:'.length) as Slicing;

/** By the digest of the pairs. */
export const pairsClass = (pairs: string): PairsClass => `pairs:${pairs}` as PairsClass;
export const paired = (pairs: string): Paired => `paired:${pairs}` as Paired;
export const pairsIn = (text: PairsClass): string => text.slice('pairs:'.length);

/** As a ledger holds it. */
export const storedClass = (text: string): RecordClass => text as RecordClass;

export const recordClassKind = (text: RecordClass): RecordClassKind => {
  if (text === everyRecord) return 'every';
  const prefix = /^(used|levels|sums|source|once|slice|sliced|pairs|paired):/.exec(text)?.[1];
  if (prefix === undefined) return 'part';
  return marks.has(prefix) ? 'mark' : (prefix as RecordClassKind);
};
const marks: ReadonlySet<string> = new Set(['used', 'levels', 'sums', 'source']);
export const isDataPart = (record: RecordClass): record is DataPart => recordClassKind(record) === 'part';
export const isOneTime = (record: RecordClass): record is OneTimeClass => recordClassKind(record) === 'once';
/** The mark that one release puts on its cost; a declaration about such costs is none. */
export const isSourceMark = (record: RecordClass): record is Mark => record.startsWith('source:') && !record.includes('=');
export const isSlice = (record: RecordClass): record is Slice => recordClassKind(record) === 'slice';
export const isAlongPairs = (record: RecordClass): record is PairsClass => recordClassKind(record) === 'pairs';
export const isSliced = (record: RecordClass): record is Sliced => recordClassKind(record) === 'sliced';
/** True for a part of `*` that was booked more finely and is deducted from it: such totals may only be rounded down. */
export const isDeducted = (record: RecordClass): boolean => isSliced(record) || recordClassKind(record) === 'paired';
/** True for a class of records that a bound may cover by itself, not a mark. */
export const isOfRecords = (record: RecordClass): record is EveryRecord | DataPart =>
  record === everyRecord || isDataPart(record);

/** A column or relation by such a name would be taken for something else. */
export const isReserved = (name: string): boolean => !isDataPart(storedClass(name));

function part(name: string): DataPart {
  if (isReserved(name)) throw new RangeError(`a part of the data cannot be called ${name}`);
  return name as DataPart;
}
