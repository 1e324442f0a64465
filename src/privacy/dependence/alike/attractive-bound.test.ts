import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededFuzz } from '../../../../test/fuzz/random.js';
import { readVectors } from '../../../../test/vectors.js';
import { logUp } from '../../../base/exact/outward.js';
import { fromFactors } from '../graph/factor-graph.js';
import { leakageBounds } from '../leakage.js';
import type { Model, ModelFactor } from '../model/model.js';
import { attractiveBound } from './attractive-bound.js';

const { unit: pick } = seededFuzz(Number(process.env.FUGU_SEED ?? 4));

type Tie = readonly [number, number, number];
const graphOf = (records: number, ties: readonly Tie[]) =>
  fromFactors(
    records,
    ties.map(([u, w, ratio]) => ({ members: [u, w], logOdds: logUp(ratio) })),
  );

/** Every value of every record, by exact fractions: the square roots of the odds ratios must be whole numbers. */
function enumerate(records: number, ties: readonly Tie[], costs: readonly number[]): number[] {
  const weigh = (row: number) =>
    ties.reduce((w, [u, v, ratio]) => (((row >> u) ^ (row >> v)) & 1 ? w : w * BigInt(Math.sqrt(ratio))), 1n);
  const weights = Array.from({ length: 2 ** records }, (_, row) => weigh(row));
  const all = weights.reduce((a, b) => a + b, 0n);
  const scale = 10n ** 30n;
  return costs.map((_, i) =>
    costs.reduce((sum, e, j) => {
      const agree = weights.reduce((s, w, row) => (((row >> i) ^ (row >> j)) & 1 ? s - w : s + w), 0n);
      return sum + (e * Number((agree * scale) / all)) / 1e30;
    }, 0),
  );
}

describe('the bound for attractive ties', () => {
  test('the bound agrees with the reference values', () => {
    const { cases } = readVectors('alike');
    expect(cases.length).toBeGreaterThan(10);
    for (const { name, records, ties, effects: costs, leak } of cases) {
      const informed = leakageBounds(graphOf(records, ties), Float64Array.from(costs), 'informed').perRecord;
      const bound = attractiveBound(graphOf(records, ties), Float64Array.from(costs));
      for (const [i, exact] of leak.entries()) {
        if (bound[i] === Number.POSITIVE_INFINITY) expect(informed[i], name).toBeLessThanOrEqual(exact + 1e-9);
        else {
          expect(bound[i], name).toBeGreaterThanOrEqual(exact - 1e-14);
          expect(bound[i], name).toBeLessThanOrEqual(exact + 1e-9);
        }
      }
    }
  });

  const square = fc.constantFrom(1, 4, 9, 16, 100);
  const model = fc.integer({ min: 3, max: 7 }).chain((n) =>
    fc.record({
      n: fc.constant(n),
      ties: fc.array(fc.tuple(fc.nat(n - 1), fc.nat(n - 1), square), { minLength: n, maxLength: 14 }),
      effects: fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: n, maxLength: n }),
    }),
  );
  test('the bound is never below the enumeration of all values, and close to it', () => {
    let looped = 0;
    fc.assert(
      fc.property(model, ({ n, ties, effects: costs }) => {
        const proper = ties.filter(([u, w]) => u !== w);
        const bound = attractiveBound(graphOf(n, proper), Float64Array.from(costs));
        for (const [i, exact] of enumerate(n, proper, costs).entries()) {
          if (bound[i] === Number.POSITIVE_INFINITY) continue;
          looped++;
          expect(bound[i]).toBeGreaterThanOrEqual(exact - 1e-15 * n);
          expect(bound[i]).toBeLessThanOrEqual(exact + 1e-10);
        }
      }),
      { numRuns: 300 },
    );
    expect(looped).toBeGreaterThan(200);
  });
});

/**
 * Worst |log P(o | x_i = 1) / P(o | x_i = 0)| by enumeration over likelihoods e^(-distance to a set of rows), where a difference
 * in record j counts e_j. Bit values 0 and 1; fields tilt each record.
 */
function exactLeaks(n: number, ties: readonly Tie[], fields: readonly number[], costs: readonly number[]) {
  const rows = 2 ** n;
  const weight = Array.from({ length: rows }, (_, row) => {
    let w = 0;
    for (const [u, v, ratio] of ties) if (((row >> u) ^ (row >> v)) & 1) w -= Math.log(ratio) / 2;
    for (let j = 0; j < n; j++) if ((row >> j) & 1) w += fields[j]!;
    return Math.exp(w);
  });
  const between = Array.from({ length: rows }, (_, row) => costs.reduce((sum, e, j) => ((row >> j) & 1 ? sum + e : sum), 0));
  const near = Array.from({ length: rows }, (_, row) => [row]);
  const sets = [...near, ...Array.from({ length: 30 }, () => near.flat().filter(() => pick() < 0.4))].filter(
    (set) => set.length > 0,
  );
  const worst = new Array<number>(n).fill(0);
  for (const set of sets) {
    const likely = weight.map((_, row) =>
      Math.exp(-set.reduce((least, at) => Math.min(least, between[row ^ at]!), Number.POSITIVE_INFINITY)),
    );
    for (let i = 0; i < n; i++) {
      const sums = [0, 0, 0, 0];
      for (let row = 0; row < rows; row++) {
        const at = (row >> i) & 1;
        sums[at]! += weight[row]!;
        sums[2 + at]! += weight[row]! * likely[row]!;
      }
      worst[i] = Math.max(worst[i]!, Math.abs(Math.log((sums[3]! * sums[0]!) / (sums[1]! * sums[2]!))));
    }
  }
  return worst;
}

/** Hill climbing for the model that leaks most relative to its bound; returns the largest ratio. */
function climb(models: number, bound: (n: number, ties: readonly Tie[], costs: Float64Array) => Float64Array): number {
  let most = 0;
  for (let k = 0; k < models; k++) {
    const n = 3 + (k % 3);
    const ties: Tie[] = [];
    for (let u = 0; u < n; u++) for (let v = u + 1; v < n; v++) if (pick() < 0.7) ties.push([u, v, Math.exp(3 * pick())]);
    let state = { fields: Array.from({ length: n }, () => 2 * pick() - 1), effects: Array.from({ length: n }, () => pick()) };
    const ratio = ({ fields, effects: costs }: typeof state) => {
      const most = bound(n, ties, Float64Array.from(costs));
      return exactLeaks(n, ties, fields, costs).reduce((m, leak, i) => Math.max(m, leak / most[i]!), 0);
    };
    let best = ratio(state);
    for (let step = 0; step < 6; step++) {
      const next = {
        fields: state.fields.map((f) => f * pick() + 0.3 * (pick() - 0.5)),
        effects: state.effects.map((e) => Math.abs(e + 0.3 * (pick() - 0.5))),
      };
      const found = ratio(next);
      if (found > best) [best, state] = [found, next];
    }
    most = Math.max(most, best);
  }
  return most;
}

describe('hill-climbing attacks on attractive ties', () => {
  const models = Number(process.env.FUGU_CLIMBS ?? 60);
  test('no prior and no release leaks more than the bound', { timeout: 3_600_000 }, () => {
    const most = climb(models, (n, ties, costs) => attractiveBound(graphOf(n, ties), costs));
    expect(most).toBeLessThanOrEqual(1 + 1e-12);
    expect(most).toBeGreaterThan(0.9);
  });
  test('the attack breaks a bound for ties a tenth weaker, and one that forgets the last tie', () => {
    const weaker = (ties: readonly Tie[]) => ties.map(([u, w, ratio]): Tie => [u, w, ratio ** 0.9]);
    expect(climb(60, (n, ties, costs) => attractiveBound(graphOf(n, weaker(ties)), costs))).toBeGreaterThan(1.001);
    expect(climb(60, (n, ties, costs) => attractiveBound(graphOf(n, ties.slice(1)), costs))).toBeGreaterThan(1.001);
  });
});

describe('attractive ties of a model', () => {
  const model = (factors: readonly ModelFactor[], values = 2): Model => ({
    ids: ['a', 'b', 'c'],
    values: Array.from({ length: 3 }, () => Array.from({ length: values }, (_, v) => v)),
    factors,
  });
  const together = (u: number, w: number): ModelFactor => ({ records: [u, w], table: Float64Array.of(3, 1, 1, 3) });
  const repelling = (u: number, w: number): ModelFactor => ({ records: [u, w], table: Float64Array.of(1, 3, 3, 1) });
  const declared = (u: number, w: number, pull?: 'alike'): ModelFactor => ({
    records: [u, w],
    oddsRatio: 9,
    ...(pull && { pull }),
  });
  const worst = (m: Model) => leakageBounds(m, 0.1, 'informed').worst.leakage;
  const [exact] = enumerate(
    3,
    [
      [0, 1, 9],
      [0, 2, 9],
      [1, 2, 9],
    ],
    [0.1, 0.1, 0.1],
  );

  test('a table shows whether its tie is attractive', () => {
    expect(worst(model([together(0, 1), together(1, 2), together(0, 2)]))).toBeCloseTo(exact!, 12);
    expect(worst(model([repelling(0, 1), together(1, 2), repelling(0, 2)]))).toBeCloseTo(exact!, 12);
  });
  test('a component is not covered if no renaming of values makes all its ties attractive', () => {
    expect(worst(model([repelling(0, 1), together(1, 2), together(0, 2)]))).toBeGreaterThan(exact! + 1e-3);
    const twice = model([
      together(0, 1),
      { records: [1, 0], table: Float64Array.of(1, 2, 2, 1) },
      together(1, 2),
      together(0, 2),
    ]);
    expect(leakageBounds(twice, 0.1, 'informed').method).not.toContain('pull together');
  });
  test('an odds ratio is attractive only if the model declares it', () => {
    expect(worst(model([declared(0, 1, 'alike'), declared(1, 2, 'alike'), declared(0, 2, 'alike')]))).toBeCloseTo(exact!, 12);
    expect(worst(model([declared(0, 1, 'alike'), declared(1, 2, 'alike'), declared(0, 2)]))).toBeGreaterThan(exact! + 1e-3);
  });
  test('a record with three values is not covered', () => {
    const three: ModelFactor = { records: [0, 1], table: Float64Array.of(3, 1, 1, 1, 3, 1, 1, 1, 3) };
    const all = [three, { ...three, records: [1, 2] }, { ...three, records: [0, 2] }];
    expect(leakageBounds(model(all, 3), 0.1, 'informed').method).not.toContain('pull together');
  });
});
