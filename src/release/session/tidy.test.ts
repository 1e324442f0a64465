import { describe, expect, it } from 'vitest';
import { category, samplePolicy } from '../../../test/sample-policy.js';
import { rational } from '../../base/exact/rational.js';
import { laplaceSampler } from '../../privacy/noise/discrete-laplace.js';
import { bindBatch } from '../../query/bind.js';
import { finishBatch } from './batch.js';

describe('a tidied table', () => {
  const cells = 200;
  const codes = Array.from({ length: cells }, (_, k) => `c${k}`);
  const bound = bindBatch({ queries: [{ kind: 'histogram', column: 'place' }] }, samplePolicy([category('place', codes)]));
  const truth = [5000, ...new Array<number>(cells).fill(0)];
  const scale = 20;
  const draw = laplaceSampler(rational(scale));
  const answer = () => ({
    measures: [{ noise: { kind: 'laplace' as const, scale: `${scale}` }, values: truth.map((n) => `${BigInt(n) + draw()}`) }],
  });

  it('tidying keeps the coverage of confidence intervals, even if all records are in one cell of many', () => {
    const rounds = 200;
    let [large, all, without] = [0, 0, 0];
    for (let round = 0; round < rounds; round++) {
      const [table] = finishBatch(bound, answer(), true);
      table!.rows.forEach(({ value, low, high }, k) => {
        expect(low).toBeLessThanOrEqual(value!);
        expect(high).toBeGreaterThanOrEqual(value!);
        const holds = low! <= truth[k]! && truth[k]! <= high!;
        all += holds ? 1 : 0;
        if (k === 0) {
          large += holds ? 1 : 0;
          without += Math.abs(value! - truth[0]!) <= scale * Math.log(20) ? 1 : 0;
        }
      });
    }
    // 95 % of 200, less five standard errors.
    expect(large / rounds).toBeGreaterThan(0.95 - 5 * Math.sqrt((0.05 * 0.95) / rounds));
    expect(all / (rounds * truth.length)).toBeGreaterThan(0.94);
    // The interval of the tidied number with its own noise would not cover.
    expect(without / rounds).toBeLessThan(0.6);
  });

  it('tidying keeps the intervals of shares, widened where the tidied share lies outside', () => {
    const few = codes.slice(0, 12);
    const shared = bindBatch({ queries: [{ kind: 'histogram', column: 'place' }] }, samplePolicy([category('place', few)]));
    for (let round = 0; round < 10; round++) {
      const measures = answer().measures.map((m) => ({ ...m, values: m.values.slice(0, few.length + 1) }));
      const [plain, tidied] = [false, true].map((tidy) => finishBatch(shared, { measures }, tidy)[0]!.rows.slice(0, few.length));
      tidied!.forEach(({ share }, k) => {
        const { low, high } = plain![k]!.share!;
        expect(share).toEqual({ value: share!.value, low: Math.min(low, share!.value!), high: Math.max(high, share!.value!) });
      });
    }
  });

  it('a tidied table has no negative counts and the error of the noise', () => {
    const recorded = answer();
    const [[plain], [tidied]] = [finishBatch(bound, recorded, false), finishBatch(bound, recorded, true)];
    expect(plain!.rows.some((row) => row.value! < 0)).toBe(true);
    expect(tidied!.rows.every((row) => row.value! >= 0)).toBe(true);
    expect(tidied!.rows.map((row) => row.standardError)).toEqual(plain!.rows.map((row) => row.standardError));
  });
});
