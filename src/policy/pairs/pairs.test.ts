import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairCliques, type ValueRun } from './cliques.js';
import { degreesWithin } from './degrees.js';
import { distance } from './distance.js';
import { type ColumnPairs, isPair } from './pairs.js';

const base = fc.record({ size: fc.integer({ min: 1, max: 9 }), missing: fc.constantFrom<'any' | 'apart'>('any', 'apart') });
/** Pairs of every form over a few positions. */
const anyPairs: fc.Arbitrary<ColumnPairs> = base.chain(({ size, missing }) =>
  fc.oneof(
    fc.constant<ColumnPairs>({ size, missing: 'apart', form: 'same' }),
    fc.integer({ min: 0, max: size }).map((steps): ColumnPairs => ({ size, missing, form: 'steps', steps })),
    fc
      .uniqueArray(fc.integer({ min: 1, max: Math.max(1, size - 1) }), { maxLength: 4 })
      .map((starts): ColumnPairs => ({ size, missing, form: 'ranges', starts: starts.sort((a, b) => a - b) })),
    fc
      .array(fc.integer({ min: 0, max: 3 }), { minLength: size, maxLength: size })
      .map((blockOf): ColumnPairs => ({ size, missing, form: 'blocks', blockOf })),
    fc.array(fc.tuple(fc.nat({ max: size - 1 }), fc.nat({ max: size - 1 })), { maxLength: 8 }).map((edges): ColumnPairs => {
      const joined = Array.from({ length: size }, () => new Set<number>());
      for (const [a, b] of edges) {
        if (a === b) continue;
        joined[a]!.add(b);
        joined[b]!.add(a);
      }
      return { size, missing, form: 'graph', joined: joined.map((set) => [...set]) };
    }),
  ),
);
const positions = (size: number): readonly number[] => Array.from({ length: size + 1 }, (_, p) => p - 1);

describe('cliques of kinds', () => {
  const cut = fc.tuple(anyPairs, fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 10, maxLength: 10 }));
  const agree = ([pairs, kinds]: readonly [ColumnPairs, readonly number[]], declared: ColumnPairs): boolean => {
    const kindAt = (p: number) => (p < 0 ? 9 : kinds[p]!);
    const pieces = Array.from({ length: pairs.size }, (_, p): ValueRun<number> => ({ from: p, to: p, kind: kindAt(p) }));
    const found = new Set<string>();
    for (const set of pairCliques(declared, pieces, 9))
      for (const a of set) for (const b of set) if (a !== b) found.add(`${a} ${b}`);
    const meant = new Set<string>();
    for (const a of positions(pairs.size))
      for (const b of positions(pairs.size))
        if (kindAt(a) !== kindAt(b) && isPair(pairs, a, b)) meant.add(`${kindAt(a)} ${kindAt(b)}`);
    return found.size === meant.size && [...meant].every((text) => found.has(text));
  };

  it('a clique holds two kinds exactly if some of their values are a declared pair', () => {
    fc.assert(
      fc.property(cut, (given) => agree(given, given[0])),
      { numRuns: 2000 },
    );
  });

  it('the test detects a form that forgets one step', () => {
    const shorter = (pairs: ColumnPairs): ColumnPairs =>
      pairs.form === 'steps' ? { ...pairs, steps: pairs.steps - 1 } : { ...pairs, missing: 'apart' };
    expect(() =>
      fc.assert(
        fc.property(cut, (given) => agree(given, shorter(given[0]))),
        { numRuns: 2000 },
      ),
    ).toThrow();
  });

  it('all kinds are in one clique if no pairs are declared', () => {
    const pieces = [
      { from: 0, to: 3, kind: 'a' },
      { from: 4, to: 4, kind: 'b' },
    ];
    expect([...pairCliques(undefined, pieces, 'none')]).toEqual([new Set(['a', 'b', 'none'])]);
  });
});

describe('the distance of two values', () => {
  it('the distance is the number of pairs on the shortest path', () => {
    fc.assert(
      fc.property(anyPairs, (pairs) => {
        for (const from of positions(pairs.size)) {
          const found = new Map([[from, 0]]);
          const queue = [from];
          for (const p of queue)
            for (const q of positions(pairs.size))
              if (isPair(pairs, p, q) && !found.has(q)) {
                found.set(q, found.get(p)! + 1);
                queue.push(q);
              }
          for (const to of positions(pairs.size))
            if (distance(pairs, from, to) !== (found.get(to) ?? Number.POSITIVE_INFINITY)) return false;
        }
        return true;
      }),
      { numRuns: 1000 },
    );
  });
});

describe('distances in kilometres', () => {
  const radians = Math.PI / 180;
  /** A place on the ellipsoid of the GPS, in kilometres from the centre of the earth. */
  const at = (lat: number, lon: number): readonly [number, number, number] => {
    const [axis, flat] = [6378.137, 0.00669437999014];
    const [p, l] = [lat * radians, lon * radians];
    const n = axis / Math.sqrt(1 - flat * Math.sin(p) ** 2);
    return [n * Math.cos(p) * Math.cos(l), n * Math.cos(p) * Math.sin(l), n * (1 - flat) * Math.sin(p)];
  };
  it('the bound in degrees includes all places within the distance, measured through the earth', () => {
    const milli = (most: number) => fc.integer({ min: -1000 * most, max: 1000 * most }).map((x) => x / 1000);
    fc.assert(
      fc.property(milli(75), milli(170), milli(1), milli(2), (lat, lon, dlat, dlon) => {
        const other = Math.max(-75, Math.min(75, lat + dlat));
        const [a, b] = [at(lat, lon), at(other, lon + dlon)];
        const { latitude, longitude } = degreesWithin(Math.hypot(...a.map((x, k) => x - b[k]!)), 75);
        return Math.abs(lat - other) <= latitude + 1e-9 && Math.abs(dlon) <= longitude + 1e-9;
      }),
      { numRuns: 2000 },
    );
  });

  it('five kilometres are 0.045 degrees of latitude, more of longitude in the north, and any longitude at the pole', () => {
    expect(degreesWithin(5, 0).latitude).toBeCloseTo(0.0452, 3);
    expect(degreesWithin(5, 60).longitude).toBeCloseTo(0.0905, 3);
    expect(degreesWithin(5, 90).longitude).toBe(Number.POSITIVE_INFINITY);
  });
});
