import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromFactors, fromPairs } from '../graph/factor-graph.js';
import { push } from '../graph/push.js';
import { informedBound } from '../informed/informed.js';
import { leakageBounds } from '../leakage.js';
import { directBound } from './direct.js';

const graphs = fc.integer({ min: 2, max: 20 }).chain((records) =>
  fc.record({
    pairs: fc.array(fc.tuple(fc.nat(records - 1), fc.nat(records - 1)), { minLength: 1, maxLength: 40 }),
    odds: fc.array(fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.double({ min: 0, max: 6, noNaN: true })), {
      minLength: 40,
      maxLength: 40,
    }),
    profile: fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 3, noNaN: true })), {
      minLength: records,
      maxLength: records,
    }),
  }),
);

describe('direct reach', () => {
  it('the bound with direct reach is never above the one for any reach, so it can be used alone', () => {
    fc.assert(
      fc.property(graphs, ({ pairs, odds, profile: recordCosts }) => {
        const left = Uint32Array.from(pairs, ([a]) => a);
        const right = Uint32Array.from(pairs, ([, b]) => b);
        const graph = fromPairs(
          recordCosts.length,
          left,
          right,
          Float64Array.from(pairs, (_, k) => odds[k]!),
        );
        const costs = Float64Array.from(recordCosts);
        const near = directBound(graph, costs);
        const { leaks, group } = informedBound(graph, costs);
        for (let i = 0; i < near.length; i++) expect(near[i]).toBeLessThanOrEqual(leaks[i]! * (1 + 1e-9) + 1e-12);
        const bounds = leakageBounds(graph, costs, 'uninformed', { reach: 'direct' });
        expect([...bounds.perRecord]).toEqual([...near]);
        expect(bounds.group).toBeCloseTo(Math.max(...group), 9);
      }),
      { numRuns: 300 },
    );
  });

  it('a factor of several records pushes the total cost of its other records', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.01, max: 2, noNaN: true }), { minLength: 3, maxLength: 6 }),
        fc.double({ min: 0.1, max: 6, noNaN: true }),
        (recordCosts, odds) => {
          const members = recordCosts.map((_, i) => i);
          const graph = fromFactors(recordCosts.length, [{ members, logOdds: members.map(() => odds) }]);
          const near = directBound(graph, Float64Array.from(recordCosts));
          for (const [i, own] of recordCosts.entries()) {
            const others = recordCosts.reduce((sum, e) => sum + e, -own);
            expect(near[i]).toBeGreaterThanOrEqual((own + push(others, odds)) * (1 - 1e-12));
            expect(near[i]).toBeLessThanOrEqual((own + push(others, odds)) * (1 + 1e-9));
          }
        },
      ),
    );
  });
});
