import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromFactors, fromPairs } from '../graph/factor-graph.js';
import { push } from '../graph/push.js';
import { informed } from '../informed/informed.js';
import { leakage } from '../leakage.js';
import { direct } from './direct.js';

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
      fc.property(graphs, ({ pairs, odds, profile }) => {
        const left = Uint32Array.from(pairs, ([a]) => a);
        const right = Uint32Array.from(pairs, ([, b]) => b);
        const graph = fromPairs(
          profile.length,
          left,
          right,
          Float64Array.from(pairs, (_, k) => odds[k]!),
        );
        const effects = Float64Array.from(profile);
        const near = direct(graph, effects);
        const { leaks, group } = informed(graph, effects);
        for (let i = 0; i < near.length; i++) expect(near[i]).toBeLessThanOrEqual(leaks[i]! * (1 + 1e-9) + 1e-12);
        const told = leakage(graph, effects, 'uninformed', { reach: 'direct' });
        expect([...told.perRecord]).toEqual([...near]);
        expect(told.group).toBeCloseTo(Math.max(...group), 9);
      }),
      { numRuns: 300 },
    );
  });

  it('a factor of several records pushes the total cost of its other records', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.01, max: 2, noNaN: true }), { minLength: 3, maxLength: 6 }),
        fc.double({ min: 0.1, max: 6, noNaN: true }),
        (profile, odds) => {
          const members = profile.map((_, i) => i);
          const graph = fromFactors(profile.length, [{ members, logOdds: members.map(() => odds) }]);
          const near = direct(graph, Float64Array.from(profile));
          for (const [i, own] of profile.entries()) {
            const others = profile.reduce((sum, e) => sum + e, -own);
            expect(near[i]).toBeGreaterThanOrEqual((own + push(others, odds)) * (1 - 1e-12));
            expect(near[i]).toBeLessThanOrEqual((own + push(others, odds)) * (1 + 1e-9));
          }
        },
      ),
    );
  });
});
