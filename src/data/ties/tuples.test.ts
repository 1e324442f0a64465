import { describe, expect, it } from 'vitest';
import { fromPairs } from '../../privacy/dependence/graph/factor-graph.js';
import { informedBound } from '../../privacy/dependence/informed/informed.js';
import { tupleLeakage } from './tuples.js';

const ring = (n: number) => {
  const from = Uint32Array.from({ length: n }, (_, i) => i);
  return { n, from, to: from.map((i) => (i + 1) % n) };
};

describe('tied tuples', () => {
  it('the leakage of tied tuples is at least that of the calculus on a graph of that degree, and close to it on a long ring', () => {
    const { n, from, to } = ring(200);
    for (const odds of [1.5, 2, 4]) {
      const logOdds = Math.log(odds);
      const graph = fromPairs(n, from, to, new Float64Array(n).fill(logOdds));
      const leaks = informedBound(graph, new Float64Array(n).fill(0.3)).leaks;
      const bound = tupleLeakage(0.3, { logOdds, ties: 2, reach: 'any' });
      expect(bound).toBeGreaterThanOrEqual(Math.max(...leaks) * (1 - 1e-9));
      expect(bound).toBeLessThan(Math.max(...leaks) * 1.05);
    }
  });

  it('tuples without ties have no extra leakage, and stronger or more ties have more', () => {
    const at = (logOdds: number, ties: number, reach: 'any' | 'direct' = 'any') => tupleLeakage(0.1, { logOdds, ties, reach });
    expect(at(1, 0)).toBe(0.1);
    expect(at(0, 10)).toBeCloseTo(0.1, 9);
    expect(at(1, 3)).toBeGreaterThan(at(0.5, 3));
    expect(at(1, 4)).toBeGreaterThan(at(1, 3));
    expect(at(1, 4, 'direct')).toBeLessThanOrEqual(at(1, 4));
    expect(at(1, 4)).toBeLessThanOrEqual(0.1 + 4 * 1 + 1e-9);
  });

  it('the leakage does not vanish with the cost if there are too many ties', () => {
    expect(tupleLeakage(1e-6, { logOdds: Math.log(2), ties: 50, reach: 'any' })).toBeGreaterThan(1);
    expect(tupleLeakage(1e-6, { logOdds: Math.log(1.05), ties: 50, reach: 'any' })).toBeLessThan(1e-5);
  });
});
