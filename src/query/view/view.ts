import type { RowTest } from '../count/row-test.js';

/**
 * A virtual table over the tables of a policy: a closed set of forms, each of which makes of one person's rows that person's rows and nobody else's
 * (rows-per-person.proof.md). Its parts are joined one to the other, in this order.
 */
export interface View {
  readonly parts: readonly Part[];
}
export interface Part {
  /** What its columns are told apart by. */
  readonly as: string;
  readonly rows: Rows;
  /** What it has in common with parts before it; that both are the same person's goes without saying. */
  readonly on: readonly Equal[];
  /** Rows before it stay without a partner, too. */
  readonly optional: boolean;
  /** Parts before it whose own row may not be there, and whose person it is compared with: nothing is found beside a row that was not. */
  readonly beside?: readonly string[];
}
export interface Equal {
  readonly left: { readonly as: string; readonly column: string };
  readonly column: string;
}
export type Rows = TableRows | PersonRows;
/** The rows of a table, cut to what one person may have; the data's own where none is named. */
export interface TableRows {
  readonly form: 'table';
  readonly table?: string;
}
/** One row for each person that has a row which passes. */
export interface PersonRows {
  readonly form: 'perPerson';
  readonly of: View;
  readonly filter: readonly RowTest[];
  readonly features: readonly Feature[];
}
/** What is told of the rows of one person. */
export type Feature =
  | { readonly name: string; readonly how: 'count' }
  | { readonly name: string; readonly how: 'sum' | 'mean' | 'least' | 'most' | 'usual'; readonly column: string }
  /** The value in the row that comes first, or last, by a number. */
  | { readonly name: string; readonly how: 'first' | 'last'; readonly column: string; readonly by: string };
