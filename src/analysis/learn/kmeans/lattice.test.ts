import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { number, samplePolicy } from '../../../../test/sample-policy.js';
import { RecordingPayment, usedParts } from '../../../../test/transcript.js';
import { rational } from '../../../base/exact/rational.js';
import { largestPairSpan } from '../../../policy/pairs/pair-span.js';
import { isPair } from '../../../policy/pairs/pairs.js';
import { type BudgetShare, pure, zcdp } from '../../../privacy/mechanism/budget-share.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { everyRecord, pairsClass } from '../../../privacy/mechanism/record-class.js';
import type { Sensitivity } from '../../../privacy/mechanism/sensitivity.js';
import { nearestCentroids } from './centroids.js';
import { sumUpwards } from './grid.js';
import { chooseVariant } from './kmeans.js';
import { type Lattice, massOf, softCounts, softSensitivity } from './lattice.js';
import { type Points, pointBox } from './points.js';
import type { PairDistances } from './variant.js';
import { clusterWeighted } from './weighted-lloyd.js';

const digest = 'abcd';
const pointAt = (position: readonly number[], last: readonly number[]): Points => ({
  dimensions: last.length,
  count: 1,
  coordinates: Int32Array.from(position, (p, c) => 2 * p - last[c]!),
});
const none = (last: readonly number[]): Points => ({ dimensions: last.length, count: 0, coordinates: new Int32Array(0) });
const placesIn = (last: readonly number[]): number[][] =>
  last.reduce<number[][]>((list, most) => list.flatMap((p) => Array.from({ length: most + 1 }, (_, x) => [...p, x])), [[]]);
const differenceOf = (a: readonly number[], b: readonly number[]): Sensitivity => {
  const moves = a.map((x, k) => BigInt(x - b[k]!));
  return { l1: moves.reduce((s, m) => s + (m < 0n ? -m : m), 0n), l2squared: moves.reduce((s, m) => s + m * m, 0n) };
};
const within = (a: Sensitivity, b: Sensitivity) => a.l1 <= b.l1 && a.l2squared <= b.l2squared;
const larger = (a: Sensitivity, b: Sensitivity): Sensitivity => ({
  l1: a.l1 > b.l1 ? a.l1 : b.l1,
  l2squared: a.l2squared > b.l2squared ? a.l2squared : b.l2squared,
});

interface Case {
  readonly last: readonly number[];
  readonly lattice: Lattice;
  readonly near: PairDistances;
}
const anyCase: fc.Arbitrary<Case> = fc
  .record({
    last: fc.oneof(
      fc.tuple(fc.integer({ min: 2, max: 40 })),
      fc.tuple(fc.integer({ min: 2, max: 9 }), fc.integer({ min: 2, max: 7 })),
    ),
    side: fc.constantFrom(4, 8),
    steps: fc.integer({ min: 1, max: 9 }),
    far: fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })),
    withMissing: fc.boolean(),
  })
  .map(({ last, side, steps, far, withMissing }) => ({
    last,
    lattice: { dimensions: last.length, side, steps },
    near: { digest, largest: last.map((most, c) => Math.min(most, far[c]!)), withMissing },
  }));
/** The most distant places that form a pair, on the nodes and on sums of them. */
function exact({ last, lattice, near }: Case): { readonly own: Sensitivity; readonly full: Sensitivity } {
  const tree = { dimensions: last.length, sides: [2, lattice.side] };
  const all = placesIn(last).map((place) => ({
    place,
    levels: sumUpwards(softCounts(pointAt(place, last), last, lattice), tree),
  }));
  const away = sumUpwards(softCounts(none(last), last, lattice), tree);
  let [own, full] = [differenceOf([], []), differenceOf([], [])];
  all.forEach(({ place, levels }, i) => {
    for (let j = 0; j < i; j++) {
      const isNear = place.every((x, c) => Math.abs(x - all[j]!.place[c]!) <= near.largest[c]!);
      levels.forEach((masses, l) => {
        const moved = differenceOf(masses, all[j]!.levels[l]!);
        full = larger(full, moved);
        if (isNear) own = larger(own, moved);
      });
    }
    levels.forEach((masses, l) => {
      const gone = differenceOf(masses, away[l]!);
      full = larger(full, gone);
      if (near.withMissing) own = larger(own, gone);
    });
  });
  return { own, full };
}
type Stated = typeof softSensitivity;
const holds = (stated: Stated) =>
  fc.property(anyCase, (one) => {
    const sensitivity = stated(one.lattice, one.last, one.near);
    const { own, full } = exact(one);
    return within(own, sensitivity.get(pairsClass(digest))!) && within(full, sensitivity.get(everyRecord)!);
  });

describe('rows spread over a lattice', () => {
  it('masses move by no more than their stated sensitivity, along pairs and for any change, on nodes and on sums of nodes', () => {
    fc.assert(holds(softSensitivity), { numRuns: Number(process.env.FUGU_CASES ?? 60) });
  });

  it('the check fails when a dimension, the rounding or left-out rows are forgotten', () => {
    const oneDimension: Stated = (lattice, last, near) =>
      softSensitivity(lattice, last, { ...near, largest: near.largest.map((far, c) => (c === 0 ? far : 0)) });
    const shorter: Stated = (lattice, last, near) =>
      softSensitivity(lattice, last, { ...near, largest: near.largest.map((far) => Math.max(0, far - 1)) });
    const staying: Stated = (lattice, last, near) => softSensitivity(lattice, last, { ...near, withMissing: false });
    for (const wrong of [oneDimension, shorter, staying]) expect(() => fc.assert(holds(wrong), { numRuns: 300 })).toThrow();
  });

  it('masses move by exactly that between two nodes, and keep their total and their mean position', () => {
    const lattice = { dimensions: 1, side: 4, steps: 10 };
    const one = { last: [30], lattice, near: { digest, largest: [3], withMissing: false } };
    expect(exact(one).own).toEqual({ l1: 6n, l2squared: 18n });
    expect(softSensitivity(lattice, [30], one.near).get(pairsClass(digest))).toEqual({ l1: 6n, l2squared: 18n });
    for (let p = 0; p <= 30; p++) {
      const masses = softCounts(pointAt([p], [30]), [30], lattice);
      expect(masses.reduce((a, b) => a + b, 0)).toBe(massOf(lattice));
      expect(masses.reduce((sum, mass, node) => sum + mass * node, 0)).toBe(p);
    }
  });
});

describe('the soft variant', () => {
  const policy = samplePolicy([number('x', '0', '1000'), number('y', '0', '1000')]);
  const box = pointBox(policy, ['x', 'y']);
  const near: PairDistances = { digest, largest: [4, 4], withMissing: false };
  const make = (
    own: PairDistances | undefined,
    allowance = { pure: pure(rational(1)) } as object,
    variant: 'soft' | 'auto' = 'auto',
  ) => chooseVariant({ variant }, { box, clusters: 2, records: 5000, rowsPerRecord: 1, pairs: own }, allowance);

  it('the soft variant is chosen when pairs are short, and only then', () => {
    expect(make(near).name).toBe('soft');
    expect(make(undefined).name).not.toBe('soft');
    expect(make({ ...near, largest: [400, 400] }).name).toBe(make(undefined).name);
    expect(() => make(undefined, undefined, 'soft')).toThrow(/soft grid gains nothing/);
  });

  it('the soft variant is not chosen when pairs force a lattice much coarser than the grid: blurring costs more than noise', () => {
    // A fiftieth of the box: eight nodes a side, where a grid has 64 cells.
    const wide = { ...near, largest: [20, 20] };
    expect(make(wide, undefined, 'soft').why).toContain('a lattice of 8 a side');
    expect(make(wide).name).toBe(make(undefined).name);
  });

  it('the soft variant has less than half the loss of the grid on towns of an artificial country, at epsilon one half', () => {
    const towns = Array.from({ length: 30 }, (_, t) => [(t * 367) % 997, (t * 619) % 991] as const);
    const rows = Array.from({ length: 3000 }, (_, i) =>
      towns[(i * i) % 30]!.map((x, c) => Math.min(1000, Math.max(0, x + ((i * (7 + c)) % 5) - 2))),
    );
    const points: Points = { dimensions: 2, count: rows.length, coordinates: Int32Array.from(rows.flat(), (p) => 2 * p - 1000) };
    const scaled = Float64Array.from(points.coordinates, (v) => v / 1000);
    const cost = (centres: readonly (readonly number[])[]) => nearestCentroids(centres, 2, scaled).gap.reduce((a, b) => a + b, 0);
    const cloud = { dimensions: 2, points: scaled, weights: new Float64Array(rows.length).fill(1) };
    const best = cost(clusterWeighted(cloud, 8));
    const loss = (own: PairDistances | undefined) => {
      const variant = chooseVariant(
        {},
        { box, clusters: 8, records: rows.length, rowsPerRecord: 1, pairs: own },
        { pure: pure(rational(1, 2)) },
      );
      const costs = Array.from({ length: 4 }, () => cost(variant.prepare(new Payment(variant.mechanisms))(points).centres));
      return costs.reduce((a, b) => a + b, 0) / costs.length - best;
    };
    const [plain, soft] = [loss(undefined), loss({ ...near, largest: [1, 1] })];
    expect(plain).toBeGreaterThan(0);
    expect(soft / plain).toBeLessThan(0.5);
  });

  it('the noise costs no more than is reserved for a step along a pair and for any, and nearly all of it', () => {
    const rows = (moved: readonly number[]): Points => {
      const rest = Array.from({ length: 50 }, (_, i) => [(i * 191) % 1001, (i * 613) % 1001]);
      const all = [moved, ...rest];
      return { dimensions: 2, count: all.length, coordinates: Int32Array.from(all.flat(), (p) => 2 * p - 1000) };
    };
    const run = (variant: ReturnType<typeof make>, points: Points) => {
      const transcript = new RecordingPayment(variant.mechanisms);
      variant.prepare(transcript)(points);
      return transcript;
    };
    const allowances: { pure?: BudgetShare; rho?: BudgetShare }[] = [{ pure: pure(rational(1)) }, { rho: zcdp(rational(1, 10)) }];
    for (const allowance of allowances) {
      const variant = make(near, allowance);
      for (const mechanism of variant.mechanisms) {
        const [own, full] = [pairsClass(digest), everyRecord].map((record) => mechanism.cost.perRecord.get(record)!);
        expect(Number(full!.num) / Number(full!.den)).toBeGreaterThan(Number(own!.num) / Number(own!.den));
      }
      // At a node, where a step in both directions moves most mass.
      const [a, b] = [rows([0, 0]), rows([4, 4])];
      const used = usedParts(run(variant, a), run(variant, b), pairsClass(digest));
      for (const part of used) expect(part).toBeLessThanOrEqual(1);
      // Mass spread over four nodes has smaller squares.
      expect(used.at(-1)).toBeGreaterThan(allowance.pure ? 0.8 : 0.1);
      for (const part of usedParts(run(variant, rows([0, 0])), run(variant, rows([1000, 1000])), everyRecord))
        expect(part).toBeLessThanOrEqual(1);
    }
  });
});

describe('the distance of pairs of a number', () => {
  it('the distance of pairs of a column is that of the farthest two', () => {
    const size = 9;
    const starts = fc.subarray([1, 2, 3, 4, 5, 6, 7, 8]);
    const any = fc.oneof(
      fc.constant(undefined),
      fc.constant({ form: 'same' as const, missing: 'apart' as const, size }),
      fc.record({
        form: fc.constant('steps' as const),
        steps: fc.integer({ min: 1, max: 12 }),
        missing: fc.constant('apart' as const),
        size: fc.constant(size),
      }),
      fc.record({
        form: fc.constant('ranges' as const),
        starts,
        missing: fc.constant('apart' as const),
        size: fc.constant(size),
      }),
    );
    fc.assert(
      fc.property(any, (pairs) => {
        let far = 0;
        for (let a = 0; a < size; a++) for (let b = 0; b < a; b++) if (isPair(pairs, a, b)) far = Math.max(far, a - b);
        return largestPairSpan(pairs, size - 1) === far;
      }),
    );
  });
});
