import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromNumber, rational, toText } from '../../base/exact/rational.js';
import type { Amplifier } from './amplifier.js';
import { type BoundsCache, type BoundsKey, boundsCache, boundsDigest } from './bounds-cache.js';
import { type FactorGraph, fromPairs } from './graph/factor-graph.js';
import { graphAmplifier } from './graph-amplifier.js';

/** The questions that are put to an amplifier, in an order that differs from case to case. */
interface Case {
  readonly question: BoundsKey;
  readonly epsilon: number;
  readonly base: number;
}

const cases: fc.Arbitrary<readonly Case[]> = fc.array(
  fc
    .record({
      // Few graphs that differ in little: a tie, a strength, who is used.
      ties: fc.constantFrom([0, 1, 2], [0, 1, 2, 3, 4, 5], [0, 2, 3]),
      strong: fc.constantFrom(1, 1.5),
      unused: fc.constantFrom(undefined, 1, 4),
      direct: fc.boolean(),
      epsilon: fc.constantFrom(0.3, 1),
      base: fc.constantFrom(0.05, 0.2),
    })
    .map(({ ties, strong, unused, direct, epsilon, base }) => ({
      question: {
        graph: graphOf(ties, strong),
        adversary: direct ? ('uninformed' as const) : ('informed' as const),
        reach: direct ? ('direct' as const) : ('any' as const),
        ...(unused !== undefined && { used: Uint8Array.from({ length: 6 }, (_, u) => (u === unused ? 0 : 1)) }),
      },
      epsilon,
      base,
    })),
  { minLength: 2, maxLength: 6 },
);

function graphOf(ties: readonly number[], strong: number): FactorGraph {
  const ring = [0, 1, 2, 3, 4, 5].map((k) => [k, (k + 1) % 6] as const);
  const kept = ties.map((k) => ring[k]!);
  return fromPairs(
    6,
    Uint32Array.from(kept, ([a]) => a),
    Uint32Array.from(kept, ([, b]) => b),
    strong,
  );
}

const amplifierOf = (questionTies: BoundsKey, cache: BoundsCache): Amplifier =>
  graphAmplifier({ ...questionTies, name: 'ties', scope: () => true, assumptions: [], method: '' }, cache);

/** All that a session requests: capacities, leakage of the spent costs, what-ifs, Gaussian capacities. */
const answers = ({ question: questionTies, epsilon, base }: Case, cache: BoundsCache) => {
  const amplifier = amplifierOf(questionTies, cache);
  const limit = fromNumber(epsilon);
  const delta = rational(1, 1_000_000);
  return [
    toText(amplifier.largestBase(limit)),
    amplifier.leakage(fromNumber(base)),
    amplifier.whatIf(fromNumber(base)),
    amplifier.gaussian.map((bound) => toText(bound.largestRho(limit, delta))),
  ];
};

/** Runs cases one after the other with bounds recorded under this key; true if some result differs from a new one. */
const staleBy = (keyOf: (questionTies: BoundsKey) => string, list: readonly Case[]): boolean => {
  const cache = boundsCache(keyOf);
  return list.some((one) => JSON.stringify(answers(one, cache)) !== JSON.stringify(answers(one, boundsCache(boundsDigest))));
};

describe('recorded bounds', () => {
  it('a recorded bound equals a new one to the last bit, after any other questions', () => {
    fc.assert(
      fc.property(cases, (list) => {
        expect(staleBy(boundsDigest, list)).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  // Faulty keys: each forgets one thing that the bounds depend on.
  const text = ({ graph, used, adversary, reach }: BoundsKey, parts: readonly string[]): string => {
    const all = { ties: graph.member.join(), odds: graph.logOdds.join(), used: used?.join() ?? '', who: adversary + reach };
    return parts.map((part) => all[part as keyof typeof all]).join('|');
  };
  const everything = ['ties', 'odds', 'used', 'who'];
  for (const forgotten of everything)
    it(`the test notices stale bounds if their key omits: ${forgotten}`, () => {
      const keyOf = (questionTies: BoundsKey) =>
        text(
          questionTies,
          everything.filter((part) => part !== forgotten),
        );
      const found = fc.sample(cases, { numRuns: 60, seed: 7 }).some((list) => staleBy(keyOf, list));
      expect(found).toBe(true);
    });

  it('bounds are shared by amplifiers of the same ties, and by no others', () => {
    const cache = boundsCache(boundsDigest);
    const questionTies: BoundsKey = { graph: graphOf([0, 1, 2], 1), adversary: 'informed', reach: 'any' };
    expect(cache(questionTies)).toBe(cache({ ...questionTies, graph: graphOf([2, 1, 0], 1) }));
    expect(cache(questionTies)).not.toBe(cache({ ...questionTies, graph: graphOf([0, 1, 3], 1) }));
  });
});
