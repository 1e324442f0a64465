import { describe, expect, test } from 'vitest';
import { category, samplePolicy } from '../../test/sample-policy.js';
import { rational } from '../exact/rational.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import { bindBatch } from './bind.js';
import { parseBatch } from './parse.js';

const policy = samplePolicy([category('vote', ['red', 'blue', 'green']), category('sex', ['m', 'f'], { public: true })]);
const tableOf = (query: object, counts: readonly (number | bigint)[]) =>
  bindBatch(parseBatch([query]), policy).finish([{ noise: { kind: 'laplace', scale: 10 }, values: counts.map(BigInt) }])[0]!;

describe('shares', () => {
  test('are parts of those who answered', () => {
    const { rows } = tableOf({ kind: 'histogram', column: 'vote' }, [100, 300, 600, 50]);
    expect(rows.map((r) => r.share?.value)).toEqual([0.1, 0.3, 0.6, undefined]);
    for (const { share } of rows.slice(0, 3)) {
      expect(share!.low).toBeLessThan(share!.value!);
      expect(share!.high).toBeGreaterThan(share!.value!);
      expect(share!.high - share!.low).toBeLessThan(0.15);
    }
  });
  test('are parts of their own group', () => {
    const { rows } = tableOf({ kind: 'histogram', column: 'vote', by: ['sex'] }, [10, 30, 60, 5, 80, 10, 10, 5, 0, 0, 0, 9]);
    expect(rows.map((r) => r.share?.value ?? null)).toEqual([0.1, 0.3, 0.6, null, 0.8, 0.1, 0.1, null, null, null, null, null]);
    expect(rows[8]!.share).toEqual({ value: null, low: 0, high: 1 });
  });
  test('hold the true part with 95 % and not much more', () => {
    const truth = [60, 90, 150, 20];
    const draw = laplaceSampler(rational(10));
    let [held, asked] = [0, 0];
    for (let k = 0; k < 1500; k++) {
      const { rows } = tableOf(
        { kind: 'histogram', column: 'vote' },
        truth.map((x) => BigInt(x) + draw()),
      );
      for (const [i, { share }] of rows.slice(0, 3).entries()) {
        asked++;
        if (share!.low <= truth[i]! / 300 && truth[i]! / 300 <= share!.high) held++;
      }
    }
    expect(held / asked).toBeGreaterThan(0.94);
    expect(held / asked).toBeLessThan(0.985);
  });
});
