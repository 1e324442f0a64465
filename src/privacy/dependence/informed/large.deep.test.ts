import { describe, expect, it } from 'vitest';
import { unitRandom } from '../../../../test/worst-distribution.js';
import { distinctComponents } from '../graph/distinct.js';
import { type FactorGraph, fromPairs, withOdds } from '../graph/factor-graph.js';
import { withPendants, withTwins } from '../graph/one-more-tie.js';
import { largeWhatIf } from '../large-what-if.js';
import { leakageCalculator } from '../leakage.js';
import { propagate } from './belief-propagation.js';

/** Ties at random, listed along a walk as large graphs are. */
function randomTies(records: number, pairs: number, odds: number, seed: number): FactorGraph {
  const next = unitRandom(seed);
  const ends = () => Uint32Array.from({ length: pairs }, () => Math.floor(next() * records));
  return distinctComponents(fromPairs(records, ends(), ends(), odds)).graph;
}

/** Fixed point of the messages in plain doubles, by iteration to convergence. */
function restingPlace(
  { member, nodes }: FactorGraph,
  costs: Float64Array,
  cap: number,
  t: (loss: number, p: number) => number,
): Float64Array {
  let through = new Float64Array(member.length);
  let has = Float64Array.from(costs);
  for (let round = 0; round < 400; round++) {
    const sent = through.map((_, p) => t(Math.min(has[member[p ^ 1]!]! - through[p ^ 1]!, cap - costs[member[p]!]!), p));
    has = Float64Array.from(costs);
    for (let p = 0; p < member.length; p++) has[member[p]!]! += sent[p]!;
    const moved = sent.reduce((m, x, p) => Math.max(m, Math.abs(x - through[p]!)), 0);
    through = sent;
    if (moved < 1e-13) break;
  }
  return has.subarray(0, nodes);
}
const pushPlain = (d: number) => (loss: number) => 4 * Math.atanh(Math.tanh(Math.max(0, loss) / 4) * Math.tanh(d / 4));

/** The least of a bound in units of what it bounds, and the most by which it is above it, in units of the worst record's. */
function ratios(bound: Float64Array, of: Float64Array): { least: number; most: number } {
  const worst = of.reduce((m, x) => Math.max(m, x), 0);
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let u = 0; u < of.length; u++) {
    if (of[u]! > 1e-12) least = Math.min(least, bound[u]! / of[u]!);
    most = Math.max(most, (bound[u]! - of[u]!) / worst);
  }
  return { least, most };
}

describe('messages on a large graph', () => {
  const d = Math.log(3);
  const graph = randomTies(24_000, 26_000, d, 5);
  const cap = 1e3;
  const caps = new Float64Array(graph.nodes).fill(cap);
  const resting = (costs: Float64Array) => restingPlace(graph, costs, cap, pushPlain(d));

  for (const [whom, costOf] of [
    ['everybody', () => 0.02],
    ['everybody, differently', (u: number) => 0.01 + (u % 7) / 100],
    ['some, the others nothing', (u: number) => (u % 3 === 0 ? 0.05 : 0)],
    ['everybody, far beyond where ties saturate', () => 3],
  ] as const)
    it(`the bounds lie above the fixed point, and close to it, when the budget is spent by ${whom}`, () => {
      const costs = Float64Array.from({ length: graph.nodes }, (_, u) => costOf(u));
      const { leaks } = propagate(graph, costs, caps);
      const rest = resting(costs);
      const above = ratios(leaks, rest);
      expect(above.least).toBeGreaterThanOrEqual(1 - 1e-9);
      expect(above.most).toBeLessThanOrEqual(0.01);
    });

  it('the messages are bounds wherever they start', () => {
    const costs = new Float64Array(graph.nodes).fill(0.02);
    const rest = resting(costs);
    const found = propagate(graph, costs, caps).certain!.slice();
    for (const scale of [0, 0.3, 3, 100]) {
      const { leaks } = propagate(graph, costs, caps, { start: found.map((x) => x * scale) });
      expect(ratios(leaks, rest).least).toBeGreaterThanOrEqual(1 - 1e-9);
    }
  });

  it('the messages are bounds even with hardly any time to converge', () => {
    for (const loss of [0.02, 3]) {
      const costs = new Float64Array(graph.nodes).fill(loss);
      const { leaks } = propagate(graph, costs, caps, { hardWork: 1, part: 0.5 });
      expect(ratios(leaks, resting(costs)).least).toBeGreaterThanOrEqual(1 - 1e-9);
    }
  });

  it('the messages are replaced by caps once some leakage is above the limit of interest', () => {
    const costs = new Float64Array(graph.nodes).fill(0.02);
    const { leaks } = propagate(graph, costs, caps, { hopeless: { most: 0.03, caps } });
    expect([...new Set(leaks)]).toEqual([cap]);
  });

  it('the messages converge in few rounds along a walk', () => {
    const along = propagate(graph, new Float64Array(graph.nodes).fill(0.02), caps).rounds;
    expect(along).toBeLessThan(25);
  });
});

describe('the what-if of one more tie without building its graph', () => {
  const d = Math.log(1.5);
  const graph = randomTies(22_000, 21_000, d, 9);
  const used = Uint8Array.from({ length: graph.records }, (_, u) => (u % 5 === 0 ? 0 : 1));
  const base = 0.05;
  const withTwinMask = (second: number | Uint8Array) => {
    const both = new Uint8Array(2 * used.length).fill(typeof second === 'number' ? second : 0);
    both.set(used);
    if (typeof second !== 'number') both.set(second, used.length);
    return both;
  };
  const worst = (on: FactorGraph, mask?: Uint8Array) => leakageCalculator(on, 'informed', mask ? { used: mask } : {}).worst(base);

  it('the what-if leaks what a graph with twins does, within its stated precision', () => {
    const { oneMoreTie } = largeWhatIf({ graph, adversary: 'informed', reach: 'any' }, base);
    const built = worst(withTwins(graph));
    expect(oneMoreTie / built).toBeGreaterThan(0.998);
    expect(oneMoreTie / built).toBeLessThan(1.12);
  });

  it('the what-if leaks the larger of twins and new neighbours when some records are unused', () => {
    const { oneMoreTie } = largeWhatIf({ graph, used, adversary: 'informed', reach: 'any' }, base);
    const built = Math.max(worst(withTwins(graph), withTwinMask(used)), worst(withPendants(graph), withTwinMask(1)));
    expect(oneMoreTie / built).toBeGreaterThan(0.998);
    expect(oneMoreTie / built).toBeLessThan(1.12);
  });

  it('the what-if of stronger ties equals the leakage with these ties, within its stated precision', () => {
    const { oddsTimes2 } = largeWhatIf({ graph, adversary: 'informed', reach: 'any' }, base);
    const direct = worst(withOdds(graph, (x) => x + Math.log(2)));
    expect(oddsTimes2 / direct).toBeGreaterThan(0.998);
    expect(oddsTimes2 / direct).toBeLessThan(1.12);
  });
});
