import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type OffsetNorm, offsetUnit, tallyOffsets } from './offsets.js';

const number = fc.oneof(
  fc.double({ min: -1, max: 1, noNaN: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1e300, 1e-300, 0),
);
const sizes: Readonly<Record<OffsetNorm, (v: readonly bigint[]) => bigint>> = {
  l1: (v) => v.reduce((s, x) => s + (x < 0n ? -x : x), 0n),
  l2: (v) => v.reduce((s, x) => s + x * x, 0n),
};
const one = (d: number, coordinates: readonly number[]) => ({
  dimensions: d,
  count: 1,
  coordinates: Int32Array.from(coordinates),
});

describe('offsets from published centroids', () => {
  it('the offset of one row is never longer than is paid for, whatever the centroids and radii', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<OffsetNorm>('l1', 'l2'),
        fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 3, maxLength: 3 }),
        fc.array(fc.array(number, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
        number,
        (norm, row, centres, radius) => {
          const { offsets, distances } = tallyOffsets(one(3, row), [100, 100, 100], {
            centres,
            radii: centres.map(() => radius),
            norm,
          });
          expect(sizes[norm](offsets)).toBeLessThanOrEqual(norm === 'l1' ? BigInt(offsetUnit) : BigInt(offsetUnit) ** 2n);
          // A row is in one cluster, and its distance is between zero and one radius.
          expect(
            offsets.filter((_, at) => offsets.slice(3 * Math.floor(at / 3), 3 * Math.floor(at / 3) + 3).some((x) => x !== 0n))
              .length,
          ).toBeLessThanOrEqual(3);
          expect(distances.filter((x) => x !== 0n).length).toBeLessThanOrEqual(1);
          for (const x of distances) expect(x >= 0n && x <= BigInt(offsetUnit)).toBe(true);
        },
      ),
    );
  });

  it('offsets within the radius are exact, and longer ones are clipped to it', () => {
    const near = tallyOffsets(one(2, [20, -10]), [100, 100], { centres: [[0.1, 0]], radii: [0.5], norm: 'l1' });
    expect(near.offsets.map((x) => Math.round((Number(x) * 0.5 * 100) / offsetUnit))).toEqual([10, -10]);
    expect((Number(near.distances[0]) * 0.5) / offsetUnit).toBeCloseTo(0.2, 3);
    const far = tallyOffsets(one(2, [100, 0]), [100, 100], { centres: [[0, 0]], radii: [0.25], norm: 'l2' });
    expect(far.offsets).toEqual([BigInt(offsetUnit), 0n]);
    expect(far.distances).toEqual([BigInt(offsetUnit)]);
  });
});
