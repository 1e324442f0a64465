import { chainScale } from '../src/evaluate/papers/compare/calculus.js';
import { type FactorGraph, fromPairs } from '../src/privacy/dependence/graph/factor-graph.js';
import { push } from '../src/privacy/dependence/graph/push.js';
import { informedBound } from '../src/privacy/dependence/informed/informed.js';
import { type Bench, few, inRounds, secondsOf, timed, timedBeside } from './bench.js';

/** The same numbers in every run (mulberry32); nothing here is noise. */
function repeatable(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Record k is tied to a random earlier record. */
function randomForest(records: number): FactorGraph {
  const next = repeatable(1);
  const left = Uint32Array.from({ length: records - 1 }, (_, k) => k + 1);
  const right = Uint32Array.from({ length: records - 1 }, (_, k) => Math.floor(next() * (k + 1)));
  return fromPairs(records, left, right, Math.log(4));
}

/**
 * Ties with one end uniform and the other skewed towards small numbers, so that there are hubs;
 * odds ratio set for the wanted spectral radius of tanh(D/4).
 */
function looped(records: number, edges: number, radius: number): { graph: FactorGraph; t: number } {
  const next = repeatable(2);
  const left = Uint32Array.from({ length: edges }, () => Math.floor(next() * records));
  const right = Uint32Array.from({ length: edges }, () => Math.floor(next() ** 1.5 * records));
  const plain = fromPairs(records, left, right, 1);
  let vector = new Float64Array(records).fill(1 / Math.sqrt(records));
  let largest = 1;
  for (let k = 0; k < 60; k++) {
    const image = spread(plain, vector);
    largest = Math.hypot(...chunkNorms(image));
    vector = image.map((x) => x / largest);
  }
  const t = radius / largest;
  return { graph: fromPairs(records, left, right, 4 * Math.atanh(t)), t };
}

/** Adjacency times a vector. */
function spread({ member }: FactorGraph, vector: Float64Array): Float64Array<ArrayBuffer> {
  const out = new Float64Array(vector.length);
  for (let p = 0; p < member.length; p += 2) {
    out[member[p]!]! += vector[member[p + 1]!]!;
    out[member[p + 1]!]! += vector[member[p]!]!;
  }
  return out;
}
function chunkNorms(x: Float64Array): number[] {
  const norms: number[] = [];
  for (let k = 0; k < x.length; k += 4096) norms.push(Math.hypot(...x.subarray(k, k + 4096)));
  return norms;
}

/** The peer: (I - T)^-1 e by its series, which counts walks that go back and forth, to the same three digits. */
function linearSeries(graph: FactorGraph, t: number, base: number): Float64Array {
  let sum = new Float64Array(graph.records).fill(base);
  for (let k = 0; k < 40; k++) sum = spread(graph, sum).map((x) => base + t * x);
  return sum;
}

export const benches: readonly Bench[] = [
  {
    name: 'push, one call',
    run: async () => {
      let _sink = 0;
      const calls = 40_000;
      const ours = () => {
        for (let k = 1; k <= calls; k++) _sink += push(k * 1e-4, 1.3);
      };
      const peer = () => {
        for (let k = 1; k <= calls; k++) _sink += 4 * Math.atanh(Math.tanh(k * 2.5e-5) * Math.tanh(0.325));
      };
      return timedBeside('Math.atanh and tanh, not rounded up', ours, peer, { rounds: 25, calls });
    },
  },
  {
    name: 'leakage, forest of 1e6 records',
    goal: { seconds: 0.5 },
    run: async () => {
      const graph = randomForest(1_000_000);
      const effects = new Float64Array(graph.records).fill(0.01);
      return timed(() => informedBound(graph, effects));
    },
  },
  {
    name: 'leakage, 200k records, 950k ties, spectral radius .8',
    goal: { seconds: 5 },
    run: async () => {
      const { graph, t } = looped(200_000, 950_000, 0.8);
      const base = 0.01;
      const effects = new Float64Array(graph.records).fill(base);
      const bound = informedBound(graph, effects);
      if (bound.capped) throw new Error('a cap decided: that does not count');
      const linear = linearSeries(graph, t, base);
      const worst = bound.leaks.reduce((m, x, i) => Math.max(m, x / linear[i]!), 0);
      if (!(worst <= 2)) throw new Error(`the bound is ${worst} times the linear series`);
      return timedBeside(
        `linear series, not certified; our bound is at most ${worst.toFixed(2)}x of it`,
        () => informedBound(graph, effects),
        () => linearSeries(graph, t, base),
        { rounds: few },
      );
    },
  },
  ...(['informed', 'uninformed'] as const).map(
    (adversary): Bench => ({
      name: `chain of 1,000,000 steps and 50 states: calibrated, ${adversary}`,
      goal: { seconds: 0.5 },
      run: async () => {
        const next = repeatable(3);
        const newTransition = () =>
          Array.from({ length: 50 }, (_, i) => {
            const row = Array.from({ length: 50 }, (_, j) => next() + (i === j ? 200 : 0));
            const total = row.reduce((a, b) => a + b, 0);
            return row.map((x) => x / total);
          });
        // A chain of its own in every round, because a process calibrates one only once.
        return inRounds(() => {
          const transition = newTransition();
          return secondsOf(() => chainScale({ transition, initial: 'stationary', length: 1_000_000 }, 1, 1, adversary), {
            warm: false,
          })();
        });
      },
    }),
  ),
];
