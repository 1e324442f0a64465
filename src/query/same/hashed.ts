import { createHash } from 'node:crypto';
import { textOf } from '../count/measure.js';

/** A short text for a value: texts within texts would grow without end. */
export const hashed = (value: unknown): string => createHash('sha256').update(textOf(value)).digest('hex').slice(0, 32);

/** The same of what does not change, worked out once. */
export function hashedOnce(value: object): string {
  const found = known.get(value) ?? hashed(value);
  known.set(value, found);
  return found;
}
const known = new WeakMap<object, string>();
