import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { distancePenalty, penaltySensitivity, wholeWeights } from './distance.js';
import { countSensitivity, estimatedTotal } from './method.js';

const counts = (rows: readonly number[]): Float64Array => {
  const out = new Float64Array(4);
  for (const cell of rows) out[cell]!++;
  return out;
};
const moved = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);

describe('the sensitivity of a table of counts', () => {
  it.each([
    ['replaced', 1],
    ['replaced', 3],
    ['removed', 1],
    ['removed', 3],
  ] as const)('a table moves by at most its sensitivity when a record is %s that has %i rows, and reaches it', (change, each) => {
    const { l1, l2squared } = countSensitivity({ each, change }).get(everyRecord)!;
    /** All ways to place up to so many rows into the cells. */
    const ways = (rows: number): readonly (readonly number[])[] =>
      rows === 0 ? [[]] : [...ways(rows - 1), ...ways(rows - 1).flatMap((own) => [0, 1, 2, 3].map((cell) => [...own, cell]))];
    let [sum, squares] = [0, 0];
    const before = ways(each).map(counts);
    for (const a of before)
      for (const b of change === 'removed' ? [counts([])] : before) {
        const differences = Array.from(a, (x, cell) => Math.abs(x - b[cell]!));
        sum = Math.max(
          sum,
          differences.reduce((s, d) => s + d, 0),
        );
        squares = Math.max(
          squares,
          differences.reduce((s, d) => s + d * d, 0),
        );
      }
    expect([l1, l2squared]).toEqual([BigInt(sum), BigInt(squares)]);
  });
});

describe('the penalty of a table', () => {
  it('the penalty moves by at most its sensitivity when the rows of a record are replaced or removed, whatever the model', () => {
    const cell = fc.integer({ min: 0, max: 3 });
    fc.assert(
      fc.property(
        fc.array(cell, { maxLength: 6 }),
        fc
          .integer({ min: 1, max: 3 })
          .chain((m) => fc.tuple(fc.array(cell, { maxLength: m }), fc.array(cell, { maxLength: m }), fc.constant(m))),
        fc.array(fc.double({ min: 0, max: 50, noNaN: true }), { minLength: 4, maxLength: 4 }),
        fc.integer({ min: 1, max: 32 }),
        fc.double({ min: 0, max: 1e15, noNaN: true }),
        (others, [before, after, each], model, weight, noise) => {
          const of = (own: readonly number[]) =>
            distancePenalty(counts([...others, ...own]), Float64Array.from(model), weight, noise);
          expect(moved(of(before), of(after)) <= penaltySensitivity(each)).toBe(true);
          expect(moved(of(before), of([])) <= penaltySensitivity(each, 'removed')).toBe(true);
        },
      ),
    );
  });

  it('the penalty reaches its sensitivity when all rows of a record leave a cell with too few for one with too many', () => {
    for (const each of [1, 3]) {
      const model = Float64Array.from([10, 0, 0, 0]);
      const of = (cell: number) => distancePenalty(counts(new Array(each).fill(cell)), model, 32, 0);
      expect(moved(of(0), of(1))).toBe(penaltySensitivity(each));
      expect(moved(of(0), distancePenalty(counts([]), model, 32, 0))).toBe(penaltySensitivity(each, 'removed'));
    }
  });

  it('the penalty is lowest for the table in which rows and model differ most, beyond noise', () => {
    const model = Float64Array.from([1, 1, 1, 1]);
    expect(distancePenalty(counts([0, 0, 0, 0]), model, 1, 0) < distancePenalty(counts([0, 0, 1, 2]), model, 1, 0)).toBe(true);
    expect(distancePenalty(counts([0, 0, 0, 0]), model, 1, 5) > distancePenalty(counts([0, 0, 1, 2]), model, 1, 0)).toBe(true);
  });

  it('the weights are between one and the largest', () => {
    expect(wholeWeights([1, 2, 4, 0.001])).toEqual([8, 16, 32, 1]);
  });

  it('the penalty moves by no more when noise suggests more rows than any data can have', () => {
    const cells = 7;
    for (const [setting, claimed] of [
      [{ each: 1 }, 3e16],
      [{ each: 1_000_000, records: 30_000_000 }, 2.5e13],
      [{ each: 3 }, 1e300],
    ] as const) {
      const measured = [{ columns: [0], counts: new Float64Array(cells).fill(claimed / cells), sd: 1 }];
      const total = estimatedTotal(setting, measured);
      const model = Float64Array.from({ length: cells }, (_, k) => (total * (k + 1 / 3)) / 24);
      const [here, there] = [Float64Array.of(3, 1, 4, 1, 5, 9, 2), Float64Array.of(2, 1, 4, 1, 5, 9, 3)];
      const moved = distancePenalty(here, model, 31, 0) - distancePenalty(there, model, 31, 0);
      // One row less in the first cell, one more in the last, both below the model's counts.
      expect(moved).toBe(0n);
      expect(distancePenalty(here, model, 31, 0) - distancePenalty(Float64Array.of(3, 1, 4, 1, 5, 9, 1), model, 31, 0)).toBe(
        31n * 32n,
      );
    }
  });
});
