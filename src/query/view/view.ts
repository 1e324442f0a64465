import type { RowTest } from '../count/row-test.js';

/**
 * Virtual table over the tables of a policy: its forms map each person's rows to rows of that person only
 * (rows-per-person.proof.md). The parts are joined in this order.
 */
export interface View {
  readonly parts: readonly ViewPart[];
}
export interface ViewPart {
  /** Prefix of its columns. */
  readonly as: string;
  readonly rows: PartRows;
  /** Equalities with parts before it; equality of the person is implied. */
  readonly on: readonly JoinEquality[];
  /** LEFT JOIN: rows without a partner stay. */
  readonly optional: boolean;
  /** Optional parts before it with whose person it is compared: rows in which such a part is missing find no partner. */
  readonly beside?: readonly string[];
}
export interface JoinEquality {
  readonly left: { readonly as: string; readonly column: string };
  readonly column: string;
}
export type PartRows = TableRows | PersonRows;
/** Rows of a table, bounded per person; the data's own where none is named. */
export interface TableRows {
  readonly form: 'table';
  readonly table?: string;
}
/** One row for each person that has a passing row. */
export interface PersonRows {
  readonly form: 'perPerson';
  readonly of: View;
  readonly filter: readonly RowTest[];
  readonly features: readonly PersonFeature[];
}
/** Feature of the rows of one person. */
export type PersonFeature =
  | { readonly name: string; readonly how: 'count' }
  | { readonly name: string; readonly how: 'sum' | 'mean' | 'least' | 'most' | 'usual'; readonly column: string }
  /** The value in the row that comes first, or last, by a number. */
  | { readonly name: string; readonly how: 'first' | 'last'; readonly column: string; readonly by: string };
