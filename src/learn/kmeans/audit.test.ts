import { describe, expect, it } from 'vitest';
import { number, samplePolicy } from '../../../test/sample-policy.js';
import { auditOutputs, type Feature, type Finding } from '../../audit/statistical/statistical.js';
import { add, compare, divide, multiply, parseRational, type Rational, rational, sum, toNumber } from '../../exact/rational.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import type { PlannedMeasure } from '../../release/plan.js';
import type { Allowance } from '../../release/session.js';
import { packedCentres } from './centres.js';
import { chooseVariant, type KmeansRequest, type Variant } from './kmeans.js';
import { noisyLloyd, tallyClusters } from './lloyd.js';
import { boxOf, type Points } from './points.js';

const last = 100;
const names = (d: number) => Array.from({ length: d }, (_, c) => `x${c}`);
const policy = samplePolicy(names(12).map((name) => number(name, '0', `${last}`)));
const points = (rows: readonly (readonly number[])[]): Points => ({
  dimensions: rows[0]!.length,
  count: rows.length,
  coordinates: Int32Array.from(rows.flat()),
});
const make = (d: number, rows: number, more: Partial<KmeansRequest> & { pure?: Rational; rho?: Rational } = {}): Variant => {
  const { pure, rho, ...ask } = more;
  const allowance = { ...(rho ? { rho } : { pure: pure ?? rational(1) }) } as Allowance;
  return chooseVariant({ columns: names(d), clusters: 2, ...ask }, boxOf(policy, names(d)), allowance, rows, 1);
};
const audit = (
  release: (p: Points) => number[],
  a: Points,
  b: Points,
  samples = 8_000,
  features: readonly Feature[] = [],
): Finding =>
  auditOutputs(
    Array.from({ length: samples }, () => release(a)),
    Array.from({ length: samples }, () => release(b)),
    { features },
  );
const shown = (variant: Variant) => (p: Points) => {
  const { centres, counts = [] } = variant.cluster(p, new Array<number>(p.dimensions).fill(last));
  return [...centres.flat(), ...counts];
};
const evaluate = (m: PlannedMeasure): number => toNumber(parseRational((m.noise as { scale: string }).scale));
/** The worst neighbours: one point goes from one end of the box to the other, and so from one cluster to the other. */
const ends = (others: number): [Points, Points] =>
  [-last, last].map((x) => points([[x], ...Array.from({ length: others }, (_, i) => [i % 2 ? 60 : -60])])) as [Points, Points];

describe('the statistical audit of k-means at epsilon 1', () => {
  it('stays below epsilon for the tree of counts and sees much of it', () => {
    const found = audit(shown(make(1, 1, { clusters: 1, variant: 'grid' })), points([[-last]]), points([[last]]));
    expect(found.epsilon).toBeLessThanOrEqual(1);
    expect(found.epsilon).toBeGreaterThan(0.25);
  });

  it('stays below epsilon for a tree of several levels', () => {
    const [a, b] = ends(300);
    const variant = make(1, 301, { variant: 'grid' });
    expect(variant.measures.length).toBeGreaterThan(1);
    expect(audit(shown(variant), a, b, 1500).epsilon).toBeLessThanOrEqual(1);
  });

  it('stays below epsilon for Lloyd rounds, also when the attacker works out the likelihood', () => {
    const [a, b] = ends(60);
    const variant = make(1, 61, { variant: 'lloyd', iterations: 1 });
    const [count, total] = variant.measures.map((m) => evaluate(m));
    const tallies = [a, b].map((p) => tallyClusters(p, [last], packedCentres(2, 1)));
    // Outputs are (centre, centre, count, count); a sum is centre x count x last unless it was cut.
    const apart = (o: readonly number[], k: number, t: (typeof tallies)[number]) =>
      Math.abs(o[2 + k]! - t.counts[k]!) / count! + Math.abs(o[k]! * o[2 + k]! * last - Number(t.sums[k]![0]!)) / total!;
    const likelihood = (o: readonly number[]) =>
      [0, 1].reduce((s, k) => s + apart(o, k, tallies[1]!) - apart(o, k, tallies[0]!), 0);
    const found = audit(shown(variant), a, b, 12_000, [{ name: 'likelihood', of: likelihood }]);
    expect(found.epsilon).toBeLessThanOrEqual(1);
    expect(found.epsilon).toBeGreaterThan(0.2);
    expect(audit(shown(make(1, 61, { variant: 'lloyd', iterations: 3 })), a, b).epsilon).toBeLessThanOrEqual(1);
  });

  it('catches a point outside the box: rows that were not scaled', () => {
    const far = [-8 * last, 8 * last].map((x) => points([[x], ...Array.from({ length: 60 }, (_, i) => [i % 2 ? 60 : -60])])) as [
      Points,
      Points,
    ];
    expect(audit(shown(make(1, 61, { variant: 'lloyd', iterations: 1 })), ...far).epsilon).toBeGreaterThan(1);
  });

  it('catches a skipped empty cluster, which the product does not skip', () => {
    // All but one point lie left; the right cluster is empty or holds the one point.
    const rest = Array.from({ length: 20 }, () => [-60]);
    const [empty, used] = [points([[-last], ...rest]), points([[last], ...rest])];
    const noise = { count: laplaceSampler(rational(4)), sum: [laplaceSampler(rational(4 * last))], least: 8 };
    const skipping = (p: Points): number[] => {
      const start = packedCentres(2, 1);
      const { counts, sums } = tallyClusters(p, [last], start);
      return counts.flatMap((n, k) =>
        n === 0 ? start[k]! : [Number(sums[k]![0]! + noise.sum[0]!()) / (Math.max(1, n + Number(noise.count())) * last)],
      );
    };
    expect(audit(skipping, empty, used).epsilon).toBeGreaterThan(1);
    const honest = (p: Points) => noisyLloyd(p, [last], 2, 1, noise).centres.flat();
    expect(audit(honest, empty, used).epsilon).toBeLessThanOrEqual(1);
  });
});

/** What a plan's noise costs, worked out from the noise alone: the exact audit, also where sampling is too blunt. */
function cost(measures: readonly PlannedMeasure[], d: number, rounds: number): Rational {
  const scale = (m: PlannedMeasure) => parseRational((m.noise as { scale: string }).scale);
  const [count, ...sums] = measures;
  const each = add(divide(rational(2), scale(count!)), sum(sums.slice(0, d).map((m) => divide(rational(2 * last), scale(m)))));
  return multiply(each, rational(rounds));
}

describe('the exact audit of the noise', () => {
  it('finds no more than the budget, in any number of dimensions', () => {
    for (const d of [1, 2, 5, 12]) {
      const variant = make(d, 5000, { variant: 'lloyd', iterations: 3 });
      const total = cost(variant.measures, d, 3);
      expect(compare(total, rational(1))).toBeLessThanOrEqual(0);
      expect(toNumber(total)).toBeGreaterThan(0.999);
    }
  });

  it('catches a swapped split', () => {
    const { measures } = make(12, 5000, { variant: 'lloyd', iterations: 2 });
    const scales = measures.map((m) => parseRational((m.noise as { scale: string }).scale));
    // The share of a count given to every sum, and the other way round.
    const count = multiply(divide(scales[1]!, rational(last)), rational(1));
    const swapped = measures.map((m, k) => ({
      ...m,
      noise: {
        kind: 'laplace' as const,
        scale: ((r: Rational) => `${r.num}/${r.den}`)(k === 0 ? count : multiply(scales[0]!, rational(last))),
      },
    }));
    expect(toNumber(cost(swapped, 12, 2))).toBeCloseTo(1.283912, 3);
    expect(compare(cost(swapped, 12, 2), rational(1))).toBe(1);
  });

  it('finds no more than rho for Gaussian noise', () => {
    for (const d of [1, 3, 12]) {
      const { measures } = make(d, 5000, { variant: 'lloyd', iterations: 4, rho: rational(1, 10) });
      const variance = (m: PlannedMeasure) => toNumber(parseRational((m.noise as { variance: string }).variance));
      const [count, ...sums] = measures;
      // One cluster: every coordinate sum moves by 2 last; two clusters: both counts by one, sums by last in each.
      const same = sums.reduce((s, m) => s + (2 * last) ** 2 / (2 * variance(m)), 0);
      const moved = 2 / (2 * variance(count!)) + sums.reduce((s, m) => s + (2 * last ** 2) / (2 * variance(m)), 0);
      expect(4 * Math.max(same, moved)).toBeLessThanOrEqual(0.1);
    }
  });
});
