import type * as z from 'zod';
import type { Arrangement } from './arrange.js';
import type { queryKinds } from './kinds.js';

export type { Condition } from './form.js';

type Kinds = typeof queryKinds;
/** What an analyst asks: one JSON form for library, command line and HTTP; SQL text is compiled to it. Parsed by query/parse.ts. */
export type Query = { [K in keyof Kinds]: z.output<Kinds[K]['schema']> }[keyof Kinds];

/** A batch shares one budget and one ledger entry. `{queries: […]}` in JSON. */
export interface Batch {
  readonly queries: readonly Query[];
  /** How their tables are shown. Asked again in another order, the answer is the same. */
  readonly arrange?: readonly Arrangement[] | undefined;
}
