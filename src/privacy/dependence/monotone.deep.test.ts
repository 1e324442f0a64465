import { describe, expect, it } from 'vitest';
import { samplePolicy } from '../../../test/sample-policy.js';
import { one, parseRational, rational, toNumber } from '../../base/exact/rational.js';
import { tupleLeakage } from '../../data/ties/tuples.js';
import type { SumMeasure } from '../../query/count/measure.js';
import { chooseNoise } from '../../release/accountant/choose.js';
import { openAccount } from '../../release/accountant/open-account.js';
import { varianceOf } from '../mechanism/distribution.js';
import { nothingSpent } from '../mechanism/privacy-cost.js';
import { everyRecord } from '../mechanism/record-class.js';
import type { Amplifier } from './amplifier.js';
import { type FactorGraph, fromPairs } from './graph/factor-graph.js';
import { fromGroups } from './graph/group-graph.js';
import { graphAmplifier } from './graph-amplifier.js';

type Shape = (size: number, degree: number, logOdds: number) => FactorGraph;
const pairs = (n: number, list: readonly (readonly [number, number])[], d: number): FactorGraph =>
  fromPairs(
    n,
    Uint32Array.from(list, ([a]) => a),
    Uint32Array.from(list, ([, b]) => b),
    d,
  );
const numbers = (n: number) => Array.from({ length: n }, (_, k) => k);
/** Everybody is tied to the next degree/2 on either side. */
const ring: Shape = (n, degree, d) =>
  pairs(
    n,
    numbers(n).flatMap((u) => numbers(Math.ceil(degree / 2)).map((k) => [u, (u + k + 1) % n] as const)),
    d,
  );
/** A tree in which everybody has `degree` ties, cut at `size`. */
const tree: Shape = (n, degree, d) =>
  pairs(
    n,
    numbers(n - 1).map((k) => [k + 1, Math.floor(k / Math.max(1, degree - 1))] as const),
    d,
  );
const star: Shape = (n, _, d) =>
  pairs(
    n,
    numbers(n - 1).map((k) => [0, k + 1] as const),
    d,
  );
const clique: Shape = (n, _, d) => fromGroups(new Uint32Array(n), d, 'pairs');
const hidden: Shape = (n, _, d) => fromGroups(new Uint32Array(n), d, 'hidden');
const together: Shape = (n, _, d) => fromGroups(new Uint32Array(n), d, 'together');
const shapes = { ring, tree, star, clique, hidden, together };

const amplifierOf = (graph: FactorGraph, reach: 'any' | 'direct' = 'any'): Amplifier =>
  graphAmplifier({
    name: 'ties',
    graph,
    scope: (c) => c === everyRecord,
    adversary: reach === 'direct' ? 'uninformed' : 'informed',
    reach,
    assumptions: [],
    method: '',
  });

const budget = { epsilon: rational(1), delta: parseRational('1e-6') };
const histogram: SumMeasure = {
  mechanism: 'additive',
  name: 'count',
  cells: numbers(400).map((k) => [`${k}`]),
  grid: one,
  sensitivity: new Map([[everyRecord, { l1: 2n, l2squared: 2n }]]),
  counting: { filter: [], keys: [], value: { kind: 'one' } },
};
/** All results of an amplifier, and the planned noise: each must grow with stronger ties. */
function costs(amplifier: Amplifier): Record<string, number> {
  const account = openAccount({ ...samplePolicy([]), budget }, [amplifier]);
  const plans = chooseNoise([histogram], account, one, nothingSpent);
  const noiseOf = (kind: string) =>
    Math.min(...plans.filter((p) => p.kind === kind).map((p) => Math.sqrt(varianceOf(p.mechanisms[0]!.distribution))));
  return {
    leakage: amplifier.leakage(rational(1, 20)),
    pure: 1 / toNumber(amplifier.largestBase(budget.epsilon)),
    ...Object.fromEntries(
      amplifier.gaussian.map((bound, k) => [`gaussian ${k}`, 1 / toNumber(bound.largestRho(budget.epsilon, budget.delta))]),
    ),
    laplace: noiseOf('laplace'),
    planned: noiseOf('gaussian'),
  };
}
/** Searches stop at nine digits, certificates of large graphs at four. */
const tolerance = (graph: FactorGraph) => (graph.nodes > 14 ? 2e-3 : 1e-6);

function climbs(steps: readonly FactorGraph[], reach: 'any' | 'direct' = 'any'): void {
  let before: Record<string, number> = {};
  steps.forEach((graph, k) => {
    const now = costs(amplifierOf(graph, reach));
    for (const [what, cost] of Object.entries(before))
      expect(now[what]! * (1 + tolerance(graph)), `${what} at step ${k}`).toBeGreaterThanOrEqual(cost);
    before = now;
  });
}

const ratios = [1.01, 1.2, 2, 9, Number.POSITIVE_INFINITY];
describe.each(Object.entries(shapes))('stronger ties on a %s never give less noise', (name, shape) => {
  // Every method has its range of sizes: recursion and enumeration to 13 or 14, exact forests to 160, cliques to 48.
  const sizes = name === 'clique' || name === 'together' ? [3, 13, 14, 15, 48, 49] : [3, 13, 14, 15, 160, 161];

  it.each([3, 9, sizes.at(-1)!])('the noise grows with the odds ratio (%s records)', (n) => {
    climbs(ratios.map((r) => shape(n, 4, Math.log(r))));
  });
  it.each([1.2, 9])('the noise grows with the size (odds ratio %s)', (r) => {
    climbs(sizes.map((n) => shape(n, 4, Math.log(r))));
  });
});

describe('stronger ties never give less noise', () => {
  it.each([
    [9, 1.3],
    [40, 1.05],
    [40, 4],
    [300, 1.2],
  ])('the noise grows with the degree (%s records, odds ratio %s)', (n, r) => {
    climbs([2, 4, 6, 8, 10].map((degree) => ring(n, degree, Math.log(r))));
    climbs([2, 3, 4, 6, 12].map((degree) => tree(n, degree, Math.log(r))));
  });

  it('the noise grows with the strength of ties under direct reach', () => {
    for (const n of [3, 14, 60])
      climbs(
        ratios.map((r) => star(n, 0, Math.log(r))),
        'direct',
      );
    for (const r of [1.1, 3])
      climbs(
        [3, 14, 60, 300].map((n) => star(n, 0, Math.log(r))),
        'direct',
      );
  });

  it('the noise grows with the strength of ties between tuples', () => {
    for (const reach of ['any', 'direct'] as const) {
      const at = (logOdds: number, ties: number) => tupleLeakage(0.1, { logOdds, ties, reach });
      for (const ties of [1, 3, 20])
        for (const [k, r] of ratios.slice(1).entries())
          expect(at(Math.log(r), ties)).toBeGreaterThanOrEqual(at(Math.log(ratios[k]!), ties));
      for (const r of ratios)
        for (const ties of [1, 2, 5, 30]) expect(at(Math.log(r), ties + 1)).toBeGreaterThanOrEqual(at(Math.log(r), ties));
    }
  });
});
