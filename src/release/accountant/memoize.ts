import type { Rational } from '../../base/exact/rational.js';
import type { LeakageRoute } from './account.js';

const cacheSize = 4096;

/** Memoizes a value per route; the key must hold everything that the value depends on. */
export function memoize(): (route: LeakageRoute, key: string, make: () => Rational) => Rational {
  const caches = new WeakMap<LeakageRoute, Map<string, Rational>>();
  return (route, key, make) => {
    const known = caches.get(route) ?? new Map<string, Rational>();
    caches.set(route, known);
    const found = known.get(key) ?? make();
    if (known.size >= cacheSize) known.clear();
    known.set(key, found);
    return found;
  };
}
