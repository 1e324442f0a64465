import { createHash } from 'node:crypto';
import { textOf } from '../count/measure.js';

/** Short hash of a value; nested texts would grow without bound. */
export const hashed = (value: unknown): string => createHash('sha256').update(textOf(value)).digest('hex').slice(0, 32);

/** The same for immutable values, computed once. */
export function hashedOnce(value: object): string {
  const found = known.get(value) ?? hashed(value);
  known.set(value, found);
  return found;
}
const known = new WeakMap<object, string>();
