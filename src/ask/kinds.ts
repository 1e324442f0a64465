import type * as z from 'zod';
import type { Plan } from '../release/plan.js';
import type { Receipt } from '../release/receipt.js';
import type { Kind } from './kind.js';
import { batch } from './kinds/batch.js';
import { classify } from './kinds/classify.js';
import { kmeans } from './kinds/kmeans.js';
import { network } from './kinds/network.js';
import { odds } from './kinds/odds.js';
import { pattern } from './kinds/pattern.js';
import { spread } from './kinds/spread.js';
import { sql } from './kinds/sql.js';
import { survey } from './kinds/survey.js';

/** Everything that can be asked and paid for, by command line, library and service alike. A new kind is one file and one line here. */
// biome-ignore format: one line per kind
export const kinds = [
  sql,
  survey,
  pattern,
  kmeans,
  classify,
  network,
  spread,
  odds,
  batch,
] as const;

type Each = (typeof kinds)[number];
/** A question that can be planned and released. */
export type Question = z.input<Each['question']>;
export type AnyKind = Kind<z.ZodType, Plan, { readonly receipt: Receipt }>;

type All<U> = (U extends unknown ? (x: U) => void : never) extends (x: infer I) => void ? I : never;
type AskedBy<K, O> =
  K extends Kind<infer S, infer P, infer A>
    ? { plan(question: z.input<S>, options?: O): Promise<P>; release(question: z.input<S>, options?: O): Promise<A> }
    : never;
type PlanBy<K> = K extends Kind<z.ZodType, infer P, { readonly receipt: Receipt }> ? P : never;
type AnswerBy<K> = K extends Kind<z.ZodType, Plan, infer A> ? A : never;
/** Whatever a question may be planned as, or answered with. */
export type AnyPlan = PlanBy<Each>;
export type AnyAnswer = AnswerBy<Each>;

/** Planning and releasing, one signature per kind: what comes back follows from what is asked. */
export type Asking<O> = All<AskedBy<Each, O>> & {
  plan(question: Question, options?: O): Promise<AnyPlan>;
  release(question: Question, options?: O): Promise<AnyAnswer>;
};
