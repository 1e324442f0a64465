import type { FriendshipModel } from '../src/analysis/learn/odds/friendship-model.js';
import { FriendCoefficients } from '../src/evaluate/papers/dependent-tuples/friend-model.js';
import { quiltOnChain } from '../src/evaluate/papers/pufferfish/markov-quilt.js';
import { type Bench, few, inPairs, secondsOf, timed } from './bench.js';

/** A fixed synthetic sequence of numbers in (0,1): the figures must not change from run to run. */
function stream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

/** Meter readings: a level tends to stay or move a little, and may jump anywhere. */
function sticky(states: number, stay: number): number[][] {
  const next = stream(7);
  return Array.from({ length: states }, (_, s) => {
    const weights = Array.from({ length: states }, (_, t) => (0.2 + next()) * (0.05 + Math.exp(-Math.abs(s - t) / 3)));
    const total = weights.reduce((sum, w) => sum + w, 0);
    return weights.map((w, t) => ((1 - stay) * w) / total + (s === t ? stay : 0));
  });
}

const side = 20;
const edges = 47_502;
const next = stream(11);
/** Every friendship with a distribution of its own, so that nothing can be memoized. */
const laws: readonly FriendshipModel[] = Array.from({ length: edges }, () => ({ b: 0.1 + next() / 5, c: 1 + next() / 10 }));

/** The definition for one friendship: every pair of places. */
function definition({ b, c }: FriendshipModel, scale: number): number {
  let worst = 0;
  for (let u = 0; u < side * side; u++) {
    let mass = 0;
    let mean = 0;
    for (let v = 0; v < side * side; v++) {
      const [x, y, s, t] = [Math.floor(u / side), u % side, Math.floor(v / side), v % side];
      const weight = (Math.abs(x - s) + Math.abs(y - t) + b) ** -c;
      mass += weight;
      mean += weight * Math.exp((Math.max(s, side - 1 - s) + Math.max(t, side - 1 - t)) / scale);
    }
    worst = Math.max(worst, mean / mass);
  }
  return (Math.log(worst) * scale) / (2 * (side - 1));
}

const chain = (initial: 'stationary' | 'any', stay: number): Bench => ({
  name: `Markov quilt, T=1e6, 50 states, ends included, ${initial} start, stay +${stay}`,
  goal: { seconds: 0.5 },
  run: async () => {
    const transition = sticky(50, stay);
    return timed(() => quiltOnChain({ transition, initial, length: 1_000_000 }, 1));
  },
});

export const benches: readonly Bench[] = [
  {
    name: 'Eq. 26 + 18 coefficients, 47,502 friendships each with its own law, 20x20 grid',
    goal: { seconds: 1 },
    run: async () => {
      const ours = secondsOf(() => new FriendCoefficients({ side, step: 1 }).at(10, laws));
      const sample = laws.slice(0, 20);
      const peer = secondsOf(() => sample.map((law) => definition(law, 10)), { calls: sample.length / edges });
      return inPairs(ours, 'cell by cell, extrapolated', peer, few);
    },
  },
  chain('stationary', 0),
  chain('stationary', 0.5),
  chain('any', 0),
];
