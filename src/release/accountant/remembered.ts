import type { Rational } from '../../base/exact/rational.js';
import type { Route } from './account.js';

const mostKept = 4096;

/** What was worked out for a route, by a key that says all it hangs on. */
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
