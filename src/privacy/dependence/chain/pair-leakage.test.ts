import { describe, expect, it } from 'vitest';
import { chainLeakage, type Spell, steadyChainLeakage } from './chain-leakage.js';
import { informedTransitions } from './chain-transitions.js';
import { pairLeakage, steadyPairLeakage } from './pair-leakage.js';
import { type PairTransitions, pairTransitions } from './pair-transitions.js';

type Matrix = readonly (readonly number[])[];

/** Deterministic: a run of the test is the same everywhere. */
function randomly(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
const rowsOf = (weights: readonly (readonly number[])[]): Matrix =>
  weights.map((row) => {
    const total = row.reduce((a, b) => a + b, 0);
    return row.map((x) => x / total);
  });
const each = (costs: readonly number[]): Spell[] => costs.map((cost, t) => ({ from: t, to: t, cost }));
const chainOf = (transitions: ReturnType<typeof informedTransitions>, last: number) => ({
  first: 0,
  last,
  transitions: [transitions],
  gaps: false,
  window: 1,
});
const withoutPairs = (m: Matrix) => {
  const { pairs: _, ...rest } = informedTransitions([m]);
  return rest;
};

/** Persistent states, two of them alike, so that pairs of values differ in how well they can be distinguished. */
const uneven = rowsOf([
  [90, 9, 1, 0.2],
  [8, 91, 1, 0.2],
  [1, 1, 60, 38],
  [0.2, 0.2, 40, 59.6],
]);

describe('bounds for each pair of values', () => {
  it('the bounds by pairs are never above that of the largest odds ratio, and sometimes below it', () => {
    const random = randomly(4);
    let gains = 0;
    for (let k = 0; k < 200; k++) {
      const n = 2 + (k % 4);
      const m = rowsOf(Array.from({ length: n }, () => Array.from({ length: n }, () => 0.02 + random() ** 3)));
      const spells = each(Array.from({ length: 6 }, () => Math.floor(random() * 4) / 3));
      const whole = chainLeakage(chainOf(withoutPairs(m), 5), spells);
      const bounded = chainLeakage(chainOf(informedTransitions([m]), 5), spells);
      expect(bounded).toBeLessThanOrEqual(whole);
      if (n === 2) expect(bounded).toBeCloseTo(whole, 9);
      if (bounded < 0.99 * whole) gains++;
    }
    expect(gains).toBeGreaterThan(20);
  });

  it('the bounds by pairs for long spells equal those of single steps, and are below the one without an end', () => {
    const transitions = informedTransitions([uneven]).pairs!;
    for (const cost of [0.01, 0.1, 1]) {
      const long = pairLeakage(transitions, [{ from: 0, to: 99_999, cost }]);
      const short = pairLeakage(transitions, each(new Array<number>(900).fill(cost)));
      expect(long).toBeGreaterThanOrEqual(short * (1 - 1e-12));
      expect(long / short).toBeLessThan(1 + 1e-3);
      expect(steadyPairLeakage(transitions, cost) / long).toBeCloseTo(1, 6);
      expect(steadyChainLeakage(chainOf(informedTransitions([uneven]), 9), cost)).toBeLessThanOrEqual(
        steadyPairLeakage(transitions, cost),
      );
    }
    // Spell after one with a larger cost, and a spell without cost.
    const [dear, cheap, none] = [1, 0.05, 0];
    const spells = [dear, cheap, none, cheap].map((cost, k) => ({ from: 700 * k, to: 700 * k + 699, cost }));
    const plain = each(spells.flatMap(({ cost }) => new Array<number>(700).fill(cost)));
    const [bounded, found] = [pairLeakage(transitions, spells), pairLeakage(transitions, plain)];
    expect(bounded).toBeGreaterThanOrEqual(found * (1 - 1e-12));
    expect(bounded / found).toBeLessThan(1 + 1e-3);
  });

  it('the bounds by pairs are infinite if nothing is forgotten, and the other bound applies', () => {
    const ring = [
      [0, 1, 0],
      [0, 0, 1],
      [1, 0, 0],
    ];
    const spells = [{ from: 0, to: 9, cost: 0.5 }];
    expect(chainLeakage(chainOf(informedTransitions([ring]), 9), spells)).toBeCloseTo(5, 9);
    expect(steadyChainLeakage(chainOf(informedTransitions([ring]), 9), 0.5)).toBe(Number.POSITIVE_INFINITY);
  });

  it('a declared backward matrix is read from the true end of the chain', () => {
    // Doubly stochastic and not symmetric: its backward matrix is its transpose.
    const m = rowsOf([
      [6, 3, 1],
      [1, 6, 3],
      [3, 1, 6],
    ]);
    const back = m.map((_, j) => m.map((row) => row[j]!));
    const spells = each([0.2, 0, 0.7, 0, 0.1]);
    const alone = chainLeakage(chainOf(informedTransitions([m]), 4), spells);
    expect(chainLeakage(chainOf(informedTransitions([m], [back]), 4), spells)).toBeCloseTo(alone, 9);
  });
});

/**
 * Hill climbing for the largest leakage over chains of three states and four steps: any start, any known steps, the least noise
 * that the costs permit, any target.
 */
function attacked(bound: (m: Matrix, costs: readonly number[]) => number, models: number) {
  const random = randomly(11);
  const whole = (n: number) => Math.floor(random() * n);
  const [n, steps, tries] = [3, 4, 40];
  const states = Array.from({ length: n ** steps }, (_, s) =>
    Array.from({ length: steps }, (_, t) => Math.floor(s / n ** t) % n),
  );
  let [violations, closest] = [0, 0];
  for (let k = 0; k < models; k += tries) {
    const costs = Array.from({ length: steps }, () => whole(5) / 3);
    const m = rowsOf(Array.from({ length: n }, () => Array.from({ length: n }, () => 0.01 + random() ** 4)));
    const most = bound(m, costs);
    let at = {
      start: Array.from({ length: n }, () => random() + 0.01),
      aims: [whole(states.length), whole(states.length)],
      about: whole(steps),
      known: Array.from({ length: steps }, () => random() < 0.3),
      seen: whole(states.length),
      values: [0, 1 + whole(2)] as [number, number],
    };
    const gain = ({ start, aims, about, known, seen, values }: typeof at): number => {
      const mass = [0, 0];
      const released = [0, 0];
      for (const x of states) {
        const v = values.indexOf(x[about]!);
        if (v < 0 || x.some((s, t) => t !== about && known[t] && s !== states[seen]![t])) continue;
        const p = start[x[0]!]! * x.slice(1).reduce((q, s, t) => q * m[x[t]!]![s]!, 1);
        const away = Math.min(...aims.map((aim) => states[aim]!.reduce((sum, s, t) => sum + (s === x[t] ? 0 : costs[t]!), 0)));
        mass[v]! += p;
        released[v]! += p * Math.exp(-away);
      }
      return Math.abs(Math.log(released[0]! / mass[0]! / (released[1]! / mass[1]!)));
    };
    let best = gain(at);
    for (let k = 0; k < tries; k++) {
      const next = {
        start: at.start.map((x) => (random() < 0.5 ? x * Math.exp(2 * random() - 1) : x)),
        aims: at.aims.map((x) => (random() < 0.3 ? whole(states.length) : x)),
        about: random() < 0.1 ? whole(steps) : at.about,
        known: at.known.map((x) => (random() < 0.1 ? !x : x)),
        seen: random() < 0.2 ? whole(states.length) : at.seen,
        values: random() < 0.1 ? ([whole(2), 2] as [number, number]) : at.values,
      };
      const found = gain(next);
      if (found > best) [at, best] = [next, found];
    }
    if (best > most + 1e-9) violations++;
    if (most > 0) closest = Math.max(closest, best / most);
  }
  return { violations, closest };
}

describe('hill-climbing attacks on the bounds by pairs', () => {
  /** FUGU_MODELS=100000 is the long run. */
  const models = Number(process.env.FUGU_MODELS ?? 10_000);
  const bounded = (transitions: (m: Matrix) => PairTransitions) => (m: Matrix, costs: readonly number[]) =>
    pairLeakage(transitions(m), each(costs));

  it('no start, no knowledge and no release leaks more than the bound', () => {
    const { violations, closest } = attacked(
      bounded((m) => informedTransitions([m]).pairs!),
      models,
    );
    expect(violations).toBe(0);
    expect(closest).toBeGreaterThan(0.95);
  });

  const one = (m: Matrix) => pairTransitions([{ steps: 1, tables: [{ rows: m, relative: 0 }] }]);
  it.each<[string, (m: Matrix) => PairTransitions]>([
    [
      'what the same two values pass to one another, and no others',
      (m) => {
        const { pairs, backward, forward } = one(m);
        const same = (leaps: PairTransitions['forward']) =>
          leaps.map(({ steps, contraction }) => ({
            steps,
            contraction: contraction.map((x, at) => (at % (pairs + 1) === 0 ? x : 0)),
          }));
        return { pairs, backward: same(backward), forward: same(forward) };
      },
    ],
    [
      'half of what passes',
      (m) => {
        const { pairs, backward, forward } = one(m);
        const half = (leaps: PairTransitions['forward']) =>
          leaps.map(({ steps, contraction }) => ({ steps, contraction: contraction.map((x) => x / 2) }));
        return { pairs, backward: half(backward), forward: half(forward) };
      },
    ],
    [
      'two steps for the price of one',
      (m) => {
        const square = m.map((row) => m.map((_, j) => row.reduce((sum, x, k) => sum + x * m[k]![j]!, 0)));
        return pairTransitions([{ steps: 1, tables: [{ rows: square, relative: 0 }] }]);
      },
    ],
  ])('the attack breaks a bound with %s', (_, wrong) => {
    expect(attacked(bounded(wrong), 10_000).violations).toBeGreaterThan(0);
  });
});
