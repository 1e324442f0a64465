import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { factoredLeak, factoredLeakPlain, totalVariation } from '../../../../test/factored.js';
import { push } from '../graph/push.js';
import { pushTable } from '../graph/push-table.js';
import { leakageBounds } from '../leakage.js';
import { enumerate } from '../model/joint.js';
import type { Model } from '../model/model.js';
import { readModel } from '../model/model-file.js';
import { uninformedForest } from './uninformed.js';
import { vStructures } from './v-structure.js';

const distribution = (weights: number[]) => {
  const total = weights.reduce((s, w) => s + w, 0);
  return Float64Array.from(weights, (w) => w / total);
};
const certain = { relative: 0, radius: 0 };
const distributions = (size: number) =>
  fc
    .array(fc.integer({ min: 0, max: 30 }), { minLength: size, maxLength: size })
    .filter((w) => w.some((x) => x > 0))
    .map(distribution);

describe('push through a known table', () => {
  it('push through a table is the largest over all sets of values', () => {
    fc.assert(
      fc.property(distributions(4), distributions(4), fc.double({ min: 0.01, max: 5, noNaN: true }), (a, b, loss) => {
        let best = 0;
        for (let set = 0; set < 16; set++) {
          const mass = (p: Float64Array) => p.reduce((s, x, v) => s + (set & (1 << v) ? x : 0), 0);
          for (const [x, y] of [
            [a, b],
            [b, a],
          ] as const)
            best = Math.max(best, Math.log1p(mass(x) * Math.expm1(loss)) - Math.log1p(mass(y) * Math.expm1(loss)));
        }
        const got = pushTable(loss, { rows: [a, b], ...certain });
        expect(got).toBeGreaterThanOrEqual(best - 1e-14);
        expect(got).toBeLessThanOrEqual(best + 1e-11);
      }),
    );
  });

  it('push through a table covers every pair of distributions within the radius, where prefixes alone would not', () => {
    let prefixesFell = false;
    fc.assert(
      fc.property(
        distributions(3),
        distributions(3),
        distributions(3),
        distributions(3),
        fc.double({ min: 0.2, max: 6, noNaN: true }),
        (a, b, c, d, loss) => {
          const radius = Math.max(totalVariation(a, c), totalVariation(b, d));
          fc.pre(radius > 0 && radius < 0.5);
          const truth = pushTable(loss, { rows: [c, d], ...certain });
          expect(pushTable(loss, { rows: [a, b], relative: 0, radius })).toBeGreaterThanOrEqual(truth - 1e-12);
          if (pushTable(loss, { rows: [a, b], ...certain }) < truth) prefixesFell = true;
        },
      ),
      { numRuns: 500 },
    );
    expect(prefixesFell).toBe(true);
    // a = b = (1/2, 1/2), radius .3: the true distributions may be (.8, .2) and (.2, .8), reached by taking half of a value.
    const half = distribution([1, 1]);
    const wide = pushTable(2, { rows: [half, half.slice()], relative: 0, radius: 0.3 });
    expect(wide).toBeGreaterThanOrEqual(pushTable(2, { rows: [distribution([8, 2]), distribution([2, 8])], ...certain }));
  });

  it('push through a table is the whole loss for opposite certainties, and otherwise has the published temporal-leakage values', () => {
    expect(pushTable(0.7, { rows: [distribution([1, 0]), distribution([0, 1])], ...certain })).toBeCloseTo(0.7, 12);
    const rows = [distribution([1, 2, 7]), distribution([3, 3, 4]), distribution([5, 3, 2])];
    const known: [number, number][] = [
      [0.1, 0.05022],
      [0.5, 0.252399],
      [1, 0.494334],
      [2, 0.939752],
      [5, 1.557279],
      [10, 1.609075],
    ];
    for (const [loss, leak] of known) expect(pushTable(loss, { rows, ...certain })).toBeCloseTo(leak, 5);
    expect(pushTable(2000, { rows, ...certain })).toBeCloseTo(Math.log(5), 9);
  });
});

const chain = (length: number, stay: number, initial: unknown = 'stationary'): Model =>
  readModel(
    JSON.stringify({
      chain: {
        length,
        transition: [
          [stay, 1 - stay],
          [1 - stay, stay],
        ],
        initial,
      },
    }),
    'chain.json',
  );

describe('leakage to an attacker who knows no other record', () => {
  it('the leakage reproduces Cao et al. 2018 with randomised response on a chain of four', () => {
    const model = readModel(
      JSON.stringify({
        chain: {
          length: 4,
          transition: [
            [0.8, 0.2],
            [0.3, 0.7],
          ],
          initial: 'stationary',
        },
      }),
      'm',
    );
    const got = uninformedForest(model, new Float64Array(4).fill(0.5));
    for (const [k, value] of [0.937062, 1.12961, 1.12961, 0.937062].entries()) expect(got[k]).toBeCloseTo(value, 5);
  });

  it('the uninformed leakage never exceeds the informed bound, and equals it to first order', () => {
    const model = chain(30, 0.8);
    for (const base of [0.01, 0.1, 1]) {
      const blind = leakageBounds(model, base, 'uninformed').worst.leakage;
      const seeing = leakageBounds(model, base, 'informed').worst.leakage;
      expect(blind).toBeLessThanOrEqual(seeing);
      if (base === 0.01) expect(blind / seeing).toBeGreaterThan(0.99);
    }
  });

  it('the leakage holds for every initial distribution if that is left open', () => {
    const open = uninformedForest(chain(5, 0.9, 'any'), new Float64Array(5).fill(1));
    for (const first of [
      [0.5, 0.5],
      [0.99, 0.01],
      [0.2, 0.8],
      [1, 0],
    ]) {
      const fixed = uninformedForest(chain(5, 0.9, first), new Float64Array(5).fill(1));
      for (let t = 0; t < 5; t++) expect(open[t]!).toBeGreaterThanOrEqual(fixed[t]! - 1e-12);
    }
  });

  it('the uninformed bound leaves loops and larger factors to the informed one', () => {
    const ring: Model = {
      ids: ['a', 'b', 'c'],
      values: [
        [0, 1],
        [0, 1],
        [0, 1],
      ],
      factors: [
        [0, 1],
        [1, 2],
        [2, 0],
      ].map((records) => ({ records, table: Float64Array.of(2, 1, 1, 2) })),
    };
    expect([...uninformedForest(ring, new Float64Array(3).fill(1))]).toEqual([Infinity, Infinity, Infinity]);
    expect(leakageBounds(ring, 1, 'uninformed').worst.leakage).toBe(leakageBounds(ring, 1, 'informed').worst.leakage);
  });
});

describe('a child and its parents', () => {
  const xor: Model = {
    ids: ['p', 'q', 'c'],
    values: [
      [0, 1],
      [0, 1],
      [0, 1],
    ],
    factors: [{ records: [0, 1, 2], table: Float64Array.of(0.9, 0.1, 0.1, 0.9, 0.1, 0.9, 0.9, 0.1) }],
  };
  it("a parent leaks the child's dependence on it, not on the other parent", () => {
    const e = Float64Array.of(0.5, 0.7, 0.3);
    const d = Math.log(81);
    const blind = vStructures(xor, e, 'none');
    expect(blind[0]).toBeCloseTo(0.5 + push(0.3, d), 9);
    expect(vStructures(xor, e, 'exact')[0]).toBeCloseTo(0.5 + Math.max(push(0.3, d), push(0.7, d)), 9);
    // The table is a distribution of each record given the other two, so each may be taken as the child.
    expect(blind[2]).toBeLessThan(Infinity);
  });
  it('the v-structure bound is refused if the child has a weight of its own', () => {
    const weighted: Model = {
      ...xor,
      factors: [...xor.factors, ...[0, 1, 2].map((r) => ({ records: [r], table: Float64Array.of(1, 2) }))],
    };
    expect([...vStructures(weighted, Float64Array.of(1, 1, 1), 'none')]).toEqual([Infinity, Infinity, Infinity]);
  });
});

describe('releases that factor over records', () => {
  it('factored releases leak no more than the bound, for any joint distribution and factors', () => {
    const joints = fc.record({
      weights: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 16, maxLength: 16 }),
      evidence: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 }),
      effects: fc.array(fc.double({ min: 0.05, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
    });
    fc.assert(
      fc.property(joints, ({ weights, evidence, effects: costs }) => {
        fc.pre(weights.slice(0, 8).some((w) => w > 0) && weights.slice(8).some((w) => w > 0));
        const joint = enumerate({
          ids: ['a', 'b', 'c', 'd'],
          values: [
            [0, 1],
            [0, 1],
            [0, 1],
            [0, 1],
          ],
          factors: [{ records: [0, 1, 2, 3], table: Float64Array.from(weights) }],
        });
        const bit = (state: number, j: number) => (state >> (3 - j)) & 1;
        const under = (value: number, of: (s: number) => number): number => {
          let sum = 0;
          let mass = 0;
          joint.probabilities.forEach((p, s) => {
            if (bit(s, 0) !== value) return;
            mass += p;
            sum += p * of(s);
          });
          return sum / mass;
        };
        const factor = (s: number) => Math.exp([1, 2, 3].reduce((t, j) => t + costs[j]! * evidence[2 * j + bit(s, j)]!, 0));
        const lost = costs[0]! + Math.abs(Math.log(under(0, factor) / under(1, factor)));
        const distributionOf = (value: number, j: number) =>
          Float64Array.of(
            under(value, (s) => 1 - bit(s, j)),
            under(value, (s) => bit(s, j)),
          );
        const shifts = [1, 2, 3].map((j) => ({
          sensitivity: costs[j]!,
          underA: distributionOf(0, j),
          underB: distributionOf(1, j),
        }));
        const back = shifts.map((s) => ({ ...s, underA: s.underB, underB: s.underA }));
        const bound = Math.max(factoredLeak(costs[0]!, shifts), factoredLeak(costs[0]!, back));
        expect(lost).toBeLessThanOrEqual(bound + 1e-12);
        const plain = factoredLeakPlain(
          costs[0]!,
          costs.slice(1),
          shifts.map((s) => totalVariation(s.underA, s.underB)),
        );
        expect(bound).toBeLessThanOrEqual(plain + 1e-9);
      }),
    );
  });

  it('the bound of factored releases grows with the confidence radius, up to composition', () => {
    const shift = { sensitivity: 0.1, underA: distribution([6, 4]), underB: distribution([4, 6]) };
    const at = (radius: number) =>
      factoredLeak(0.1, [
        { ...shift, radius },
        { ...shift, radius },
      ]);
    expect(at(0.1)).toBeGreaterThan(at(0));
    expect(at(1)).toBeCloseTo(0.3, 12);
  });
});
