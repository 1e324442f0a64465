import type { Rational } from '../../base/exact/rational.js';
import { type HashStream, sha256Stream } from '../../base/platform/hash.js';
import type { Adversary } from '../../policy/policy.js';
import type { WhatIf } from './amplifier.js';
import type { GaussianSums } from './gaussian/sums.js';
import type { FactorGraph } from './graph/factor-graph.js';
import type { Percolation } from './uninformed/percolation.js';

/** Recorded bounds of one graph and one set of used records, each of which spends the same cost. */
export interface CachedBounds {
  readonly leaks: Map<number, number>;
  readonly bases: Map<string, Rational>;
  readonly whatIfs: Map<number, readonly WhatIf[]>;
  clusters?: Percolation;
  sums?: GaussianSums;
}

export const emptyBounds = (): CachedBounds => ({ leaks: new Map(), bases: new Map(), whatIfs: new Map() });

/** Everything that the bounds of a graph depend on. */
export interface BoundsKey {
  readonly graph: FactorGraph;
  readonly used?: Uint8Array | undefined;
  readonly adversary: Adversary;
  readonly reach: 'any' | 'direct';
  readonly pull?: 'alike' | undefined;
}

/** Limit on graphs with recorded results; a result consists of numbers, never of a graph. */
const mostKept = 32;

export type BoundsCache = (question: BoundsKey) => CachedBounds;

/** Recorded bounds by key: inputs with one key share results. */
export function boundsCache(keyOf: (question: BoundsKey) => string): BoundsCache {
  const cached = new Map<string, CachedBounds>();
  return (question) => {
    const key = keyOf(question);
    const found = cached.get(key) ?? emptyBounds();
    // The map keeps the order of use.
    cached.delete(key);
    cached.set(key, found);
    if (cached.size > mostKept) cached.delete(cached.keys().next().value!);
    return found;
  };
}

/**
 * Bounds by the content of the graph, shared by all sessions of the process. Any difference in content is another key; a recorded
 * bound equals a new one to the last bit (docs/explanation/decisions/0019-kept-bounds.md).
 */
export const sharedBoundsCache: BoundsCache = boundsCache((question) => boundsDigest(question));

export function boundsDigest({ graph, used, adversary, reach, pull }: BoundsKey): string {
  const hash = sha256Stream();
  const { records, nodes, factors, member, commonOdds, pairwise } = graph;
  const alike = commonOdds !== undefined;
  const settings = [adversary, reach, pull ?? 'any', used !== undefined];
  hash.update(JSON.stringify([...settings, records, nodes, factors, member.length, pairwise, alike]));
  if (!pairwise) take(hash, graph.start);
  take(hash, member);
  // One D stands for all where all are equal.
  take(hash, alike ? Float64Array.of(commonOdds) : graph.logOdds);
  if (used) take(hash, used);
  return hash.digest('hex');
}

/** Chunk size for hashing, which takes at most two gigabytes at once. */
const block = 2 ** 28;
function take(hash: HashStream, { buffer, byteOffset, byteLength }: Uint8Array | Uint32Array | Float64Array): void {
  for (let at = 0; at < byteLength; at += block)
    hash.update(new Uint8Array(buffer, byteOffset + at, Math.min(block, byteLength - at)));
}

export function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
