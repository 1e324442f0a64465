import type * as z from 'zod';
import type { BoundQuery, Scope } from './scope.js';

/** One kind of query: the form it is asked in, what its answer is called, and the measures it needs. */
export interface QueryKind<S extends z.ZodType> {
  readonly schema: S;
  /** What is asked, in a few words, from the query alone. */
  readonly label: (query: z.output<S>) => string;
  /** Ties it to the policy; reads no data. */
  readonly bind: (query: z.output<S>, scope: Scope) => BoundQuery;
}
