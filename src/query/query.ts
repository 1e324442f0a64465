import type * as z from 'zod';
import type { Arrangement } from './arrange.js';
import type { queryKinds } from './kinds.js';

export type { RowCondition } from './form.js';

type Kinds = typeof queryKinds;
/** Query of an analyst: one JSON form for library, command line and HTTP; SQL text is compiled to it. Parsed by query/parse.ts. */
export type Query = { [K in keyof Kinds]: z.output<Kinds[K]['schema']> }[keyof Kinds];

/** A batch shares one budget and one ledger entry. `{queries: […]}` in JSON. */
export interface Batch {
  readonly queries: readonly Query[];
  /** Arrangement of the tables. It is no part of what is released, so the same tables in another order have the same answer. */
  readonly arrange?: readonly Arrangement[] | undefined;
}
