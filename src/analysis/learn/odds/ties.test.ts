import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordingPayment, usedParts } from '../../../../test/transcript.js';
import { rational } from '../../../base/exact/rational.js';
import { friendOddsRatio } from '../../../evaluate/papers/dependent-tuples/friend-model.js';
import { pure, zcdp } from '../../../privacy/mechanism/budget-share.js';
import { affinityTies, attributeProfiles } from './affinity.js';
import { boundPairs, type NamedPair } from './choose-pairs.js';
import { distanceLogOdds, distanceTies, type PublicPlace, planeMetric, sphereMetric, tieByDistance } from './distance.js';
import { backstrom } from './friendship-model.js';
import { pairNoise } from './learn-ties.js';
import { oddsInterval, toDeclare } from './odds-interval.js';
import { countTiedPairs, pairCell, pairCellCount, poolRare } from './pair-table.js';
import { tieTable, upward } from './tie.js';

/** Seeded generator, so that a failure can be repeated. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
const draw = (probabilities: readonly number[], random: () => number): number => {
  const sums = probabilities.map((_, k) => probabilities.slice(0, k + 1).reduce((a, b) => a + b));
  const at = random() * sums.at(-1)!;
  return sums.findIndex((sum) => at < sum);
};

describe('the table of tied pairs', () => {
  it('the pair table has one cell per two values, in either order when ties are undirected', () => {
    for (const k of [1, 2, 5])
      for (const directed of [true, false]) {
        const cells = new Set<number>();
        for (let a = 0; a < k; a++)
          for (let b = 0; b < k; b++) {
            cells.add(pairCell(a, b, k, directed));
            if (!directed) expect(pairCell(a, b, k, false)).toBe(pairCell(b, a, k, false));
          }
        expect([...cells].sort((x, y) => x - y)).toEqual(Array.from({ length: pairCellCount(k, directed) }, (_, c) => c));
      }
  });

  it('pooling of rare values loses no pair', () => {
    const table = { values: ['a', 'b', 'c', 'd'], directed: false, counts: [50, 20, 1, 0, 40, 1, 2, 0, 1, 1] };
    const { table: pooled, unjudged, merged } = poolRare(table, 0.03);
    expect(pooled.values).toEqual(['a', 'b', 'c or d']);
    expect({ unjudged, merged }).toEqual({ unjudged: [], merged: 3 });
    expect(pooled.counts.reduce((s, n) => s + n)).toBe(table.counts.reduce((s, n) => s + n));
    expect(poolRare(table, 0.1)).toMatchObject({ table: { values: ['a', 'b'], counts: [50, 20, 40] }, unjudged: ['c', 'd'] });
    expect(poolRare(table, 0).table).toEqual(table);
  });

  it('the pair table moves by at most two per pair when one record changes', () => {
    const values = fc.array(fc.option(fc.nat(2), { nil: undefined }), { minLength: 8, maxLength: 8 });
    const list = fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 30 });
    fc.assert(
      fc.property(
        values,
        list,
        fc.nat(7),
        fc.option(fc.nat(2), { nil: undefined }),
        fc.integer({ min: 1, max: 3 }),
        (xs, ties, who, now, most) => {
          const named = ties.filter(([a, b]) => a !== b).map(([a, b]): NamedPair => [`${a}`, `${b}`]);
          const pairs = boundPairs(named, most, 'town');
          const count = (list: readonly (number | undefined)[]) =>
            countTiedPairs(
              pairs.map(([a, b]) => [list[Number(a)], list[Number(b)]] as const),
              3,
              false,
            );
          const changed = xs.map((x, i) => (i === who ? now : x));
          const after = count(changed);
          expect(count(xs).reduce((s, n, c) => s + Math.abs(n - after[c]!), 0)).toBeLessThanOrEqual(2 * most);
        },
      ),
    );
  });
});

describe('the noise of a table of tied pairs', () => {
  it('the noise covers all pairs of a record: one with three friends of one value that changes', () => {
    for (const within of [pure(rational(1)), zcdp(rational(1, 10))]) {
      const noise = pairNoise({ name: 'friends', values: 2, directed: false }, 3, within);
      const run = (own: number | undefined): RecordingPayment => {
        const transcript = new RecordingPayment([noise]);
        noise.prepare(transcript)(
          countTiedPairs(
            [1, 2, 3].map(() => [own, 0] as const),
            2,
            false,
          ).map(BigInt),
        );
        return transcript;
      };
      expect(usedParts(run(0), run(1))[0]).toBeCloseTo(1, 5);
      expect(usedParts(run(0), run(undefined))[0]).toBeLessThanOrEqual(1);
    }
  });
});

describe('the counted pairs', () => {
  it('nobody is in more counted pairs than allowed, and the order of the list does not matter', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), (list, most) => {
        const pairs = [...new Set(list.filter(([a, b]) => a < b).map(([a, b]) => `${a},${b}`))].map(
          (t) => t.split(',') as unknown as NamedPair,
        );
        const chosen = boundPairs(pairs, most, 'town');
        const often = new Map<string, number>();
        for (const name of chosen.flat()) often.set(name, (often.get(name) ?? 0) + 1);
        expect(Math.max(0, ...often.values())).toBeLessThanOrEqual(most);
        expect(boundPairs([...pairs].reverse(), most, 'town')).toEqual(chosen);
      }),
    );
  });
});

describe('the odds ratio from pairs', () => {
  it('the odds ratio is 81 for two who agree nine times in ten', () => {
    const { oddsRatio, low, high } = oddsInterval({ values: ['yes', 'no'], directed: false, counts: [4500, 1000, 4500] }, 0.95);
    expect(oddsRatio).toBeCloseTo(81, 6);
    expect(low).toBeLessThan(81);
    expect(low).toBeGreaterThan(60);
    expect(high).toBeLessThan(110);
    expect(toDeclare(high)).toBeGreaterThanOrEqual(high);
  });

  it('the confidence interval has its stated coverage for all marginals, with and without noise', () => {
    const random = chance(7);
    let covered = 0;
    let close = 0;
    const runs = 300;
    for (let run = 0; run < runs; run++) {
      // f times uneven marginals: the marginals must not matter.
      const f = [
        [3, 1, 1],
        [1, 3, 1],
        [1, 1, 3],
      ];
      const margin = [0.5, 0.3, 0.2];
      const probabilities = f.flatMap((row, a) => row.map((w, b) => w * margin[a]! * margin[b]!));
      const counts = countTiedPairs(
        Array.from({ length: 3000 }, () => {
          const cell = draw(probabilities, random);
          return [Math.floor(cell / 3), cell % 3] as const;
        }),
        3,
        false,
      );
      const slack = run % 2 === 0 ? 0 : 12;
      const noisy = counts.map((n) => n + (slack === 0 ? 0 : Math.round((2 * random() - 1) * slack)));
      const { low, high, oddsRatio } = oddsInterval({ values: ['a', 'b', 'c'], directed: false, counts: noisy }, 0.9, slack);
      if (low <= 9 && high >= 9) covered++;
      if (Math.abs(oddsRatio / 9 - 1) < 0.4) close++;
    }
    expect(covered).toBeGreaterThanOrEqual(0.9 * runs);
    expect(close).toBeGreaterThan(0.8 * runs);
  });

  it('the odds ratio of independent pairs is one, and its upper end is open when a cell may be empty', () => {
    expect(oddsInterval({ values: ['y', 'n'], directed: true, counts: [250, 250, 250, 250] }, 0.95)).toMatchObject({ low: 1 });
    expect(oddsInterval({ values: ['y', 'n'], directed: false, counts: [50, 0, 50] }, 0.95).high).toBe(Number.POSITIVE_INFINITY);
    const few = oddsInterval({ values: ['y', 'n'], directed: false, counts: [50, 4, 50] }, 0.95);
    expect(few.high).toBeGreaterThan(4 * few.oddsRatio);
    expect(few.high).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(oddsInterval({ values: ['y', 'n'], directed: false, counts: [50, 4, 50] }, 0.95, 5).high).toBe(
      Number.POSITIVE_INFINITY,
    );
    expect(() => oddsInterval({ values: ['y'], directed: false, counts: [9] }, 0.95)).toThrow(/at least two values/);
  });

  it('the odds ratio distinguishes the ends of directed ties', () => {
    const counts = [100, 10, 10, 100, 10, 100, 10, 10, 100];
    const { between, oddsRatio } = oddsInterval({ values: ['a', 'b', 'c'], directed: true, counts }, 0.95);
    expect(oddsRatio).toBeCloseTo(100, 6);
    expect(between.mine).not.toEqual(['b', 'b']);
  });
});

describe('ties by distance', () => {
  const place = (id: string, x: number, y: number, radius: number): PublicPlace => ({ id, x, y, radius });

  it('the odds ratio bounds every ratio of the model over both discs', () => {
    const coordinate = fc.double({ min: -10, max: 10, noNaN: true });
    const radius = fc.double({ min: 0, max: 3, noNaN: true });
    const turn = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 6.2832, noNaN: true }));
    fc.assert(
      fc.property(
        coordinate,
        coordinate,
        radius,
        radius,
        fc.array(turn, { minLength: 4, maxLength: 4 }),
        (x, y, ri, rj, turns) => {
          const at = (cx: number, cy: number, r: number, [part, angle]: readonly [number, number]) =>
            [cx + r * part * Math.cos(angle), cy + r * part * Math.sin(angle)] as const;
          const [u, w] = [at(0, 0, ri, turns[0]!), at(0, 0, ri, turns[1]!)];
          const [v, z] = [at(x, y, rj, turns[2]!), at(x, y, rj, turns[3]!)];
          const log = (p: readonly [number, number], q: readonly [number, number]) =>
            -backstrom.c * Math.log(Math.hypot(p[0] - q[0], p[1] - q[1]) + backstrom.b);
          const quotient = log(u, v) + log(w, z) - log(u, z) - log(w, v);
          expect(quotient).toBeLessThanOrEqual(distanceLogOdds(Math.hypot(x, y), [ri, rj], backstrom, true) + 1e-9);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('the odds ratio equals that over the whole domain when the discs cover it, and falls with distance', () => {
    const whole = friendOddsRatio({ side: 11, step: 1 }, backstrom);
    expect(Math.exp(distanceLogOdds(0, [10, 10], backstrom, true))).toBeCloseTo(whole, 3);
    const at = [1, 5, 20, 100].map((d) => distanceLogOdds(d, [1, 1], backstrom, true));
    expect([...at].sort((a, b) => b - a)).toEqual(at);
    expect(at[3]).toBeLessThan(0.001);
  });

  it('close pairs are found without a scan of all pairs, on the plane and on the globe', () => {
    const random = chance(3);
    const plane = Array.from({ length: 300 }, (_, i) => place(`p${i}`, 40 * random(), 40 * random(), 0.2 + random()));
    const globe = Array.from({ length: 200 }, (_, i) => place(`q${i}`, 40 + random(), -74 + random(), 0.5));
    for (const [places, metric] of [
      [plane, planeMetric(1 / 1.609344)],
      [globe, sphereMetric],
    ] as const) {
      const options = { model: backstrom, metric, least: 1.3 };
      const found = distanceTies(places, options).map(({ a, b }) => `${a},${b}`);
      const all = places
        .flatMap((p, i) => places.slice(i + 1).flatMap((q) => tieByDistance(p, q, options) ?? []))
        .map(({ a, b }) => `${a},${b}`);
      expect([...found].sort()).toEqual([...all].sort());
      expect(all.length).toBeGreaterThan(20);
      expect(all.length).toBeLessThan((places.length * (places.length - 1)) / 4);
    }
  });
});

describe('ties by similarity', () => {
  it('similarity ties are all pairs above the threshold, and l1 finds none that cosine does not', () => {
    const cells = fc.array(fc.constantFrom('', 'red', 'blue', 'green'), { minLength: 12, maxLength: 12 });
    const numbers = fc.array(fc.constantFrom('', '0', '1', '2.5', '-1'), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(
        cells,
        cells,
        numbers,
        fc.boolean(),
        fc.double({ min: 0.05, max: 0.95, noNaN: true }),
        (c1, c2, n1, centred, threshold) => {
          const ids = c1.map((_, i) => `p${i}`);
          const people = attributeProfiles(ids, [c1, c2, n1], centred);
          for (const norm of ['cosine', 'l1'] as const) {
            const size = (w: readonly number[]) => (norm === 'l1' ? w.reduce((s, x) => s + Math.abs(x), 0) : Math.hypot(...w));
            const all = people.flatMap((p, i) =>
              people.slice(i + 1).flatMap((q) => {
                const dot = p.features.reduce((s, f, k) => {
                  const at = q.features.indexOf(f);
                  return at < 0 ? s : s + p.weights[k]! * q.weights[at]!;
                }, 0);
                const similarity = dot / (size(p.weights) * size(q.weights));
                return Math.abs(similarity - threshold) < 1e-9 ? [] : [[p.id, q.id, similarity > threshold] as const];
              }),
            );
            const found = new Set(affinityTies(people, threshold, norm).map(({ a, b }) => `${a},${b}`));
            for (const [a, b, alike] of all) expect(found.has(`${a},${b}`)).toBe(alike);
          }
          const l1 = affinityTies(people, threshold, 'l1').map(({ a, b }) => `${a},${b}`);
          const cosine = new Set(affinityTies(people, threshold, 'cosine').map(({ a, b }) => `${a},${b}`));
          for (const pair of l1) expect(cosine.has(pair)).toBe(true);
        },
      ),
    );
  });
});

describe('the file of ties', () => {
  it('the file of ties rounds strengths up and quotes names', () => {
    expect(tieTable([{ a: 'x,y', b: 'z', oddsRatio: Number.POSITIVE_INFINITY }])).toBe('a,b,oddsRatio\n"x,y",z,inf\n');
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e9, noNaN: true }), fc.integer({ min: 1, max: 6 }), (x, digits) => {
        expect(upward(x, digits)).toBeGreaterThanOrEqual(x);
        expect(upward(x, digits)).toBeLessThanOrEqual(x * (1 + 2 * 10 ** (1 - digits)));
      }),
    );
  });
});
