import type * as z from 'zod';
import type { Plan } from '../../release/session/plan.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { QuestionKind } from './kind.js';

/**
 * All question kinds of command line, library and service, by their field; each is loaded on first use. A new kind is one file and
 * one line here.
 */
// biome-ignore format: one line per kind
export const kinds = {
  sql: async () => (await import('./kinds/sql.js')).sql,
  survey: async () => (await import('./kinds/survey.js')).survey,
  workload: async () => (await import('./kinds/workload.js')).workload,
  synth: async () => (await import('./kinds/synth.js')).synth,
  pattern: async () => (await import('./kinds/pattern.js')).pattern,
  kmeans: async () => (await import('./kinds/kmeans.js')).kmeans,
  classify: async () => (await import('./kinds/classify.js')).classify,
  network: async () => (await import('./kinds/network.js')).network,
  spread: async () => (await import('./kinds/spread.js')).spread,
  odds: async () => (await import('./kinds/odds.js')).odds,
  transitions: async () => (await import('./kinds/transitions.js')).transitions,
  keys: async () => (await import('./kinds/keys.js')).keys,
  queries: async () => (await import('./kinds/batch.js')).batch,
} as const;

type EachKind = Awaited<ReturnType<(typeof kinds)[keyof typeof kinds]>>;
/** A question that can be planned and released. */
export type Question = z.input<EachKind['question']>;
export type AnyKind = QuestionKind<z.ZodType, Plan, { readonly receipt: Receipt }>;

type Intersected<U> = (U extends unknown ? (x: U) => void : never) extends (x: infer I) => void ? I : never;
type MethodsOf<K, O> =
  K extends QuestionKind<infer S, infer P, infer A>
    ? { plan(question: z.input<S>, options?: O): Promise<P>; release(question: z.input<S>, options?: O): Promise<A> }
    : never;
type PlanBy<K> = K extends QuestionKind<z.ZodType, infer P, { readonly receipt: Receipt }> ? P : never;
type AnswerBy<K> = K extends QuestionKind<z.ZodType, Plan, infer A> ? A : never;
/** Plan of any question, and answer of any question. */
export type AnyPlan = PlanBy<EachKind>;
export type AnyAnswer = AnswerBy<EachKind>;

/** Plan and release with one signature per kind: the type of the result follows from the question. */
export type QuestionMethods<O> = Intersected<MethodsOf<EachKind, O>> & {
  plan(question: Question, options?: O): Promise<AnyPlan>;
  release(question: Question, options?: O): Promise<AnyAnswer>;
};
