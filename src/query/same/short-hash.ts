import { createHash } from 'node:crypto';
import { stableText } from '../count/measure.js';

/** Short hash of a value; nested texts would grow without bound. */
export const shortHash = (value: unknown): string => createHash('sha256').update(stableText(value)).digest('hex').slice(0, 32);

/** The same for immutable values, computed once. */
export function cachedHash(value: object): string {
  const found = known.get(value) ?? shortHash(value);
  known.set(value, found);
  return found;
}
const known = new WeakMap<object, string>();
