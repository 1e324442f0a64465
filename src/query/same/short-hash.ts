import { sha256 } from '../../base/platform/hash.js';
import { stableText } from '../count/measure.js';

/** Short hash of a value; nested texts would grow without bound. */
export const shortHash = (value: unknown): string => sha256(stableText(value)).slice(0, 32);

/** The same for immutable values, computed once. */
export function cachedHash(value: object): string {
  const found = known.get(value) ?? shortHash(value);
  known.set(value, found);
  return found;
}
const known = new WeakMap<object, string>();
