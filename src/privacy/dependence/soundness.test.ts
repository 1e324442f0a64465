import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { informedBound } from './informed/informed.js';
import { leakageBounds } from './leakage.js';
import { enumerate, type JointDistribution } from './model/joint.js';
import type { Model } from './model/model.js';
import { graphsOf } from './model/model-graph.js';

/**
 * Exhaustive attacks: mechanisms as sharp as their costs permit, against every record, pair of its values and set of known
 * records. A bound that is wrong by a percent fails within a few models.
 */
const weight = fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 6, arbitrary: fc.integer({ min: 1, max: 60 }) });
const models = fc
  .record({
    sizes: fc.array(fc.integer({ min: 2, max: 3 }), { minLength: 2, maxLength: 4 }),
    scopes: fc.array(fc.array(fc.nat(100), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
    weights: fc.array(weight, { minLength: 150, maxLength: 150 }),
    effects: fc.array(fc.double({ min: 0.05, max: 1.5, noNaN: true }), { minLength: 4, maxLength: 4 }),
  })
  .map(({ sizes, scopes, weights, effects: costs }) => {
    let used = 0;
    const factors = scopes.map((scope) => {
      const records = [...new Set(scope.map((s) => s % sizes.length))];
      const cells = records.reduce((p, r) => p * sizes[r]!, 1);
      const table = Float64Array.from({ length: cells }, () => weights[used++ % weights.length]!);
      return { records, table };
    });
    const model: Model = {
      ids: sizes.map((_, k) => `r${k}`),
      values: sizes.map((s) => Array.from({ length: s }, (_, v) => v)),
      factors,
    };
    return { model, effects: costs.slice(0, sizes.length) };
  });

const digit = (joint: JointDistribution, state: number, j: number) => Math.floor(state / joint.strides[j]!) % joint.sizes[j]!;

/** log h(x) = -(weighted Hamming distance from x to the set): the sharpest answer about the set that the costs permit. */
function sharpest(joint: JointDistribution, costs: readonly number[], wanted: (state: number) => boolean): Float64Array {
  const states = joint.probabilities.length;
  const inside = [...Array(states).keys()].filter(wanted);
  return Float64Array.from({ length: states }, (_, s) => {
    let best = Number.POSITIVE_INFINITY;
    for (const t of inside) {
      let distance = 0;
      for (const [j, e] of costs.entries()) if (digit(joint, s, j) !== digit(joint, t, j)) distance += e;
      best = Math.min(best, distance);
    }
    return inside.length === 0 ? 1 : Math.exp(-best);
  });
}

/** Every (record, value pair, known set, known values): both conditional distributions as unnormalised weights over states. */
function* situations(joint: JointDistribution) {
  const n = joint.sizes.length;
  const states = joint.probabilities.length;
  for (let i = 0; i < n; i++)
    for (let known = 0; known < 1 << n; known++) {
      if (known & (1 << i)) continue;
      const groups = new Map<string, number[]>();
      for (let s = 0; s < states; s++) {
        const key = joint.sizes.map((_, j) => (known & (1 << j) ? digit(joint, s, j) : '')).join();
        groups.set(key, [...(groups.get(key) ?? []), s]);
      }
      for (const group of groups.values())
        for (let a = 0; a < joint.sizes[i]!; a++)
          for (let b = 0; b < joint.sizes[i]!; b++) {
            if (a === b) continue;
            const left = group.filter((s) => digit(joint, s, i) === a);
            const right = group.filter((s) => digit(joint, s, i) === b);
            const massOf = (list: number[]) => list.reduce((t, s) => t + joint.probabilities[s]!, 0);
            if (massOf(left) > 0 && massOf(right) > 0)
              yield { i, known, left, right, leftMass: massOf(left), rightMass: massOf(right) };
          }
    }
}

function loss(
  joint: JointDistribution,
  h: Float64Array,
  s: { left: number[]; right: number[]; leftMass: number; rightMass: number },
): number {
  const mean = (list: number[], mass: number) => list.reduce((t, x) => t + joint.probabilities[x]! * h[x]!, 0) / mass;
  return Math.log(mean(s.left, s.leftMass) / mean(s.right, s.rightMass));
}

const enumerable = (model: Model): JointDistribution | undefined => {
  try {
    return enumerate(model);
  } catch {
    return undefined;
  }
};

describe('attacks with mechanisms of given costs', () => {
  it('no mechanism exceeds the bounds, for any target and any known records', () => {
    let attacks = 0;
    let closest = 0;
    fc.assert(
      fc.property(models, fc.array(fc.boolean(), { minLength: 81, maxLength: 81 }), ({ model, effects: costs }, coin) => {
        const joint = enumerable(model);
        if (!joint) return;
        const bounds = graphsOf(model).map((g) => informedBound(g, Float64Array.from(costs)).leaks);
        const limit = costs.map((_, i) => Math.min(...bounds.map((b) => b[i]!)));
        const blind = leakageBounds(model, Float64Array.from(costs), 'uninformed').perRecord;
        const random = sharpest(joint, costs, (s) => coin[s]!);
        for (const situation of situations(joint)) {
          const { left, right, i } = situation;
          // Aim at the states the first value makes likely, at the first value itself, and at anything at all.
          const share = (s: number) => {
            const twin = right.find((t) => joint.sizes.every((_, j) => j === i || digit(joint, s, j) === digit(joint, t, j)));
            return twin === undefined
              ? 1
              : joint.probabilities[s]! / situation.leftMass - joint.probabilities[twin]! / situation.rightMass;
          };
          const likely = new Set(left.filter((s) => share(s) > 0));
          for (const h of [
            sharpest(joint, costs, (s) => likely.has(s)),
            sharpest(joint, costs, (s) => left.includes(s)),
            random,
          ]) {
            const lost = loss(joint, h, situation);
            attacks++;
            closest = Math.max(closest, lost / limit[i]!);
            expect(lost).toBeLessThanOrEqual(limit[i]! + 1e-9);
            if (situation.known === 0) expect(lost).toBeLessThanOrEqual(blind[i]! + 1e-9);
          }
        }
      }),
      { numRuns: 60 },
    );
    expect(attacks).toBeGreaterThan(1000);
    expect(closest).toBeGreaterThan(0.9);
  });

  it('no mechanism exceeds the bounds when used twice: costs add, and leakage is computed once from the sum', () => {
    fc.assert(
      fc.property(models, fc.array(fc.boolean(), { minLength: 162, maxLength: 162 }), ({ model, effects: costs }, coin) => {
        const joint = enumerable(model);
        if (!joint) return;
        const other = costs.map((_, k) => costs[(k + 1) % costs.length]!);
        const first = sharpest(joint, costs, (s) => coin[s]!);
        const second = sharpest(joint, other, (s) => coin[81 + s]!);
        const both = first.map((h, s) => h * second[s]!);
        const total = Float64Array.from(costs, (e, k) => e + other[k]!);
        const bounds = graphsOf(model).map((g) => informedBound(g, total).leaks);
        for (const situation of situations(joint))
          expect(loss(joint, both, situation)).toBeLessThanOrEqual(Math.min(...bounds.map((b) => b[situation.i]!)) + 1e-9);
      }),
      { numRuns: 60 },
    );
  });
});
