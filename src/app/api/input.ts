import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { inputProblem, pathText } from '../../base/input/input-problem.js';
import { asFault } from '../../release/session/outcome.js';
import { mostReason } from './reason.js';

export { type FileName, fileNamed } from './file-name.js';

/** An optional field that is present has a value: `plainData` dropped what a caller gave as undefined. */
export type Defined<T> = T extends readonly unknown[] | ((...args: never[]) => unknown)
  ? T
  : T extends object
    ? { [K in keyof T]: Defined<Exclude<T[K], undefined>> | (undefined extends T[K] ? never : Extract<T[K], undefined>) }
    : T;

/** Nesting limit: deeper than any question, shallower than the call stack allows. */
const deepest = 64;
const most = 2_000_000;

/**
 * Input copied once into plain lists and objects, so that later changes (getters, proxies, other threads) cannot reach a request.
 * Values that are no data are refused with a message.
 */
export function plainData(value: unknown, what: string): unknown {
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

/** Input parsed by its declared schema; a fault names the field. */
export function parseInput<T extends z.ZodType>(schema: T, input: unknown, what: string): Defined<z.output<T>> {
  const parsed = schema.safeParse(plainData(input, what));
  if (parsed.success) return parsed.data as Defined<z.output<T>>;
  const { path, text } = inputProblem(parsed.error);
  throw new Fault('USAGE', `${pathText([what, ...path])}: ${text}`, 'docs/reference/api.md lists what every function takes.');
}

/** Options may be left out as a whole. */
export const parseOptions = <T extends z.ZodType>(schema: T, input: unknown): Defined<z.output<T>> =>
  parseInput(schema, input ?? {}, 'options');

/** Runs work and converts any error to a Fault. */
export async function withFaults<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asFault(error);
  }
}

/** Exact number as people write it: 0.5, "0.5", "1/2" or "1e-6". A number equals the text it prints as. */
export const amountShape = z.union([z.string(), z.number()]).transform(String);
/** Reason for a change to a budget; permanent in the ledger's chain. */
export const reason = z
  .string()
  .max(mostReason)
  .refine((text) => text.trim() !== '', 'it must say why');
/** Reason for opening a budget for data that has another one. */
export const newBudgetShape = reason.optional();
/** Whole number from `least` to `top`. */
export const integerBetween = (least: number, top: number) => z.number().int().min(least).max(top);
export type ProgressCallback = (done: number, total: number) => void;
export const progressShape = z.custom<ProgressCallback>((x) => typeof x === 'function', 'expected a function');
