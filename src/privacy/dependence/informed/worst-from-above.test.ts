import { describe, expect, it } from 'vitest';
import { unitRandom } from '../../../../test/worst-distribution.js';
import { type FactorGraph, fromPairs, withOdds } from '../graph/factor-graph.js';
import { propagate } from './belief-propagation.js';
import { layoutGraph } from './graph-layout.js';
import { informedBound, warmStart } from './informed.js';
import { pushOf } from './sweep.js';
import { worstFromAbove } from './worst-from-above.js';

function randomTies(records: number, pairs: number, odds: number, seed: number): FactorGraph {
  const next = unitRandom(seed);
  const ends = () => Uint32Array.from({ length: pairs }, () => Math.floor(next() * records));
  return fromPairs(records, ends(), ends(), odds);
}
const most = (leaks: Float64Array): number => leaks.reduce((m, x) => Math.max(m, x), 0);

describe('the worst leakage alone', () => {
  for (const [odds, cost, twin] of [
    [3, 0.5, 0],
    [3, 2, 0],
    [1.3, 0.1, 0],
    [20, 0.5, 0],
    [2, 0.1, 0.7],
  ] as const)
    it(`the bound lies above the result of all messages together, and close to it (odds ratio ${odds}, cost ${cost}, twin ${twin})`, () => {
      for (let seed = 1; seed <= 5; seed++) {
        const graph = randomTies(300, 320, Math.log(odds), seed);
        const costs = new Float64Array(300).fill(cost);
        const caps = new Float64Array(300).fill(400 * cost);
        const truth = most(propagate(graph, costs, caps, { twin }).leaks);
        const found = worstFromAbove(graph, {
          costs,
          caps,
          twin,
          pushed: pushOf(graph),
          known: (u) => caps[u]!,
          gain: 1e-2,
          pushes: 200,
        })!;
        expect(found).toBeGreaterThanOrEqual(truth * (1 - 1e-9));
        expect(found).toBeLessThanOrEqual(truth * 1.08);
      }
    });

  it('no result is returned if it would take longer than all messages', () => {
    const graph = randomTies(3000, 9000, Math.log(3), 7);
    const costs = new Float64Array(3000).fill(1e-4);
    const caps = new Float64Array(3000).fill(1);
    const options = { costs, caps, twin: 0, pushed: pushOf(graph), known: () => 1, gain: 1e-6, pushes: 1e-3 };
    expect(worstFromAbove(graph, options)).toBeUndefined();
  });
});

describe('messages of one small base as a start', () => {
  const small = 2 ** -30;
  const graph = randomTies(30_000, 31_000, Math.log(3), 3);
  const laid = layoutGraph(graph);
  const everybody = (cost: number) => new Float64Array(30_000).fill(cost);
  const start = warmStart(laid, everybody(small), small)!;

  it('the start gives bounds for larger costs of the same shape, without sending all messages again', () => {
    for (const cost of [1e-3, 0.02, 0.5]) {
      const truth = most(informedBound(graph, everybody(cost), laid).leaks);
      const found = most(informedBound(graph, everybody(cost), laid, { start, worst: 3e-4 }).leaks);
      expect(found).toBeGreaterThanOrEqual(truth * (1 - 5e-3));
      expect(found).toBeLessThanOrEqual(truth * 1.005);
    }
  });

  it('the start gives no bounds if some record spends more than it knows, or ties are stronger', () => {
    const half = Float64Array.from({ length: 30_000 }, (_, u) => (u % 2 ? small : 0));
    const less = warmStart(laid, half, small)!;
    const truth = most(informedBound(graph, everybody(0.02), laid).leaks);
    expect(most(informedBound(graph, everybody(0.02), laid, { start: less, worst: 3e-4 }).leaks)).toBeGreaterThanOrEqual(
      truth * (1 - 5e-3),
    );
    const stronger = layoutGraph(withOdds(graph, (d) => 2 * d));
    const strong = most(informedBound(stronger.graph, everybody(0.02), stronger).leaks);
    expect(most(informedBound(stronger.graph, everybody(0.02), stronger, { start, worst: 3e-4 }).leaks)).toBeGreaterThanOrEqual(
      strong * (1 - 5e-3),
    );
  });
});
