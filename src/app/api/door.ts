import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { pathText, problemIn } from '../../base/input/problem.js';
import { asFault } from '../../release/session/outcome.js';
import { mostReason } from './reason.js';

export { type FileName, fileNamed } from './file-name.js';

/** An optional field that is there has a value: what a caller gave as undefined was left out by `plain`. */
export type Given<T> = T extends readonly unknown[] | ((...args: never[]) => unknown)
  ? T
  : T extends object
    ? { [K in keyof T]: Given<Exclude<T[K], undefined>> | (undefined extends T[K] ? never : Extract<T[K], undefined>) }
    : T;

/** Deeper than anything that is asked, shallower than what a stack holds. */
const deepest = 64;
const most = 2_000_000;

/**
 * What a caller handed over, as data of our own: lists and plain objects are copied once, so that nothing they do later (getters, proxies, other threads of
 * work) reaches a request. What is no data is refused by a sentence.
 */
export function plain(value: unknown, what: string): unknown {
  const open = new Set<object>();
  let left = most;
  const refuse = (why: string) => new Fault('USAGE', `${what} ${why}.`, 'Give plain data: texts, numbers, lists and objects.');
  const copy = (x: unknown): unknown => {
    if (typeof x !== 'object' || x === null) return x;
    if (open.has(x)) throw refuse('holds itself');
    if (open.size >= deepest || --left < 0) throw refuse('is too deep or too large');
    open.add(x);
    const made = Array.isArray(x) ? Array.from(x, copy) : fields(x);
    open.delete(x);
    return made;
  };
  const fields = (x: object): object => {
    if (x instanceof Promise) throw refuse('is a promise; await it first');
    const prototype: unknown = Object.getPrototypeOf(x);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) throw refuse('holds something that is no plain data');
    return Object.fromEntries(Object.entries(x).flatMap(([name, v]) => (v === undefined ? [] : [[name, copy(v)] as const])));
  };
  try {
    return copy(value);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw refuse('cannot be looked at');
  }
}

/** What was handed over, in the form that is declared for it; a fault names the field. */
export function read<T extends z.ZodType>(schema: T, input: unknown, what: string): Given<z.output<T>> {
  const parsed = schema.safeParse(plain(input, what));
  if (parsed.success) return parsed.data as Given<z.output<T>>;
  const { path, text } = problemIn(parsed.error);
  throw new Fault('USAGE', `${pathText([what, ...path])}: ${text}`, 'docs/api.md lists what every function takes.');
}

/** Options may be left out as a whole. */
export const readOptions = <T extends z.ZodType>(schema: T, input: unknown): Given<z.output<T>> =>
  read(schema, input ?? {}, 'options');

/** Whatever goes wrong in here is told as a Fault. */
export async function faulting<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asFault(error);
  }
}

/** An exact number as people write it: 0.5, "0.5", "1/2" or "1e-6". A number and the text it prints as are the same. */
export const amount = z.union([z.string(), z.number()]).transform(String);
/** Why something is done to a budget; written into the chain for good. */
export const reason = z
  .string()
  .max(mostReason)
  .refine((text) => text.trim() !== '', 'it must say why');
/** Why a budget may be opened for data that has another one; written into the chain for good. */
export const newBudget = reason.optional();
/** A whole number from `least` to `top`. */
export const whole = (least: number, top: number) => z.number().int().min(least).max(top);
export type Progress = (done: number, total: number) => void;
export const progress = z.custom<Progress>((x) => typeof x === 'function', 'expected a function');
