import type * as z from 'zod';
import type { Plan } from '../release/plan.js';
import type { Receipt } from '../release/receipt.js';
import type { Kind } from './kind.js';
import { batch } from './kinds/batch.js';
import { classify } from './kinds/classify.js';
import { kmeans } from './kinds/kmeans.js';
import { pattern } from './kinds/pattern.js';
import { sql } from './kinds/sql.js';
import { survey } from './kinds/survey.js';

/** Everything that can be asked and paid for, by command line, library and service alike. A new kind is one file and one line here. */
export const kinds = [sql, survey, pattern, kmeans, classify, batch] as const;

type Each = (typeof kinds)[number];
/** A question that can be planned and released. */
export type Question = z.input<Each['question']>;
export type AnyKind = Kind<z.ZodType, Plan, { readonly receipt: Receipt }>;

type All<U> = (U extends unknown ? (x: U) => void : never) extends (x: infer I) => void ? I : never;
type AskedBy<K, O> =
  K extends Kind<infer S, infer P, infer A>
    ? { plan(question: z.input<S>, options?: O): Promise<P>; release(question: z.input<S>, options?: O): Promise<A> }
    : never;
/** Planning and releasing, one signature per kind: what comes back follows from what is asked. */
export type Asking<O> = All<AskedBy<Each, O>>;
