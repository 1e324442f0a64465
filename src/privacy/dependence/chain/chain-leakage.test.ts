import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorTime } from '../../../../test/processor-time.js';
import { fromNumber, parseRational, rational, toNumber } from '../../../base/exact/rational.js';
import { jointCostOn } from '../../mechanism/joint-costs.js';
import { everyRecord, slicingOf } from '../../mechanism/record-class.js';
import type { Slices } from '../../mechanism/slices.js';
import { fromPairs } from '../graph/factor-graph.js';
import { push } from '../graph/push.js';
import { leakageBounds } from '../leakage.js';
import { logOddsRatio } from '../model/odds.js';
import { type LossFunctions, lossFunction, temporalLeakage } from '../temporal/temporal.js';
import { chainAmplifier } from './chain-amplifier.js';
import { chainLeakage, type Spell, type StepChain, steadyChainLeakage } from './chain-leakage.js';
import { informedTransitions, oddsRatioTransitions, uninformedTransitions } from './chain-transitions.js';
import { backwardTransitions, stationaryDistribution } from './stationary.js';

type Matrix = readonly (readonly number[])[];
const matrices = (sizes: readonly number[]): fc.Arbitrary<Matrix> =>
  fc.constantFrom(...sizes).chain((n) =>
    fc
      .array(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: n, maxLength: n }), { minLength: n, maxLength: n })
      .map((rows) =>
        rows.map((row, i) => {
          const own = row.map((x, j) => x + (i === j ? 1 : 0));
          const total = own.reduce((a, b) => a + b, 0);
          return own.map((x) => x / total);
        }),
      ),
  );
/** Consecutive steps of one cost, some of it zero. */
const spells = (longest: number): fc.Arbitrary<readonly Spell[]> =>
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: longest }), fc.integer({ min: 0, max: 6 })), { minLength: 1, maxLength: 6 })
    .map((list) => {
      let from = 3;
      return list.map(([steps, cost]) => {
        const spell = { from, to: from + steps - 1, cost: cost / 8 };
        from += steps;
        return spell;
      });
    });
const eachStep = (list: readonly Spell[]): Float64Array =>
  Float64Array.from(list.flatMap(({ from, to, cost }) => new Array<number>(to - from + 1).fill(cost)));
const chainOf = (list: readonly Spell[], transitions: readonly LossFunctions[], more: Partial<StepChain> = {}): StepChain => ({
  first: list[0]!.from,
  last: list.at(-1)!.to,
  transitions,
  gaps: false,
  window: 1,
  ...more,
});

/** Step by step, as the recursion is written. */
function plainly(costs: Float64Array, { backward, forward }: LossFunctions, window = 1): number {
  const past = new Float64Array(costs.length);
  const future = new Float64Array(costs.length);
  for (let t = 1; t < costs.length; t++) past[t] = backward(past[t - 1]! + costs[t - 1]!);
  for (let t = costs.length - 2; t >= 0; t--) future[t] = forward(future[t + 1]! + costs[t + 1]!);
  const width = Math.min(window, costs.length);
  let worst = 0;
  for (let t = 0; t + width <= costs.length; t++) {
    const own = costs.subarray(t, t + width).reduce((a, b) => a + b, 0);
    worst = Math.max(worst, past[t]! + own + future[t + width - 1]!);
  }
  return worst;
}

describe('the leakage of a chain', () => {
  it('the leakage of a chain equals that of the graph of its steps', () => {
    fc.assert(
      fc.property(spells(6), fc.double({ min: 0, max: 8, noNaN: true }), (list, d) => {
        const costs = eachStep(list);
        const left = Uint32Array.from({ length: costs.length - 1 }, (_, t) => t);
        const graph = fromPairs(
          costs.length,
          left,
          left.map((t) => t + 1),
          d,
        );
        const exact = leakageBounds(graph, costs, 'informed').worst.leakage;
        expect(chainLeakage(chainOf(list, [oddsRatioTransitions(d)]), list)).toBeCloseTo(exact, 11);
      }),
      { numRuns: 300 },
    );
  });

  it('the leakage of a chain with known tables equals the temporal leakage, the worst of a set of tables', () => {
    fc.assert(
      fc.property(spells(8), matrices([2, 3, 4]), matrices([2, 3]), matrices([2, 3]), (list, backward, forward, other) => {
        const over = { backward: lossFunction(backward), forward: lossFunction(forward) };
        const more = { backward: lossFunction(other), forward: lossFunction(other) };
        const most = (transition: LossFunctions) =>
          temporalLeakage(eachStep(list), transition).leakage.reduce((a, b) => Math.max(a, b), 0);
        expect(chainLeakage(chainOf(list, [over]), list)).toBeCloseTo(most(over), 11);
        expect(chainLeakage(chainOf(list, [over, more]), list)).toBeCloseTo(Math.max(most(over), most(more)), 11);
      }),
      { numRuns: 200 },
    );
  });

  it('the leakage of long spells equals that of single steps, for little, no and full forgetting', () => {
    fc.assert(
      fc.property(
        spells(4000),
        fc.constantFrom(0, 1, 4, 9, 14, 20, Number.POSITIVE_INFINITY),
        fc.integer({ min: 1, max: 9 }),
        (list, d, window) => {
          const cheap = list.map((s) => ({ ...s, cost: s.cost / 50 }));
          const plain = plainly(eachStep(cheap), { backward: (x) => push(x, d), forward: (x) => push(x, d) }, window);
          const bounded = chainLeakage(chainOf(cheap, [oddsRatioTransitions(d)], { window }), cheap);
          expect(bounded).toBeGreaterThanOrEqual(plain * (1 - 1e-9));
          // A spell that converges only after the steps computed singly is bounded by its fixed point, which is looser.
          expect(bounded).toBeLessThanOrEqual(plain * (d > 9 && d < 100 ? 1.5 : 1 + 1e-3) + 1e-12);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('the leakage with gaps covers every way to skip steps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 2, maxLength: 7 }),
        fc.double({ min: 0.1, max: 6, noNaN: true }),
        (list, d) => {
          const through = { backward: (x: number) => push(x, d), forward: (x: number) => push(x, d) };
          const own = list.map((cost, t) => ({ from: t, to: t, cost: cost / 4 }));
          let worst = 0;
          for (let kept = 1; kept < 2 ** list.length; kept++)
            worst = Math.max(
              worst,
              plainly(
                Float64Array.from(
                  own.filter((_, t) => (kept >> t) & 1),
                  ({ cost }) => cost,
                ),
                through,
              ),
            );
          expect(chainLeakage(chainOf(own, [oddsRatioTransitions(d)], { gaps: true }), own)).toBeCloseTo(worst, 10);
          // Without gaps, neighbouring steps may lie further from each other, which only lowers the bound.
          expect(chainLeakage(chainOf(own, [oddsRatioTransitions(d)]), own)).toBeLessThanOrEqual(worst + 1e-10);
        },
      ),
      { numRuns: 150 },
    );
  });
});

/** Deterministic: a run of the test is the same everywhere. */
function randomly(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Largest leakage of a window over random two-state chains of five steps: any start, any matrix with the odds ratio, any target,
 * any known steps.
 */
function attacked(bound: (costs: readonly number[], d: number, window: number) => number, models: number) {
  const random = randomly(5);
  const whole = (n: number) => Math.floor(random() * n);
  const steps = 5;
  const each = 100;
  let [violations, closest] = [0, 0];
  const bit = (s: number, t: number) => (s >> t) & 1;
  for (let m = 0; m < models; m += each) {
    const costs = Array.from({ length: steps }, () => whole(6) / 5);
    const d = Math.log([2, 9, 81][whole(3)]!);
    const window = 1 + whole(3);
    const most = bound(costs, d, window);
    const start = whole(steps - window + 1);
    const inside = ((1 << window) - 1) << start;
    let at = {
      tilts: Array.from({ length: steps }, () => 4 * random() - 2),
      pulls: Array.from({ length: steps - 1 }, () => (random() < 0.7 ? 1 : 2 * random() - 1)),
      aim: [whole(32), whole(32)],
      known: whole(32) & ~inside,
      seen: whole(32),
      values: [whole(2 ** window), whole(2 ** window)] as [number, number],
    };
    const gain = ({ tilts, pulls, aim, known, seen, values }: typeof at): number => {
      const [mass, released] = [
        [0, 0],
        [0, 0],
      ];
      for (let s = 0; s < 2 ** steps; s++) {
        if ((s & known) !== (seen & known)) continue;
        let log = 0;
        for (let t = 0; t < steps; t++) log += bit(s, t) * tilts[t]!;
        for (let t = 0; t + 1 < steps; t++) log += ((bit(s, t) === bit(s, t + 1) ? 1 : -1) * pulls[t]! * d) / 4;
        let distance = Number.POSITIVE_INFINITY;
        for (const a of aim) {
          let away = 0;
          for (let t = 0; t < steps; t++) if (bit(s, t) !== bit(a, t)) away += costs[t]!;
          distance = Math.min(distance, away);
        }
        values.forEach((v, k) => {
          if ((s & inside) >> start !== v) return;
          mass[k]! += Math.exp(log);
          released[k]! += Math.exp(log - distance);
        });
      }
      return Math.log(released[0]! / mass[0]! / (released[1]! / mass[1]!));
    };
    let best = gain(at);
    for (let k = 0; k < each; k++) {
      const next = {
        tilts: at.tilts.map((x) => (random() < 0.5 ? x + (random() - 0.5) * 2 : x)),
        pulls: at.pulls.map((x) => (random() < 0.2 ? Math.max(-1, Math.min(1, x + random() - 0.5)) : x)),
        aim: at.aim.map((x) => (random() < 0.2 ? x ^ (1 << whole(steps)) : x)),
        known: random() < 0.1 ? whole(32) & ~inside : at.known,
        seen: random() < 0.1 ? whole(32) : at.seen,
        values: at.values.map((x) => (random() < 0.2 ? whole(2 ** window) : x)) as [number, number],
      };
      const found = gain(next);
      if (found > best) [at, best] = [next, found];
    }
    if (best > most + 1e-9) violations++;
    if (most > 0) closest = Math.max(closest, best / most);
  }
  return { violations, closest };
}

describe('a window of steps', () => {
  /** FUGU_MODELS=100000 is the long run. */
  const models = Number(process.env.FUGU_MODELS ?? 10_000);
  const steps = (costs: readonly number[]) => costs.map((cost, t) => ({ from: t, to: t, cost }));
  const bound = (costs: readonly number[], d: number, window: number) =>
    chainLeakage(chainOf(steps(costs), [oddsRatioTransitions(d)], { window }), steps(costs));

  it('a window leaks no more than its bound to an attacker who knows any other steps', () => {
    const { violations, closest } = attacked(bound, models);
    expect(violations).toBe(0);
    expect(closest).toBeGreaterThan(0.995);
  });

  it.each<[string, typeof bound]>([
    ['one step of it counted', (costs, d) => bound(costs, d, 1)],
    [
      'nothing flowing in from the future',
      (costs, d, window) =>
        chainLeakage(chainOf(steps(costs), [{ backward: (x) => push(x, d), forward: () => 0 }], { window }), steps(costs)),
    ],
    ['the tie half as strong', (costs, d, window) => bound(costs, d / 2, window)],
  ])('the attack breaks a bound with %s', (_, wrong) => {
    expect(attacked(wrong, 10_000).violations).toBeGreaterThan(0);
  });
});

describe('leaps over several steps', () => {
  /** Exact leakage of a chain of two or three states, with the least noise that the costs permit and any state as the target. */
  it('a leap leaks no more than its bound, even if one step determines the next', () => {
    const random = randomly(21);
    const models = Number(process.env.FUGU_MODELS ?? 10_000) / 100;
    let closest = 0;
    let gains = 0;
    for (let k = 0; k < models; k++) {
      const n = 2 + (k % 2);
      const steps = 5;
      // Some transitions are impossible.
      const m = Array.from({ length: n }, (_, i) => {
        const row = Array.from({ length: n }, (_, j): number =>
          random() < 0.35 && i !== j ? 0 : random() < 0.2 && i === j ? 0 : random() + 0.02,
        );
        if (!row.some((x) => x > 0)) row[(i + 1) % n] = 1;
        const total = row.reduce((a, b) => a + b, 0);
        return row.map((x) => x / total);
      });
      const stationary = stationaryDistribution(m);
      if (!stationary) continue;
      const costs = Array.from({ length: steps }, () => Math.floor(random() * 5) / 4);
      const own = costs.map((cost, t) => ({ from: t, to: t, cost }));
      const start = k % 4 < 2 ? stationary.distribution : Float64Array.from({ length: n }, () => random() + 0.01);
      const informed = k % 3 === 0;
      const past = k % 4 < 2 ? ({ stationary } as const) : 'free';
      const transition = informed ? informedTransitions([m]) : uninformedTransitions(m, past);
      const most = chainLeakage(chainOf(own, [transition]), own);
      const { far: _, ...near } = transition;
      if (most < chainLeakage(chainOf(own, [near]), own) - 1e-9) gains++;
      const states = Array.from({ length: n ** steps }, (_, s) =>
        Array.from({ length: steps }, (_, t) => Math.floor(s / n ** t) % n),
      );
      const weight = states.map((x) => start[x[0]!]! * x.slice(1).reduce((p, v, t) => p * m[x[t]!]![v]!, 1));
      for (let tries = 0; tries < 100; tries++) {
        const aims = Array.from({ length: 1 + Math.floor(random() * 3) }, () => states[Math.floor(random() * states.length)]!);
        const about = Math.floor(random() * steps);
        const seen = states[Math.floor(random() * states.length)]!;
        const known = informed ? Array.from({ length: steps }, (_, t) => t !== about && random() < 0.4) : [];
        const mass = new Float64Array(n);
        const released = new Float64Array(n);
        states.forEach((x, s) => {
          if (weight[s] === 0 || known.some((is, t) => is && x[t] !== seen[t])) return;
          const away = Math.min(...aims.map((aim) => aim.reduce((sum, v, t) => sum + (v === x[t] ? 0 : costs[t]!), 0)));
          mass[x[about]!]! += weight[s]!;
          released[x[about]!]! += weight[s]! * Math.exp(-away);
        });
        const odds = [...mass.keys()].filter((v) => mass[v]! > 0).map((v) => Math.log(released[v]! / mass[v]!));
        const gain = odds.length > 0 ? Math.max(...odds) - Math.min(...odds) : 0;
        expect(gain).toBeLessThanOrEqual(most + 1e-9);
        if (most > 0) closest = Math.max(closest, gain / most);
      }
    }
    expect(gains).toBeGreaterThan(0);
    expect(closest).toBeGreaterThan(0.99);
  });

  it('leaps need less noise than group privacy if some transitions are impossible', () => {
    const ring = Array.from({ length: 4 }, (_, i) =>
      Array.from({ length: 4 }, (_, j) => (j === i ? 0.5 : j === (i + 1) % 4 ? 0.5 : 0)),
    );
    for (const who of ['informed', 'uninformed'] as const) {
      const scale = 1 / toNumber(amplifier(ring, 1000, who).largestBase(parseRational('1')));
      expect(scale).toBeLessThan(100);
    }
  });
});

describe('leaps over long and short spells', () => {
  /** Least over leaps at every step from one end, as the recursion is written. */
  function flows(costs: Float64Array, leaps: readonly { steps: number; carried: (x: number) => number }[]): Float64Array {
    const released = new Float64Array(costs.length);
    for (let t = 1; t < costs.length; t++) {
      let least = Number.POSITIVE_INFINITY;
      let between = 0;
      let k = 1;
      for (const { steps, carried } of leaps) {
        for (; k < steps; k++) between += costs[t - k] ?? 0;
        least = Math.min(least, between + (t >= steps ? carried(released[t - steps]! + costs[t - steps]!) : 0));
      }
      released[t] = least;
    }
    return released;
  }

  it('the result equals the written recursion, and is never below it', () => {
    const random = randomly(31);
    for (let k = 0; k < 10; k++) {
      const n = 2 + (k % 3);
      const m = Array.from({ length: n }, (_, i) => {
        const row = Array.from({ length: n }, (_, j) => 0.05 + random() ** 3 + (i === j ? 3 * random() : 0));
        const total = row.reduce((a, b) => a + b, 0);
        return row.map((x) => x / total);
      });
      // Large and small costs, long and short spells, some with zero cost.
      let from = 0;
      const list = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
        const steps = [1, 7, 150, 600, 5000][Math.floor(random() * 5)]!;
        const spell = { from, to: from + steps - 1, cost: [0, 0.004, 0.05, 0.8][Math.floor(random() * 4)]! };
        from += steps;
        return spell;
      });
      const { pairs: _, ...informed } = informedTransitions([m]);
      const transition = k % 2 ? informed : uninformedTransitions(m, { stationary: stationaryDistribution(m)! });
      const side = (direction: 'backward' | 'forward') => [
        { steps: 1, carried: transition[direction] },
        ...transition.far!.map((far) => ({ steps: far.steps, carried: far[direction] })),
      ];
      const costs = eachStep(list);
      const past = flows(costs, side('backward'));
      const future = flows(costs.toReversed(), side('forward')).reverse();
      const plain = costs.reduce((most, cost, t) => Math.max(most, past[t]! + cost + future[t]!), 0);
      const bounded = chainLeakage(chainOf(list, [transition]), list);
      expect(bounded).toBeGreaterThanOrEqual(plain * (1 - 1e-12));
      expect(bounded).toBeLessThanOrEqual(plain * (1 + 1e-3) + 1e-12);
    }
  });
});

describe('the stationary distribution of a chain', () => {
  it('every entry of the stationary distribution is correct within its stated error', () => {
    fc.assert(
      fc.property(matrices([2, 3, 5, 8]), (m) => {
        const found = stationaryDistribution(m);
        if (!found) return;
        const { distribution: transition, relative } = found;
        expect(relative).toBeLessThan(1e-11);
        for (const [j, x] of transition.entries())
          expect(m.reduce((sum, row, i) => sum + transition[i]! * row[j]!, 0)).toBeCloseTo(x, 12);
        const back = backwardTransitions(m, found);
        for (const [now, row] of back.entries())
          for (const [before, x] of row.entries())
            expect(x * transition[now]!).toBeCloseTo(transition[before]! * m[before]![now]!, 12);
      }),
    );
  });

  it('the stationary distribution is correct for rare states', () => {
    const m = [
      [1 - 1e-9, 1e-9],
      [0.5, 0.5],
    ];
    expect(stationaryDistribution(m)!.distribution[1]! / (2e-9 / (1 + 2e-9))).toBeCloseTo(1, 12);
  });

  it('a chain with an absorbing or unreachable state has no stationary distribution', () => {
    expect(
      stationaryDistribution([
        [1, 0],
        [0.5, 0.5],
      ]),
    ).toBeUndefined();
    expect(
      stationaryDistribution([
        [0.5, 0.5],
        [0, 1],
      ]),
    ).toBeUndefined();
    expect(
      stationaryDistribution([
        [1, 0],
        [0, 1],
      ]),
    ).toBeUndefined();
  });

  it('the leakage over four steps from the stationary distribution equals the one by brute force', () => {
    // Randomised response of 0.5 per step over the stationary chain: mechanisms.md, by enumeration.
    const m = [
      [0.8, 0.2],
      [0.3, 0.7],
    ];
    const over = { forward: lossFunction(m), backward: lossFunction(backwardTransitions(m, stationaryDistribution(m)!)) };
    expect([...temporalLeakage(new Float64Array(4).fill(0.5), over).leakage]).toEqual(
      [0.937062, 1.12961, 1.12961, 0.937062].map((x) => expect.closeTo(x, 6)),
    );
  });
});

/** Two states, each kept with probability p. */
const symmetric = (p: number): Matrix => [
  [p, 1 - p],
  [1 - p, p],
];
const amplifier = (m: Matrix, steps: number, transitions: 'informed' | 'uninformed', window = 1) => {
  const d = logOddsRatio(Float64Array.from(m.flat()), [m.length, m.length], 0);
  return chainAmplifier({
    name: 'chain',
    first: 0,
    last: steps - 1,
    order: slicingOf('week', 'd'),
    transitions: [
      transitions === 'informed'
        ? informedTransitions([m])
        : uninformedTransitions(m, { stationary: stationaryDistribution(m)! }),
    ],
    logOdds: d,
    gaps: false,
    window,
    assumptions: [],
    method: '',
    alone: true,
  });
};

describe('the noise of a chain', () => {
  // Stay-probability, epsilon, scale of Markov Quilt, of the calculus against either attacker on a long chain: by other programs.
  const anchors = [
    [0.6, '0.2', 29.76, 7.5, 7.49],
    [0.8, '0.2', 106.46, 19.99, 19.97],
    [0.8, '1', 13.08, 3.96, 3.85],
    [0.9, '1', 31.74, 8.91, 8.64],
    [0.95, '1', 68.79, 18.8, 18.23],
    [0.95, '5', 3.77, 2.97, 1.6],
  ] as const;
  it.each(anchors)(
    'the noise at stay %d and epsilon %s is that of the calculus, a third of Markov Quilt below epsilon 1',
    (p, epsilon, quilt, informed, uninformed) => {
      const scale = (who: 'informed' | 'uninformed') =>
        1 / toNumber(amplifier(symmetric(p), 1000, who).largestBase(parseRational(epsilon)));
      expect(scale('informed')).toBeCloseTo(informed, 1);
      expect(scale('uninformed')).toBeCloseTo(uninformed, 1);
      expect(scale('informed')).toBeLessThan(quilt);
      if (Number(epsilon) <= 1) expect(scale('informed')).toBeLessThan(quilt / 3);
    },
  );

  it('the noise and the remaining budget are found at once for a million steps of fifty states', async () => {
    const random = randomly(9);
    const m = Array.from({ length: 50 }, (_, i) => {
      const row = Array.from({ length: 50 }, (_, j) => random() + (i === j ? 200 : 0));
      const total = row.reduce((a, b) => a + b, 0);
      return row.map((x) => x / total);
    });
    for (const who of ['informed', 'uninformed'] as const) {
      const made = amplifier(m, 1_000_000, who);
      const took = await processorTime(() => made.largestBase(parseRational('1')));
      const base = made.largestBase(parseRational('1'));
      if (process.env.FUGU_TIMES) console.log(who, 'calibrated in', took, 'units', 'base', toNumber(base));
      expect(took).toBeLessThan(500);
      const weekly = jointCostOn([{ ranges: [{ from: 0, to: 499_999 }], missing: false }], base) as Slices;
      const now = performance.now();
      const leak = made.leakage({ slicing: slicingOf('week', 'd'), costs: weekly });
      if (process.env.FUGU_TIMES) console.log(who, 'leakage in', performance.now() - now, 'ms');
      expect(leak).toBeLessThanOrEqual(1);
      expect(leak).toBeGreaterThan(0.99);
    }
  });

  it('the bound of a window consists of the costs inside and the messages into it', () => {
    const scale = (window: number) =>
      1 / toNumber(amplifier(symmetric(0.9), 100, 'informed', window).largestBase(parseRational('1')));
    expect(scale(4)).toBeGreaterThan(scale(1) + 1.5);
    expect(scale(4)).toBeLessThan(scale(1) + 3.1);
    expect(scale(100)).toBeCloseTo(100, 6);
    const made = amplifier(symmetric(0.9), 100, 'informed', 4);
    expect(made.leakage(rational(1, 10))).toBeGreaterThan(amplifier(symmetric(0.9), 100, 'informed').leakage(rational(1, 10)));
    expect(made.scope(everyRecord)).toBe(true);
    expect(made.leakage(fromNumber(0))).toBe(0);
  });
});

describe('the leakage of windows without an end', () => {
  it('the leakage without an end is at least that of a window in a long chain, and counts every step of the window', () => {
    for (const window of [1, 2, 5]) {
      const chain = { first: 1, last: 400, transitions: [oddsRatioTransitions(Math.log(9))], gaps: false, window };
      const found = chainLeakage(chain, [{ from: 1, to: 400, cost: 0.1 }]);
      const steady = steadyChainLeakage(chain, 0.1);
      expect(steady).toBeCloseTo(found, 6);
    }
  });
});
