import type { Rational } from '../../base/exact/rational.js';
import type { Route } from './account.js';

const mostKept = 4096;

/** Memoizes a value per route; the key must hold everything that the value depends on. */
export function remembering(): (route: Route, key: string, make: () => Rational) => Rational {
  const rooms = new WeakMap<Route, Map<string, Rational>>();
  return (route, key, make) => {
    const known = rooms.get(route) ?? new Map<string, Rational>();
    rooms.set(route, known);
    const found = known.get(key) ?? make();
    if (known.size >= mostKept) known.clear();
    known.set(key, found);
    return found;
  };
}
