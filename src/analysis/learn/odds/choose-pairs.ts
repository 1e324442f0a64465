import { hmacSha256 } from '../../../base/platform/hash.js';

export type NamedPair = readonly [string, string];

/**
 * Tied pairs with at most `most` per person, chosen by ties and names only, like data/ties/used-records.ts. Pairs of people with few
 * ties come first, which keeps more of them; equal ones in keyed-hash order.
 */
export function boundPairs(pairs: readonly NamedPair[], most: number, key: string): NamedPair[] {
  const degree = new Map<string, number>();
  for (const pair of pairs) for (const name of pair) degree.set(name, (degree.get(name) ?? 0) + 1);
  const order = pairs.map((pair) => ({
    pair,
    busy: Math.max(...pair.map((name) => degree.get(name)!)),
    hash: hmacSha256(key, JSON.stringify(pair)),
  }));
  order.sort((a, b) => a.busy - b.busy || (a.hash < b.hash ? -1 : 1));
  const taken = new Map<string, number>();
  return order.flatMap(({ pair }) => {
    if (pair.some((name) => (taken.get(name) ?? 0) >= most)) return [];
    for (const name of pair) taken.set(name, (taken.get(name) ?? 0) + 1);
    return [pair];
  });
}
