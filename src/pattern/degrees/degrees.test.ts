import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rational } from '../../exact/rational.js';
import { accuracy, cumulate, fromCumulative, noisyDegrees, personEffect, tieEffect } from './distribution.js';
import { isotonic } from './isotonic.js';
import { degreeCounts, projectedDegrees } from './projection.js';

const n = 5;
const slots: [number, number][] = [];
for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) slots.push([i, j]);
const graphs = 1 << slots.length;
const ties = (g: number) => slots.filter((_, s) => g & (1 << s));
const distance = (a: readonly number[], b: readonly number[]) => a.reduce((s, x, i) => s + Math.abs(x - b[i]!), 0);

describe('the degree distribution', () => {
  it('brings a sequence into order with the least squared change', () => {
    expect(isotonic([3, 1, 2])).toEqual([2, 2, 2]);
    expect(isotonic([1, 2, 3])).toEqual([1, 2, 3]);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(9), { minLength: 12, maxLength: 12 }),
        (values, steps) => {
          const best = isotonic(values);
          for (let i = 1; i < best.length; i++) expect(best[i]! >= best[i - 1]!).toBe(true);
          const square = (other: readonly number[]) => values.reduce((s, v, i) => s + (v - other[i]!) ** 2, 0);
          // Any other ordered sequence is no nearer.
          let level = -30;
          const other = values.map((_, i) => (level += steps[i]!));
          expect(square(best)).toBeLessThanOrEqual(square(other) + 1e-9);
        },
      ),
    );
  });

  it('moves by the stated effect when one tie changes, over all graphs on five nodes', () => {
    const effect = tieEffect(true);
    let [histogram, cumulative, sequence] = [0, 0, 0];
    for (let g = 0; g < graphs; g++)
      for (let s = 0; s < slots.length; s++) {
        const [a, b] = [g, g ^ (1 << s)].map((x) => projectedDegrees(n, ties(x), n)) as [Uint32Array, Uint32Array];
        const [c, d] = [degreeCounts(a, n, n), degreeCounts(b, n, n)];
        histogram = Math.max(histogram, distance(c, d));
        cumulative = Math.max(cumulative, distance(cumulate(c), cumulate(d)));
        sequence = Math.max(sequence, distance([...a].sort(), [...b].sort()));
      }
    expect({ histogram, cumulative, sequence }).toEqual(effect);
  });

  it.each([1, 2, 3])('moves by at most the stated effect when a person is rewired after projection to %i ties', (theta) => {
    const mine = Array.from({ length: n }, (_, v) => slots.reduce((m, [i, j], s) => (i === v || j === v ? m | (1 << s) : m), 0));
    // Any fixed order of the possible ties will do; this one is far from the natural one.
    const order = slots.map((_, s) => (7 * s + 3 * theta) % slots.length);
    const ordered = (g: number) => order.filter((s) => g & (1 << s)).map((s) => slots[s]!);
    const degrees = Array.from({ length: graphs }, (_, g) => projectedDegrees(n, ordered(g), theta));
    const counts = degrees.map((d) => degreeCounts(d, n, theta));
    const cumulated = counts.map(cumulate);
    const sorted = degrees.map((d) => [...d].sort());
    let [histogram, cumulative, sequence] = [0, 0, 0];
    for (let g = 0; g < graphs; g++)
      for (const mask of mine)
        for (let sub = mask; ; sub = (sub - 1) & mask) {
          const h = (g & ~mask) | sub;
          histogram = Math.max(histogram, distance(counts[g]!, counts[h]!));
          cumulative = Math.max(cumulative, distance(cumulated[g]!, cumulated[h]!));
          sequence = Math.max(sequence, distance(sorted[g]!, sorted[h]!));
          if (sub === 0) break;
        }
    const effect = personEffect(theta);
    expect(histogram).toBeLessThanOrEqual(effect.histogram);
    expect(cumulative).toBeLessThanOrEqual(effect.cumulative);
    expect(sequence).toBeLessThanOrEqual(effect.sequence);
    expect(cumulative).toBeGreaterThan(effect.cumulative / 2 - 1);
  });

  it('keeps everybody and no negative counts after finishing, and is accurate when noise is small', () => {
    const counts = Array.from({ length: 200 }, (_, d) => Math.floor(20_000 / (d + 1) ** 2));
    for (const form of ['cumulative', 'sequence'] as const) {
      const noisy = noisyDegrees(counts, form, tieEffect(true), rational(1));
      expect(noisy.reduce((a, b) => a + b, 0)).toBe(counts.reduce((a, b) => a + b, 0));
      expect(Math.min(...noisy)).toBeGreaterThanOrEqual(0);
      expect(accuracy(counts, noisy)).toBeGreaterThan(0.95);
    }
    const at = (form: 'histogram' | 'cumulative') =>
      accuracy(counts, noisyDegrees(counts, form, tieEffect(true), rational(1, 20)));
    expect(at('cumulative')).toBeGreaterThan(at('histogram'));
  });

  it('finishes a cumulative sequence within its range', () => {
    expect(fromCumulative(isotonic([-3, 4, 2, 30]), 10)).toEqual([0, 3, 0, 7, 0]);
    expect(accuracy([], [])).toBe(1);
  });
});
