import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../test/vectors.js';
import { compare, rational, toNumber } from '../../base/exact/rational.js';
import { fromPairs, untied } from './graph/factor-graph.js';
import { push } from './graph/push.js';
import { hubs } from './hubs.js';
import { largestBase } from './largest-base.js';
import { leakageBounds } from './leakage.js';
import type { Model } from './model/model.js';
import { readModel } from './model/model-file.js';
import { directBound } from './uninformed/direct.js';
import { percolation } from './uninformed/percolation.js';
import { whatIf } from './what-if.js';

interface Vector {
  readonly id: string;
  readonly values: readonly number[];
  readonly node: readonly (readonly number[])[];
  readonly factors: readonly { readonly records: readonly number[]; readonly table: readonly unknown[] }[];
  readonly profile: readonly number[];
  readonly informed_bound: readonly number[];
  readonly uninformed_bound?: readonly number[];
  readonly exact_informed: readonly number[];
  readonly exact_uninformed: readonly number[];
  readonly group: number;
}

describe('leakage test vectors', () => {
  const { models } = readVectors('leakage') as { models: Vector[] };
  for (const adversary of ['informed', 'uninformed'] as const)
    it(`the leakage lies between the exact value and the reference bound, ${adversary}`, () => {
      expect(models.length).toBeGreaterThan(20);
      for (const v of models) {
        const model: Model = {
          ids: v.values.map((_, j) => `r${j}`),
          values: v.values.map((n) => Array.from({ length: n }, (_, k) => k)),
          factors: [
            ...v.node.map((t, j) => ({ records: [j], table: Float64Array.from(t) })),
            ...v.factors.map((f) => ({ records: f.records, table: Float64Array.from(f.table.flat(9) as number[]) })),
          ],
        };
        const found = leakageBounds(model, Float64Array.from(v.profile), adversary);
        const exact = adversary === 'informed' ? v.exact_informed : v.exact_uninformed;
        const top = (adversary === 'uninformed' ? v.uninformed_bound : undefined) ?? v.informed_bound;
        for (let j = 0; j < exact.length; j++) {
          expect(found.perRecord[j]!, `${v.id} r${j}`).toBeGreaterThanOrEqual(exact[j]! - 1e-5);
          expect(found.perRecord[j]!, `${v.id} r${j}`).toBeLessThanOrEqual(Math.min(top[j]!, v.group) + 1e-4);
        }
      }
    });
});

describe('the two-state chain', () => {
  const chain = (stay: number) =>
    readModel(
      JSON.stringify({
        chain: {
          length: 300,
          transition: [
            [stay, 1 - stay],
            [1 - stay, stay],
          ],
          initial: 'stationary',
        },
      }),
      'chain.json',
    );
  // stay, epsilon, noise scale of the Markov quilt mechanism, ours informed, ours uninformed
  const anchors = [
    [0.6, 0.2, 29.76, 7.5, 7.49],
    [0.8, 0.2, 106.46, 19.99, 19.97],
    [0.8, 1, 13.08, 3.96, 3.85],
    [0.9, 1, 31.74, 8.91, 8.64],
    [0.95, 1, 68.79, 18.8, 18.23],
    [0.95, 5, 3.77, 2.97, 1.6],
  ] as const;
  for (const [stay, epsilon, quilt, seeing, blind] of anchors)
    it(`for states that stay ${stay} and epsilon ${epsilon}, the noise scale is ${seeing} informed and ${blind} uninformed, against ${quilt} of the quilt`, () => {
      const exact = rational(BigInt(epsilon * 10), 10n);
      const scale = (adversary: 'informed' | 'uninformed') => 1 / toNumber(largestBase(chain(stay), exact, adversary));
      expect(Math.abs(scale('informed') - seeing)).toBeLessThanOrEqual(0.005);
      expect(Math.abs(scale('uninformed') - blind)).toBeLessThanOrEqual(0.005);
      expect(scale('informed')).toBeLessThan(quilt);
    });
});

describe('calibration', () => {
  const ring = (n: number, d: number) =>
    fromPairs(
      n,
      Uint32Array.from({ length: n }, (_, k) => k),
      Uint32Array.from({ length: n }, (_, k) => (k + 1) % n),
      d,
    );

  it('the leakage at the largest base is within epsilon', () => {
    for (const [n, d] of [
      [5, 1],
      [30, 0.5],
      [200, 2],
    ] as const) {
      const base = largestBase(ring(n, d), rational(1), 'informed');
      expect(leakageBounds(ring(n, d), toNumber(base), 'informed').worst.leakage).toBeLessThanOrEqual(1);
      expect(leakageBounds(ring(n, d), toNumber(base) * 1.0001, 'informed').worst.leakage).toBeGreaterThan(1);
    }
  });

  it('the largest base of records without ties is all of epsilon', () => {
    expect(compare(largestBase(untied(7), rational(3, 10), 'informed'), rational(299999, 1000000))).toBe(1);
    expect(leakageBounds(untied(7), 0.3, 'informed').worst.leakage).toBe(0.3);
    expect(toNumber(percolation(untied(7)).largestRho(rational(1), rational(1, 1000000)))).toBeCloseTo(0.024356, 5);
  });

  it('the what-if shows the leakage if the declared ties were too weak', () => {
    const here = leakageBounds(ring(30, 0.5), 0.1, 'informed').worst.leakage;
    const { oddsTimes2, oddsTimes4, oneMoreTie } = whatIf(ring(30, 0.5), 0.1);
    expect(oddsTimes2).toBeGreaterThan(here);
    expect(oddsTimes4).toBeGreaterThan(oddsTimes2);
    expect(oneMoreTie).toBeGreaterThan(here);
    expect(whatIf(untied(2), 0.1).oneMoreTie).toBeCloseTo(0.1 + push(0.1, Math.log(2)), 12);
  });

  it('the hubs are the records that keep leakage from vanishing with the base', () => {
    const star = fromPairs(
      9,
      new Uint32Array(8),
      Uint32Array.from({ length: 8 }, (_, k) => k + 1),
      2,
    );
    const [hub] = hubs(star);
    expect(hub).toMatchObject({ record: 0, ties: 8 });
    expect(hub!.passesOn).toBeGreaterThan(1);
    expect(hubs(ring(30, 0.5)).every((h) => h.passesOn < 1)).toBe(true);
  });

  it('direct reach is refused for an attacker who knows other records', () => {
    const star = fromPairs(4, new Uint32Array(3), Uint32Array.of(1, 2, 3), 1);
    expect(() => leakageBounds(star, 0.1, 'informed', { reach: 'direct' })).toThrow(RangeError);
    const near = leakageBounds(star, 0.1, 'uninformed', { reach: 'direct' });
    expect(near.perRecord[1]).toBeCloseTo(0.1 + push(0.1, 1), 12);
    expect(near.perRecord[1]!).toBeLessThan(leakageBounds(star, 0.1, 'uninformed').perRecord[1]!);
    expect(directBound(star, new Float64Array(4).fill(0.1), 'any')[0]).toBeCloseTo(0.4, 12);
  });
});
