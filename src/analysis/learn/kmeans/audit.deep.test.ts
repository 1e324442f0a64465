import { describe, expect, it } from 'vitest';
import { number, samplePolicy } from '../../../../test/sample-policy.js';
import { type AuditFinding, auditOutputs, type OutputFeature } from '../../../../test/statistical/statistical.js';
import { RecordingPayment, usedParts } from '../../../../test/transcript.js';
import { add, compare, divide, multiply, type Rational, rational, sum, toNumber } from '../../../base/exact/rational.js';
import { type AdditiveMechanism, noiseWidth } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, pure, zcdp } from '../../../privacy/mechanism/budget-share.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { packedCentroids } from './centroids.js';
import { chooseVariant, type KmeansRequest } from './kmeans.js';
import { tallyClusters } from './lloyd.js';
import { offsetUnit, tallyOffsets } from './offsets.js';
import { type Points, pointBox } from './points.js';
import type { KmeansVariant } from './variant.js';

const last = 100;
const names = (d: number) => Array.from({ length: d }, (_, c) => `x${c}`);
const policy = samplePolicy(names(12).map((name) => number(name, '0', `${last}`)));
const points = (rows: readonly (readonly number[])[]): Points => ({
  dimensions: rows[0]!.length,
  count: rows.length,
  coordinates: Int32Array.from(rows.flat()),
});
const make = (
  d: number,
  rows: number,
  more: Partial<KmeansRequest> & { within?: BudgetShare; rowsPerRecord?: number } = {},
): KmeansVariant => {
  const { within = pure(rational(1)), rowsPerRecord = 1, clusters = 2, ...ask } = more;
  const allowance = within.noise === 'pure' ? { pure: within } : { rho: within };
  return chooseVariant(ask, { box: pointBox(policy, names(d)), clusters, records: rows, rowsPerRecord }, allowance);
};
const audit = (
  release: (p: Points) => number[],
  a: Points,
  b: Points,
  samples = 8_000,
  features: readonly OutputFeature[] = [],
): AuditFinding =>
  auditOutputs(
    Array.from({ length: samples }, () => release(a)),
    Array.from({ length: samples }, () => release(b)),
    { features },
  );
const shown = (variant: KmeansVariant) => (p: Points) => {
  const { centres, counts = [] } = variant.prepare(new Payment(variant.mechanisms))(p);
  return [...centres.flat(), ...counts];
};
/** The worst neighbouring data sets: one point moves from one end of the box to the other, and so to the other cluster. */
const ends = (others: number): [Points, Points] =>
  [-last, last].map((x) => points([[x], ...Array.from({ length: others }, (_, i) => [i % 2 ? 60 : -60])])) as [Points, Points];

describe('the statistical audit of k-means at epsilon 1', () => {
  it('the tree of counts stays below epsilon, and the audit detects much of it', () => {
    const found = audit(shown(make(1, 1, { clusters: 1, variant: 'grid' })), points([[-last]]), points([[last]]));
    expect(found.epsilon).toBeLessThanOrEqual(1);
    expect(found.epsilon).toBeGreaterThan(0.25);
  });

  it('a tree of several levels stays below epsilon', () => {
    const [a, b] = ends(300);
    const variant = make(1, 301, { variant: 'grid' });
    expect(variant.mechanisms.length).toBeGreaterThan(1);
    expect(audit(shown(variant), a, b, 1500).epsilon).toBeLessThanOrEqual(1);
  });

  it('halved boxes with clipped offsets stay below epsilon', () => {
    const [a, b] = ends(60);
    const variant = make(1, 61, { variant: 'halving' });
    expect(variant.mechanisms.map(({ summary: given }) => given.name)).toContain('offsets per cluster and round');
    expect(audit(shown(variant), a, b, 4000).epsilon).toBeLessThanOrEqual(1);
  });

  it('the audit detects offsets that were not clipped to what is paid for', () => {
    // Noise for a radius of one tenth, offsets of a radius of two.
    const [a, b] = ends(60);
    const variant = make(1, 61, { variant: 'halving' });
    const offsets = variant.mechanisms.find(({ summary: given }) => given.name === 'offsets per cluster and round')!;
    const release = (radius: number) => (p: Points) => {
      const add = offsets.prepare(new Payment(variant.mechanisms));
      const { offsets: exact } = tallyOffsets(p, [last], { centres: [[0], [0.99]], radii: [radius, radius], norm: 'l1' });
      return add(exact.map((x) => (x * BigInt(Math.round(radius * 10))) / 10n)).map(Number);
    };
    expect(audit(release(1), a, b).epsilon).toBeLessThanOrEqual(1);
    expect(audit(release(20), a, b).epsilon).toBeLessThanOrEqual(1);
    const unclipped = (p: Points) => {
      const add = offsets.prepare(new Payment(variant.mechanisms));
      const whole = [0n, 0n];
      for (let i = 0; i < p.count; i++) whole[0]! += BigInt(Math.trunc(((p.coordinates[i]! / last) * offsetUnit) / 0.1));
      return add(whole).map(Number);
    };
    expect(audit(unclipped, a, b).epsilon).toBeGreaterThan(1);
  });

  it('Lloyd iterations stay below epsilon, even for an attacker who computes the likelihood', () => {
    const [a, b] = ends(60);
    const variant = make(1, 61, { variant: 'lloyd', iterations: 1 });
    const [count, total] = variant.mechanisms.map(({ distribution }) => noiseWidth(distribution));
    const tallies = [a, b].map((p) => tallyClusters(p, [last], packedCentroids(2, 1)));
    // Outputs are (centroid, centroid, count, count); a sum is centroid x count x last unless it was clipped.
    const between = (o: readonly number[], k: number, t: (typeof tallies)[number]) =>
      Math.abs(o[2 + k]! - t.counts[k]!) / count! + Math.abs(o[k]! * o[2 + k]! * last - Number(t.sums[k]![0]!)) / total!;
    const likelihood = (o: readonly number[]) =>
      [0, 1].reduce((s, k) => s + between(o, k, tallies[1]!) - between(o, k, tallies[0]!), 0);
    const found = audit(shown(variant), a, b, 12_000, [{ name: 'likelihood', of: likelihood }]);
    expect(found.epsilon).toBeLessThanOrEqual(1);
    expect(found.epsilon).toBeGreaterThan(0.2);
    expect(audit(shown(make(1, 61, { variant: 'lloyd', iterations: 3 })), a, b).epsilon).toBeLessThanOrEqual(1);
  });

  it('the audit detects a point outside the box: rows that were not scaled', () => {
    const far = [-8 * last, 8 * last].map((x) => points([[x], ...Array.from({ length: 60 }, (_, i) => [i % 2 ? 60 : -60])])) as [
      Points,
      Points,
    ];
    expect(audit(shown(make(1, 61, { variant: 'lloyd', iterations: 1 })), ...far).epsilon).toBeGreaterThan(1);
  });

  it('the audit detects a skipped empty cluster, which the product does not skip', () => {
    // All but one point are on the left; the right cluster is empty or holds that point.
    const rest = Array.from({ length: 20 }, () => [-60]);
    const [empty, used] = [points([[-last], ...rest]), points([[last], ...rest])];
    const variant = make(1, 21, { variant: 'lloyd', iterations: 1 });
    const skipping = (p: Points): number[] => {
      const start = packedCentroids(2, 1);
      const [count, total] = variant.mechanisms.map((m) => m.prepare(new Payment(variant.mechanisms)));
      const { counts, sums } = tallyClusters(p, [last], start);
      const many = count!(counts.map(BigInt));
      const totals = total!(sums.map((s) => s[0]!));
      return counts.flatMap((n, k) => (n === 0 ? start[k]! : [Number(totals[k]) / (Math.max(1, Number(many[k])) * last)]));
    };
    expect(audit(skipping, empty, used).epsilon).toBeGreaterThan(1);
    expect(audit(shown(variant), empty, used).epsilon).toBeLessThanOrEqual(1);
  });
});

const scaleOf = ({ distribution }: Pick<AdditiveMechanism, 'distribution'>): Rational =>
  distribution.kind === 'laplace' ? distribution.scale : rational(0);
/** Privacy cost of a plan's noise, computed from the noise alone: an exact audit, for cases where sampling is too weak. */
function cost(scales: readonly Rational[], d: number, rounds: number): Rational {
  const [count, ...sums] = scales;
  const each = add(divide(rational(2), count!), sum(sums.slice(0, d).map((scale) => divide(rational(2 * last), scale))));
  return multiply(each, rational(rounds));
}

describe('the exact audit of the noise', () => {
  it('the exact audit finds no more than the budget, in any number of dimensions', () => {
    for (const d of [1, 2, 5, 12]) {
      const variant = make(d, 5000, { variant: 'lloyd', iterations: 3 });
      const total = cost(variant.mechanisms.map(scaleOf), d, 3);
      expect(compare(total, rational(1))).toBeLessThanOrEqual(0);
      expect(toNumber(total)).toBeGreaterThan(0.999);
    }
  });

  it('the exact audit detects a swapped split', () => {
    const [count, ...sums] = make(12, 5000, { variant: 'lloyd', iterations: 2 }).mechanisms.map(scaleOf);
    // The share of a count given to every sum, and vice versa.
    const swapped = [divide(sums[0]!, rational(last)), ...sums.map(() => multiply(count!, rational(last)))];
    expect(toNumber(cost(swapped, 12, 2))).toBeCloseTo(1.283912, 3);
    expect(compare(cost(swapped, 12, 2), rational(1))).toBe(1);
  });

  it('the exact audit finds no more than rho for Gaussian noise', () => {
    for (const d of [1, 3, 12]) {
      const { mechanisms } = make(d, 5000, { variant: 'lloyd', iterations: 4, within: zcdp(rational(1, 10)) });
      const [count, ...sums] = mechanisms.map(({ variance }) => variance);
      // One cluster: every coordinate sum moves by 2 last; two clusters: both counts by one, sums by last in each.
      const same = sums.reduce((s, variance) => s + (2 * last) ** 2 / (2 * variance), 0);
      const moved = 2 / (2 * count!) + sums.reduce((s, variance) => s + (2 * last ** 2) / (2 * variance), 0);
      expect(4 * Math.max(same, moved)).toBeLessThanOrEqual(0.1);
    }
  });
});

describe('records of three rows', () => {
  /** All three rows of one person move from one end of the box to the other; all others stay. */
  const between = (d: number, from: number, to: number): [Points, Points] =>
    [from, to].map((x) =>
      points([
        ...Array.from({ length: 3 }, () => new Array<number>(d).fill(x)),
        ...Array.from({ length: 40 }, (_, i) => new Array<number>(d).fill(i % 2 ? 60 : -60)),
      ]),
    ) as [Points, Points];
  const run = (variant: KmeansVariant, p: Points, given?: 'exact' | RecordingPayment): RecordingPayment => {
    const transcript = new RecordingPayment(variant.mechanisms, given);
    variant.prepare(transcript)(p);
    return transcript;
  };
  const used = (variant: KmeansVariant, [a, b]: [Points, Points]) => usedParts(run(variant, a), run(variant, b));
  const budgets = [pure(rational(1)), zcdp(rational(1, 10))];

  it('a record of three rows moves every level of the tree by exactly its stated sensitivity', () => {
    for (const within of budgets) {
      const variant = make(2, 5000, { variant: 'grid', rowsPerRecord: 3, within });
      expect(variant.mechanisms.length).toBeGreaterThan(1);
      for (const part of used(variant, between(2, -last, last))) expect(part).toBeCloseTo(1, 5);
      for (const part of used(variant, between(2, -last, 0))) expect(part).toBeLessThanOrEqual(1);
    }
  });

  it('a record of three rows moves the counts and sums of every iteration by exactly their stated sensitivity', () => {
    for (const within of budgets) {
      const two = make(1, 5000, { variant: 'lloyd', iterations: 3, rowsPerRecord: 3, within });
      const [counts, ...sums] = used(two, between(1, -last, last));
      expect(counts).toBeCloseTo(1, 5);
      for (const part of sums) expect(part).toBeLessThanOrEqual(1);
      // In one cluster the rows both leave and join it: its sums have the largest sensitivity.
      const one = make(2, 5000, { variant: 'lloyd', iterations: 3, clusters: 1, rowsPerRecord: 3, within });
      const [still, ...farthest] = used(one, between(2, -last, last));
      expect(still).toBe(0);
      for (const part of farthest) expect(part).toBeCloseTo(1, 5);
    }
  });

  it('a record of three rows moves levels of boxes, offsets and distances by no more than their sensitivity, and reaches it', () => {
    const along = (variant: KmeansVariant, [a, b]: [Points, Points]) => {
      const here = run(variant, a, 'exact');
      return usedParts(here, run(variant, b, here));
    };
    for (const within of budgets) {
      const variant = make(2, 5000, { variant: 'halving', rowsPerRecord: 3, within });
      const [first, second, offsets, ...more] = along(variant, between(2, -last, last));
      for (const part of [first, second, offsets, ...more]) expect(part).toBeLessThanOrEqual(1);
      expect(first).toBeCloseTo(1, 5);
      expect(offsets).toBeGreaterThan(0.1);
      // In one cluster the rows change sides, clipped to its radius.
      const one = make(2, 5000, { variant: 'halving', clusters: 1, rowsPerRecord: 3, within });
      const turned = along(one, between(2, -last, last))[2]!;
      expect(turned).toBeLessThanOrEqual(1);
      expect(turned).toBeGreaterThan(0.95);
      const fewer = make(2, 5000, { variant: 'halving', rowsPerRecord: 2, within });
      expect(along(fewer, between(2, -last, last))[0]).toBeGreaterThan(1.4);
    }
  });

  it('a record of three rows exceeds the sensitivity stated for records of two', () => {
    for (const within of budgets) {
      const tree = make(2, 5000, { variant: 'grid', rowsPerRecord: 2, within });
      for (const part of used(tree, between(2, -last, last))) expect(part).toBeGreaterThan(1.4);
    }
  });
});
