import { describe, expect, it } from 'vitest';
import { number, samplePolicy } from '../../../test/sample-policy.js';
import { rational, toNumber } from '../../base/exact/rational.js';
import { exponentialSampler } from '../../privacy/noise/exponential.js';
import { bindBatch } from '../bind.js';
import type { SelectionMeasure } from '../count/measure.js';

const last = 73;
const bound = bindBatch(
  { queries: [{ kind: 'quantile', column: 'age', at: [0.5] }] },
  samplePolicy([number('age', '0', `${last}`)]),
);
const measure = bound.measures[0] as SelectionMeasure;
const sharpness = rational(1, 8);
const noise = { kind: 'selection', sharpness: toNumber(sharpness) } as const;
const row = bound.finish([{ noise, chosen: [0] }])[0]!.rows[0]!;
const worst = row.rankError! * measure.perRank;
const even = row.evenRankError! * measure.perRank;

/** Probability that the penalty exceeds a limit under the selection's distribution. */
function passing(penalties: readonly bigint[], limit: number, rate = noise.sharpness): number {
  let [all, beyond] = [0, 0];
  for (const p of penalties) {
    const weight = Math.exp(-rate * Number(p));
    all += weight;
    if (Number(p) > limit) beyond += weight;
  }
  return beyond / all;
}
/** n rows on one candidate, none elsewhere. */
const heap = (n: number, at = 40): bigint[] => Array.from({ length: last + 1 }, (_, c) => (c === at ? BigInt(n) : 0n));
/** `rows` rows on every candidate, or one row on every k-th. */
const evenly = (rows: number, gap: number): bigint[] =>
  Array.from({ length: last + 1 }, (_, c) => (c % gap === 0 ? BigInt(rows) : 0n));

describe('the rank error of a quantile', () => {
  it('the rank error holds for rows on one candidate in any number, and no smaller bound would', () => {
    const missRate = (limit: number) =>
      Math.max(...Array.from({ length: 200 }, (_, n) => passing(measure.penalties(heap(n)), limit)));
    expect(missRate(worst)).toBeLessThanOrEqual(0.05);
    expect(missRate(worst - 1)).toBeGreaterThan(0.05);
    // The bound for evenly spread rows does not hold here.
    expect(missRate(even)).toBeGreaterThan(0.3);
  });

  it('the rank error is confirmed by draws of the real selection', () => {
    const penalties = measure.penalties(heap(worst + 1));
    const draw = exponentialSampler({ scores: penalties.map((p) => -p) }, sharpness);
    const draws = 4000;
    let over = 0;
    for (let d = 0; d < draws; d++) if (Number(penalties[draw()]!) > worst) over++;
    // 5 % of 4000, give or take five standard errors; rows are whole, so it may be a little less.
    expect(over / draws).toBeLessThan(0.05 + 5 * Math.sqrt(0.0475 / draws));
    expect(over / draws).toBeGreaterThan(0.03);
  });

  it('the rank error is about half for evenly spread rows, whatever their number and distance', () => {
    let most = 0;
    for (const at of ['0.5', '0.25', '0.9'])
      for (const [rows, gap] of [
        ...Array.from({ length: 120 }, (_, k) => [k + 1, 1] as const),
        [1, 2],
        [1, 5],
        [1, 9],
      ] as const) {
        const [other] = bindBatch(
          { queries: [{ kind: 'quantile', column: 'age', at: [Number(at)] }] },
          samplePolicy([number('age', '0', `${last}`)]),
        ).measures as [SelectionMeasure];
        const rate = (noise.sharpness * measure.perRank) / other.perRank;
        const limit = row.evenRankError! * other.perRank;
        most = Math.max(most, passing(other.penalties(evenly(rows, gap)), limit, rate));
      }
    expect(most).toBeLessThanOrEqual(0.05);
    expect(most).toBeGreaterThan(0.03);
    expect(even / worst).toBeLessThan(0.6);
  });

  it('the expected rank error equals the stated one, and its root mean square is that of the worst data', () => {
    const [expected] = bound.expectedErrors([noise]);
    expect(expected!.halfWidth).toBe(row.rankError);
    const meanSquare = (penalties: readonly bigint[]) => {
      const weights = penalties.map((p) => Math.exp(-noise.sharpness * Number(p)));
      const all = weights.reduce((a, b) => a + b);
      return penalties.reduce((sum, p, i) => sum + (weights[i]! / all) * Number(p) ** 2, 0);
    };
    const largest = Math.max(...Array.from({ length: 200 }, (_, n) => meanSquare(measure.penalties(heap(n)))));
    const seen = Math.sqrt(largest) / measure.perRank;
    expect(expected!.standardError).toBeGreaterThanOrEqual(seen);
    expect(expected!.standardError).toBeLessThan(1.01 * seen);
  });

  it('the rank error is zero with one candidate, or where nothing is protected', () => {
    const one = bindBatch({ queries: [{ kind: 'quantile', column: 'x', at: [0.5] }] }, samplePolicy([number('x', '3', '3')]));
    expect(one.finish([{ noise, chosen: [0] }])[0]!.rows[0]).toMatchObject({ rankError: 0, evenRankError: 0 });
    const open = { kind: 'none', scale: 0 } as const;
    expect(bound.finish([{ noise: open, chosen: [0] }])[0]!.rows[0]).toMatchObject({ rankError: 0, evenRankError: 0 });
  });
});
