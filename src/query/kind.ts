import type * as z from 'zod';
import type { BindingScope, BoundQuery } from './scope.js';

/** One kind of query: its JSON form, its label, and the measures it needs. */
export interface QueryKind<S extends z.ZodType> {
  readonly schema: S;
  /** Short description of the query, from the query alone. */
  readonly label: (query: z.output<S>) => string;
  /** Binds the query to the policy; reads no data. */
  readonly bind: (query: z.output<S>, scope: BindingScope) => BoundQuery;
}
