import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import { answersTo, everyRecord } from '../mechanism/record-class.js';
import type { Amplifier } from './amplifier.js';
import { type BaseCosts, commonBaseCost } from './base-cost.js';
import { graphAmplifier } from './graph-amplifier.js';
import { enumerate, type JointDistribution } from './model/joint.js';
import type { Model } from './model/model.js';
import { graphsOf } from './model/model-graph.js';

const names = ['a', 'b', 'c'];
const classes = names.map(answersTo);
/** Three yes-or-no answers tied in any way, the model's records in another order than the columns. */
const models = fc
  .record({
    order: fc.shuffledSubarray(names, { minLength: 3 }),
    scopes: fc.array(fc.subarray([0, 1, 2], { minLength: 2 }), { minLength: 1, maxLength: 3 }),
    weights: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 24, maxLength: 24 }),
  })
  .map(
    ({ order, scopes, weights }): Model => ({
      ids: order,
      values: order.map(() => [0, 1]),
      factors: scopes.map((records, k) => ({
        records,
        table: Float64Array.from(weights.slice(8 * k, 8 * k + 2 ** records.length)),
      })),
    }),
  );
const costs = fc.array(fc.integer({ min: 0, max: 120 }), { minLength: 3, maxLength: 3 });

/** The graph over the columns in their own order, and the model as it is. */
function amplifierOf(model: Model, adversary: 'informed' | 'uninformed'): Amplifier {
  const [graph] = graphsOf({ ...model, ids: names, factors: model.factors.map((f) => ({ ...f, ...inColumns(model, f) })) });
  return graphAmplifier({
    name: 'answers',
    graph: graph!,
    model,
    scope: (record) => classes.some((c) => c === record),
    columns: names,
    adversary,
    reach: 'any',
    assumptions: [],
    method: '',
  });
}
type Factor = Model['factors'][number];
const inColumns = (model: Model, factor: Factor) => ({ records: factor.records.map((r) => names.indexOf(model.ids[r]!)) });
const basesOf = (list: readonly number[]): BaseCosts =>
  new Map(list.flatMap((x, k) => (x > 0 ? [[classes[k]!, rational(x, 100)] as const] : [])));

const digit = (joint: JointDistribution, state: number, j: number) => Math.floor(state / joint.strides[j]!) % joint.sizes[j]!;
/**
 * Largest privacy loss of any record, over all deterministic targets as sharp as the costs permit, to anyone who knows the
 * records of `known`.
 */
function worstLoss(model: Model, cost: (id: string) => number, sets: readonly number[], informed: boolean): number {
  const joint = enumerate(model);
  const states = [...joint.probabilities.keys()];
  const nodeCosts = model.ids.map(cost);
  const distance = (s: number, t: number) =>
    nodeCosts.reduce((d, e, j) => d + (digit(joint, s, j) === digit(joint, t, j) ? 0 : e), 0);
  let worst = 0;
  for (const set of sets) {
    const h = states.map((s) => Math.exp(-Math.min(...states.filter((t) => (set >> t) & 1).map((t) => distance(s, t)))));
    for (let i = 0; i < 3; i++)
      for (let known = 0; known < (informed ? 8 : 1); known++) {
        if ((known >> i) & 1) continue;
        const alike = (s: number, t: number) =>
          [0, 1, 2].every((j) => !((known >> j) & 1) || digit(joint, s, j) === digit(joint, t, j));
        for (const seen of states) {
          const mean = (value: number) => {
            const list = states.filter((s) => alike(s, seen) && digit(joint, s, i) === value);
            const mass = list.reduce((t, s) => t + joint.probabilities[s]!, 0);
            return list.reduce((t, s) => t + joint.probabilities[s]! * h[s]!, 0) / mass;
          };
          worst = Math.max(worst, Math.abs(Math.log(mean(0) / mean(1))));
        }
      }
  }
  return worst;
}

describe('separate base costs for each column', () => {
  it.each(['informed', 'uninformed'] as const)(
    'the leakage bounds what every target reveals to an %s attacker, for any costs of the other columns',
    (adversary) => {
      let closest = 0;
      fc.assert(
        fc.property(
          models,
          costs,
          fc.array(fc.integer({ min: 1, max: 255 }), { minLength: 6, maxLength: 6 }),
          (model, list, sets) => {
            if (list.every((x) => x === 0)) return;
            const leak = amplifierOf(model, adversary).leakage(basesOf(list));
            const lost = worstLoss(model, (id) => list[names.indexOf(id)]! / 100, sets, adversary === 'informed');
            closest = Math.max(closest, lost / leak);
            expect(lost).toBeLessThanOrEqual(leak + 1e-9);
          },
        ),
        { numRuns: 150 },
      );
      expect(closest).toBeGreaterThan(0.9);
    },
  );

  it.each(['informed', 'uninformed'] as const)(
    'the leakage grows with the cost of each column and never exceeds that of the largest common cost (%s)',
    (adversary) => {
      fc.assert(
        fc.property(models, costs, fc.nat(2), fc.integer({ min: 1, max: 50 }), (model, list, at, more) => {
          const amplifier = amplifierOf(model, adversary);
          const leak = amplifier.leakage(basesOf(list));
          const raised = amplifier.leakage(basesOf(list.map((x, k) => (k === at ? x + more : x))));
          expect(leak).toBeLessThanOrEqual(raised * (1 + 1e-9));
          const common = commonBaseCost(basesOf(list), amplifier.scope);
          expect(leak).toBeLessThanOrEqual(amplifier.leakage(common) * (1 + 1e-9));
          expect(amplifier.leakage(new Map(classes.map((c) => [c, common] as const)))).toBe(amplifier.leakage(common));
        }),
      );
    },
  );

  it('the largest multiple of given costs keeps epsilon, and a larger one does not', () => {
    fc.assert(
      fc.property(models, costs, (model, list) => {
        if (list.every((x) => x === 0)) return;
        const amplifier = amplifierOf(model, 'informed');
        const times = amplifier.largestBase(rational(1), basesOf(list));
        const at = (t: typeof times) => new Map([...basesOf(list)].map(([c, x]) => [c, multiply(x, t)] as const));
        expect(amplifier.leakage(at(times))).toBeLessThanOrEqual(1 + 1e-12);
        expect(amplifier.leakage(at(multiply(times, rational(1001, 1000))))).toBeGreaterThan(1);
        expect(
          toNumber(amplifier.largestBase(rational(1), new Map(classes.map((c) => [c, rational(1, 2)] as const)))),
        ).toBeCloseTo(2 * toNumber(amplifier.largestBase(rational(1))), 6);
      }),
    );
  });

  it('a mark or a class of other records adds nothing to the leakage', () => {
    const amplifier = amplifierOf({ ids: names, values: names.map(() => [0, 1]), factors: [] }, 'informed');
    expect(amplifier.leakage(new Map([[everyRecord, rational(1)]]))).toBe(0);
  });
});
