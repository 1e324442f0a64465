import { describe, expect, it } from 'vitest';
import { compare, multiply, rational, toNumber } from '../../../base/exact/rational.js';
import { zcdp } from '../budget-share.js';
import { drawCost } from '../mechanism-cost.js';
import { Payment } from '../payment.js';
import { answersTo, everyRecord } from '../record-class.js';
import { largestChange, mostAxesTried } from './largest-change.js';
import { encode, type LayoutPart, partCells, type ResidualLayout } from './layout.js';
import { noisedTables, type RecordChange } from './residual.js';
import { layoutSensitivity, rowSensitivity } from './row-sensitivity.js';

function subsets(axes: readonly number[], most = axes.length): number[][] {
  const sets: number[][] = [[]];
  for (const axis of axes) for (const set of [...sets]) if (set.length < most) sets.push([...set, axis]);
  return sets;
}
/** Scales that divide by nothing in particular. */
const layoutOf = (sizes: readonly number[], most = sizes.length, centred = true): ResidualLayout => ({
  sizes,
  parts: subsets(
    sizes.map((_, k) => k),
    most,
  ).map((axes, k) => ({ axes, scale: BigInt(37 + ((k * 29) % 61)), centred })),
});
const rowsOf = (sizes: readonly number[]): number[][] =>
  sizes.reduce<number[][]>((rows, m) => rows.flatMap((row) => Array.from({ length: m }, (_, p) => [...row, p])), [[]]);
const oneRow = (sizes: readonly number[], part: LayoutPart, row: readonly number[] | undefined): bigint[] => {
  const counts = new Array<bigint>(partCells(sizes, part)).fill(0n);
  if (row) counts[part.axes.reduce((cell, axis) => cell * sizes[axis]! + row[axis]!, 0)] = 1n;
  return counts;
};
const vectorOf = ({ sizes, parts }: ResidualLayout, row: readonly number[] | undefined): bigint[] =>
  parts.flatMap((part) => encode(sizes, part, oneRow(sizes, part, row)));
const squaredDistance = (a: readonly bigint[], b: readonly bigint[]): bigint =>
  a.reduce((sum, x, k) => sum + (x - b[k]!) ** 2n, 0n);

/** The farthest two rows, by trying all. */
function farthest(layout: ResidualLayout, may: (u: readonly number[], v: readonly number[] | undefined) => boolean): bigint {
  const rows = rowsOf(layout.sizes);
  const vectors = new Map<readonly number[] | undefined, bigint[]>(
    [undefined, ...rows].map((row) => [row, vectorOf(layout, row)]),
  );
  let most = 0n;
  for (const u of rows)
    for (const v of [...rows, undefined])
      if (may(u, v)) {
        const d = squaredDistance(vectors.get(u)!, vectors.get(v)!);
        if (d > most) most = d;
      }
  return most;
}

const small = [[2], [3, 4], [2, 2, 2], [2, 3, 5], [3, 3, 2, 2]];
describe('the sensitivity of noised tables to one row', () => {
  it.each(small.flatMap((sizes) => [true, false].map((centred) => [sizes, centred] as const)))(
    'the sensitivity is that of the two most distant rows: sizes %j, centred %s',
    (sizes, centred) => {
      const layout = layoutOf(sizes, sizes.length, centred);
      expect(layoutSensitivity(layout, 'removed').l2squared).toBe(farthest(layout, (_, v) => v === undefined));
      expect(layoutSensitivity(layout, 'replaced').l2squared).toBe(farthest(layout, () => true));
      for (const along of sizes.keys())
        expect(layoutSensitivity(layout, { along: [along] }).l2squared).toBe(
          farthest(layout, (u, v) => v?.every((p, k) => k === along || p === u[k]) === true),
        );
    },
  );

  it.each(small.filter((sizes) => sizes.length > 1))(
    'the sensitivity along two axes is that of the two most distant rows differing on these: sizes %j',
    (...sizes) => {
      const layout = layoutOf(sizes);
      for (const other of sizes.keys())
        if (other > 0)
          expect(layoutSensitivity(layout, { along: [0, other] }).l2squared).toBe(
            farthest(layout, (u, v) => v?.every((p, k) => k === 0 || k === other || p === u[k]) === true),
          );
    },
  );

  it("the sensitivity of a total is that of a removed row, and its square grows with the square of a person's rows", () => {
    const rows: ResidualLayout = { sizes: [3], parts: [{ axes: [], scale: 5n, centred: true }] };
    expect(layoutSensitivity(rows, 'replaced')).toEqual({ l1: 25n, l2squared: 25n });
    const spent = (m: number) =>
      noisedTables(
        { name: 'rows', layout: rows, changes: [{ of: everyRecord, change: 'replaced', rows: m }] },
        zcdp(rational(1, 2)),
      ).variance;
    expect(spent(1)).toBeCloseTo(25, 6);
    expect(spent(3)).toBeCloseTo(225, 6);
  });

  it('the sensitivity is 2 (prod(1 - 1/m) - prod(1 - 1/m - [changes])) times the squared scale if the cells divide the scale', () => {
    for (const sizes of [
      [3, 4],
      [2, 5, 3],
    ]) {
      const cells = sizes.reduce((a, b) => a * b);
      const { squares, alone } = rowSensitivity(sizes, { axes: [...sizes.keys()], scale: BigInt(cells), centred: true });
      const left = sizes.reduce((x, m) => x * (1 - 1 / m), 1);
      expect(Number(alone)).toBeCloseTo(left * cells ** 2, 6);
      for (const [set, square] of squares.entries()) {
        const both = sizes.reduce((x, m, k) => x * (1 - 1 / m - ((set >> k) & 1)), 1);
        expect(Number(square)).toBeCloseTo(2 * (left - both) * cells ** 2, 6);
      }
    }
  });

  it('the sensitivity is bounded closely if there are too many axes to try every set', () => {
    const count = mostAxesTried + 2;
    for (const m of [2, 3, 6]) {
      const sizes = new Array<number>(count).fill(m);
      const parts = subsets([...sizes.keys()], 2).map(
        (axes): LayoutPart => ({ axes, scale: axes.length === 1 ? 1900n : 1000n, centred: true }),
      );
      const squares = parts.map((part) => rowSensitivity(sizes, part).squares);
      const one = Number(squares[parts.findIndex((p) => p.axes.length === 1)]![1]);
      const [, f1, f2, f12] = squares[parts.findIndex((p) => p.axes.length === 2)]!.map(Number);
      expect(f1).toBe(f2);
      // All axes are alike: only how many change decides.
      const by = Array.from({ length: count + 1 }, (_, k) => k * one + k * (count - k) * f1! + ((k * (k - 1)) / 2) * f12!);
      const bound = Number(largestChange({ sizes, parts }, squares));
      expect(bound).toBeGreaterThanOrEqual(Math.max(...by));
      expect(bound).toBeLessThan(1.01 * Math.max(...by));
    }
  });

  it.each([2, 3])('the sensitivity is the sum of the largest changes if many tables of %i axes share none', (order) => {
    const sizes = Array.from({ length: 6 * order }, (_, k) => [5, 3, 2][k % order]!);
    const tables = Array.from({ length: 6 }, (_, t) => Array.from({ length: order }, (_, k) => order * t + k));
    const wide = { sizes: [...sizes, ...sizes], tables: [...tables, ...tables.map((axes) => axes.map((k) => k + sizes.length))] };
    const parts = wide.tables.map((axes): LayoutPart => ({ axes, scale: 100n, centred: true }));
    const squares = parts.map((part) => rowSensitivity(wide.sizes, part).squares);
    const most = squares.reduce((sum, list) => sum + list.reduce((a, b) => (a > b ? a : b)), 0n);
    expect(wide.sizes.length).toBeGreaterThan(mostAxesTried);
    expect(largestChange({ sizes: wide.sizes, parts }, squares)).toBe(most);
  });

  it('the sensitivity is bounded for uneven tables, missing pairs and tables of three axes', () => {
    const sizes = Array.from({ length: mostAxesTried + 1 }, (_, k) => 2 + (k % 4));
    const parts = subsets([...sizes.keys()], 3)
      .filter((axes) => (axes.length < 3 ? (axes.length * axes.reduce((a, b) => a + b, 1)) % 3 > 0 : axes[0] === 0))
      .map((axes, k): LayoutPart => ({ axes, scale: BigInt(50 + ((k * 31) % 83)), centred: true }));
    const squares = parts.map((part) => rowSensitivity(sizes, part).squares);
    const bound = largestChange({ sizes, parts }, squares);
    let seed = 5;
    for (let turn = 0; turn < 3000; turn++) {
      const changed = sizes.map(() => {
        seed = (seed * 48271) % 2147483647;
        return seed % 3 > 0;
      });
      const moved = parts.reduce(
        (sum, { axes }, p) => sum + squares[p]![axes.reduce((s, axis, k) => (changed[axis] ? s | (1 << k) : s), 0)]!,
        0n,
      );
      expect(moved <= bound).toBe(true);
    }
  });
});

describe('the cost of noised tables', () => {
  const sizes = [2, 3];
  const layout: ResidualLayout = {
    sizes,
    parts: [
      { axes: [], scale: 3n, centred: true },
      { axes: [0], scale: 5n, centred: true },
      { axes: [1], scale: 4n, centred: true },
      { axes: [0, 1], scale: 7n, centred: true },
    ],
  };
  const changes: readonly RecordChange[] = [
    { of: everyRecord, change: 'replaced', rows: 1 },
    { of: answersTo('a'), change: { along: [0] }, rows: 1 },
  ];
  const rho = rational(1, 20);
  const { mechanism, vector, split: byPart } = noisedTables({ name: 'tables', layout, changes }, zcdp(rho));

  /** Renyi divergence of order alpha between discrete Gaussian noise around two whole numbers, by adding up. */
  function divergence(shift: number, variance: number, alpha: number): number {
    const width = Math.ceil(40 * Math.sqrt(variance)) + Math.abs(shift) * (alpha + 1);
    let [sum, mass] = [0, 0];
    for (let x = -width; x <= width; x++) {
      mass += Math.exp((-x * x) / (2 * variance));
      sum += Math.exp((-alpha * x * x - (1 - alpha) * (x - shift) ** 2) / (2 * variance));
    }
    return Math.log(sum / mass) / (alpha - 1);
  }
  const variance = mechanism.distribution.kind === 'gaussian' ? toNumber(mechanism.distribution.variance) : Number.NaN;
  const loss = (u: readonly number[], v: readonly number[] | undefined, alpha: number): number => {
    const [a, b] = [vectorOf(layout, u), vectorOf(layout, v)];
    return a.reduce((sum, x, k) => sum + divergence(Number(b[k]! - x), variance, alpha), 0);
  };

  it("the cost is the loss of the published numbers' distribution, summed over all outputs, and no less", () => {
    for (const alpha of [2, 5]) {
      const rows = rowsOf(sizes);
      const losses = rows.flatMap((u) => [...rows, undefined].map((v) => loss(u, v, alpha)));
      const charged = alpha * toNumber(mechanism.cost.perRecord.get(everyRecord)!);
      expect(Math.max(...losses)).toBeLessThanOrEqual(charged * (1 + 1e-9));
      expect(Math.max(...losses)).toBeGreaterThan(0.99 * charged);
    }
    const own = toNumber(mechanism.cost.perRecord.get(answersTo('a'))!);
    expect(loss([0, 1], [1, 1], 2)).toBeLessThanOrEqual(2 * own * (1 + 1e-9));
    expect(loss([0, 1], [1, 1], 2)).toBeGreaterThan(2 * own * 0.99);
  });

  it('the test detects a smaller cost: exact centring costs less than whole numbers do', () => {
    // 7 is no multiple of 2 and 3, so what a row moves is more than the fractions of exact centring say.
    const left = (1 - 1 / 2) * (1 - 1 / 3);
    const ideal = 7 ** 2 * 2 * (left + (1 - 1 / 2) * (1 / 3));
    const real = rowSensitivity(sizes, layout.parts[3]!).squares[2]!;
    expect(Number(real)).toBeGreaterThan(ideal + 0.1);
    // The mechanism takes sensitivities as given: a cost for the fractions alone would be less than the actual loss.
    const cheaper = drawCost(mechanism.distribution, 'zcdp', {
      l1: 0n,
      l2squared: layoutSensitivity(layout, 'replaced').l2squared - 1n,
    })!;
    expect(compare(multiply(rational(101, 100), cheaper), rho)).toBeGreaterThan(0);
    expect(Math.max(...rowsOf(sizes).flatMap((u) => rowsOf(sizes).map((v) => loss(u, v, 2))))).toBeGreaterThan(
      2 * toNumber(cheaper),
    );
  });

  it('the cost pays for one draw of all tables, with noise of the stated distribution', () => {
    const payment = new Payment([mechanism]);
    const exact = vector(layout.parts.map((part) => oneRow(sizes, part, [1, 2]).map((x) => 100n * x)));
    const split = byPart(mechanism.prepare(payment)(exact));
    expect(split.map((t) => t.length)).toEqual([1, 2, 3, 6]);
    expect(() => mechanism.prepare(payment)).toThrow();
  });
});
