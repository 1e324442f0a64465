import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordingPayment, usedParts } from '../../../../test/transcript.js';
import { openWorkshop, policyYaml } from '../../../../test/workshop.js';
import { type Rational, rational } from '../../../base/exact/rational.js';
import { pure, zcdp } from '../../../privacy/mechanism/budget-share.js';
import { isotonic } from '../../../privacy/mechanism/ordered/isotonic.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { everyRecord, tuplesIn } from '../../../privacy/mechanism/record-class.js';
import type { Sensitivity } from '../../../privacy/mechanism/sensitivity.js';
import {
  accuracy,
  type DegreeForm,
  degreeNoise,
  fromCumulative,
  inForm,
  noisyDegrees,
  personDegreeSensitivity,
  tieDegreeSensitivity,
} from './distribution.js';
import { degreeCounts, projectedDegrees } from './projection.js';
import { planDegrees } from './release.js';

const n = 5;
const slots: [number, number][] = [];
for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) slots.push([i, j]);
const graphs = 1 << slots.length;
const ties = (g: number) => slots.filter((_, s) => g & (1 << s));
const forms = ['histogram', 'cumulative', 'sequence'] as const;
/** Largest distance between any two neighbours, in both norms. */
class Farthest {
  l1 = 0n;
  l2squared = 0n;
  see(a: readonly number[], b: readonly number[]): void {
    const moved = a.map((x, i) => Math.abs(x - b[i]!));
    const [l1, l2squared] = [moved.reduce((s, x) => s + x, 0), moved.reduce((s, x) => s + x * x, 0)].map(BigInt);
    if (l1! > this.l1) this.l1 = l1!;
    if (l2squared! > this.l2squared) this.l2squared = l2squared!;
  }
}
const effectOf = ({ l1, l2squared }: Sensitivity): Sensitivity => ({ l1, l2squared });
const mine = Array.from({ length: n }, (_, v) => slots.reduce((m, [i, j], s) => (i === v || j === v ? m | (1 << s) : m), 0));

describe('the degree distribution', () => {
  it('isotonic regression orders a sequence with the least squared change', () => {
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
          // No other ordered sequence is nearer.
          let level = -30;
          const other = values.map((_, i) => (level += steps[i]!));
          expect(square(best)).toBeLessThanOrEqual(square(other) + 1e-9);
        },
      ),
    );
  });

  it('the degree distribution moves by exactly its sensitivity when one tie changes, over all graphs on five nodes', () => {
    const counts = Array.from({ length: graphs }, (_, g) => degreeCounts(projectedDegrees(n, ties(g), n), n, n));
    for (const form of forms) {
      const vectors = counts.map((c) => inForm(c, form));
      const farthest = new Farthest();
      for (let g = 0; g < graphs; g++) for (let s = 0; s < slots.length; s++) farthest.see(vectors[g]!, vectors[g ^ (1 << s)]!);
      expect(effectOf(farthest)).toEqual(tieDegreeSensitivity(true)[form]);
    }
  });

  it('the degree distribution moves by exactly its sensitivity when a directed tie changes, over all out-degrees of four people', () => {
    const all = Array.from({ length: 4 ** 4 }, (_, k) => [k & 3, (k >> 2) & 3, (k >> 4) & 3, (k >> 6) & 3]);
    for (const form of forms) {
      const vector = (degrees: readonly number[]) => inForm(degreeCounts(degrees, 4, 3), form);
      const farthest = new Farthest();
      for (const degrees of all)
        for (let v = 0; v < 4; v++)
          if (degrees[v]! < 3) farthest.see(vector(degrees), vector(degrees.map((d, w) => (w === v ? d + 1 : d))));
      expect(effectOf(farthest)).toEqual(tieDegreeSensitivity(false)[form]);
    }
  });

  it.each([1, 2, 3])(
    'the degree distribution moves by at most its sensitivity when a person is rewired after projection to %i ties',
    (theta) => {
      // Any fixed order of the possible ties will do; this one is far from the natural order.
      const order = slots.map((_, s) => (7 * s + 3 * theta) % slots.length);
      const ordered = (g: number) => order.filter((s) => g & (1 << s)).map((s) => slots[s]!);
      const counts = Array.from({ length: graphs }, (_, g) => degreeCounts(projectedDegrees(n, ordered(g), theta), n, theta));
      for (const form of forms) {
        const vectors = counts.map((c) => inForm(c, form));
        const farthest = new Farthest();
        for (let g = 0; g < graphs; g++)
          for (const mask of mine)
            for (let sub = mask; ; sub = (sub - 1) & mask) {
              farthest.see(vectors[g]!, vectors[(g & ~mask) | sub]!);
              if (sub === 0) break;
            }
        const sensitivity = personDegreeSensitivity(theta)[form];
        expect(farthest.l1).toBeLessThanOrEqual(sensitivity.l1);
        expect(farthest.l2squared).toBeLessThanOrEqual(sensitivity.l2squared);
        // A histogram needs two people per moved tie: five are too few for three ties.
        if (form !== 'histogram' || theta < 3) expect(farthest.l1).toBe(sensitivity.l1);
      }
    },
  );

  it('the reserved cost equals the privacy loss of the noise, for a tie and for all ties of a person', () => {
    const star = (arms: number) => degreeCounts([arms, ...new Array<number>(arms).fill(1)], 9, 3);
    for (const form of forms)
      for (const within of [pure(rational(1)), zcdp(rational(1, 10))]) {
        const about = { name: 'degrees', form, last: 3, people: 9 };
        const tie = degreeNoise({ ...about, sensitivity: tieDegreeSensitivity(true), record: tuplesIn('friend') }, within);
        const person = degreeNoise({ ...about, sensitivity: personDegreeSensitivity(3), record: everyRecord }, within);
        const used = (noise: typeof tie, arms: readonly [number, number]) =>
          usedParts(
            ...(arms.map((k) => {
              const transcript = new RecordingPayment([noise]);
              noisyDegrees(noise, form, transcript)(star(k));
              return transcript;
            }) as [RecordingPayment, RecordingPayment]),
          )[0]!;
        // Two people without ties become friends; a person drops three friends who have no others.
        expect(used(tie, [0, 1])).toBeCloseTo(1, 5);
        expect(used(person, [3, 0])).toBeLessThanOrEqual(1);
        if (within.noise === 'pure' && form !== 'histogram') expect(used(person, [3, 0])).toBeCloseTo(1, 5);
        // Noise for one tie does not cover a person.
        expect(used(tie, [3, 0])).toBeGreaterThan(1.9);
        expect([...tie.cost.perRecord]).toEqual([['friend', within.amount]]);
      }
  });

  it.each([
    ['{ secret: edge }', 2],
    ['{ secret: person, unit: id, maxRows: 1 }', 14],
  ])('the plan uses the noise of its secret: %s', async (protect, sensitivity) => {
    const extra = 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n';
    const shop = openWorkshop(policyYaml({ protect, extra }), 60);
    shop.write('friends.csv', 'a,b\np0,p1\np1,p2\n');
    const session = await shop.session();
    const { measures } = await planDegrees(session, { epsilon: '0.5', degree: 7 });
    expect(measures).toMatchObject([{ cells: 7, noise: { kind: 'laplace', scale: `${2 * sensitivity}` } }]);
    await session.close();
    shop.remove();
  });

  it('postprocessing keeps the number of people, removes negative counts, and is accurate when noise is small', () => {
    const counts = Array.from({ length: 200 }, (_, d) => Math.floor(20_000 / (d + 1) ** 2));
    const people = counts.reduce((a, b) => a + b, 0);
    const released = (form: DegreeForm, epsilon: Rational) => {
      const noise = degreeNoise(
        { name: 'degrees', form, last: 199, people, sensitivity: tieDegreeSensitivity(true), record: tuplesIn('friend') },
        pure(epsilon),
      );
      return noisyDegrees(noise, form, new Payment([noise]))(counts);
    };
    for (const form of ['cumulative', 'sequence'] as const) {
      const noisy = released(form, rational(1));
      expect(noisy.reduce((a, b) => a + b, 0)).toBe(people);
      expect(Math.min(...noisy)).toBeGreaterThanOrEqual(0);
      expect(accuracy(counts, noisy)).toBeGreaterThan(0.95);
    }
    const at = (form: DegreeForm) => accuracy(counts, released(form, rational(1, 20)));
    expect(at('cumulative')).toBeGreaterThan(at('histogram'));
  });

  it('postprocessing keeps a cumulative sequence within its range', () => {
    expect(fromCumulative(isotonic([-3, 4, 2, 30]), 10)).toEqual([0, 3, 0, 7, 0]);
    expect(accuracy([], [])).toBe(1);
  });
});
