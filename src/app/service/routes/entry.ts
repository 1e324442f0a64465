import { entryNumbered } from '../../api/recorded.js';
import { notFound } from '../problem.js';
import type { RouteRequest } from '../route.js';

/** Entry named in the path, if visible to the caller: to an analyst, entries of others and missing entries look the same. */
export async function visibleEntry({
  served,
  caller,
  more,
  named,
}: Pick<RouteRequest, 'served' | 'caller' | 'more' | 'named'>): Promise<number> {
  const text = named.entry ?? '';
  const entry = /^[1-9]\d{0,11}$/.test(text) ? await entryNumbered(served.session(caller.name), Number(text)) : undefined;
  if (!entry || (caller.role === 'analyst' && entry.analyst !== caller.name))
    throw notFound('There is no such entry for this token.', 'GET /v1/policies/{policy}/ledger lists those there are.');
  more.entry = entry.sequence;
  return entry.sequence;
}
