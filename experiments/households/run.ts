import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { one, parseRational, rational, toNumber } from '../../src/base/exact/rational.js';
import type { Policy } from '../../src/policy/policy.js';
import { gaussianSums } from '../../src/privacy/dependence/gaussian/sums.js';
import { type FactorGraph, untied } from '../../src/privacy/dependence/graph/factor-graph.js';
import { fromGroups } from '../../src/privacy/dependence/graph/group-graph.js';
import { graphAmplifier } from '../../src/privacy/dependence/graph-amplifier.js';
import { percolation } from '../../src/privacy/dependence/uninformed/percolation.js';
import { varianceOf } from '../../src/privacy/mechanism/distribution.js';
import { nothingSpent } from '../../src/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import type { SumMeasure } from '../../src/query/count/measure.js';
import { chooseNoise } from '../../src/release/accountant/choose.js';
import { openAccount } from '../../src/release/accountant/open-account.js';

const budget = { epsilon: rational(1), delta: parseRational('1e-6') };
/** delta at epsilon 1 of one untied count under Gaussian noise, by the midpoint rule. */
function untiedDelta(sigma: number): number {
  const density = (x: number) => Math.exp(-(x * x) / (2 * sigma * sigma)) / (sigma * Math.sqrt(2 * Math.PI));
  const step = sigma / 400;
  let delta = 0;
  for (let x = -10 * sigma; x < 10 * sigma; x += step) delta += step * Math.max(0, density(x - 1) - Math.E * density(x));
  return delta;
}
/** Least standard deviation with which such a count is (1, 1e-6)-private: the reference for the noise under ties. */
const analytic = (() => {
  let [low, high] = [1, 10];
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (untiedDelta(middle) > 1e-6) low = middle;
    else high = middle;
  }
  return high;
})();
const tables: SumMeasure = {
  mechanism: 'additive',
  name: 'count',
  cells: [['all']],
  grid: one,
  sensitivity: new Map([[everyRecord, { l1: 1n, l2squared: 1n }]]),
  counting: { filter: [], keys: [], value: { kind: 'one' } },
};

function planned(graph: FactorGraph): number {
  const amplifier = graphAmplifier({
    name: 'home',
    graph,
    scope: (c) => c === everyRecord,
    adversary: 'informed',
    reach: 'any',
    assumptions: [],
    method: '',
  });
  const policy = {
    data: { source: 'homes.csv' },
    ledger: 'ledger.db',
    population: 'homes',
    budget,
    digest: '',
    protect: { secret: 'row', adversary: 'informed' },
    columns: new Map(),
    relations: new Map(),
    dependence: [],
  } as unknown as Policy;
  const plans = chooseNoise([tables], openAccount(policy, [amplifier]), one, nothingSpent);
  return Math.min(...plans.filter((p) => p.kind === 'gaussian').map((p) => Math.sqrt(varianceOf(p.mechanisms[0]!.distribution))));
}

/** Gaussian noise under household ties: the planned noise, compared with percolation alone and with group noise. */
export async function run(out: string): Promise<void> {
  const group = 1 / Math.sqrt(2 * toNumber(percolation(untied(1)).largestRho(budget.epsilon, budget.delta)));
  const rows = [2, 3, 4, 5].flatMap((people) =>
    [1.2, 2, 4, 9].map((ratio) => {
      const graph = fromGroups(new Uint32Array(people), Math.log(ratio), 'pairs');
      const c = gaussianSums(graph, 'any').reaches[0]!.amplification;
      const clusters = 1 / Math.sqrt(2 * toNumber(percolation(graph).largestRho(budget.epsilon, budget.delta)));
      const sigma = planned(graph);
      return [people, ratio, c, sigma / analytic, sigma / analytic / c, clusters / analytic, (people * group) / analytic].map(
        (x) => Number(x.toFixed(3)),
      );
    }),
  );
  const head = [
    'people',
    'odds ratio',
    'C',
    'planned / untied',
    'planned / (untied x C)',
    'percolation alone / untied',
    'group / untied',
  ];
  writeFileSync(join(out, 'households.csv'), csvOf([head, ...rows]));
  console.log([head, ...rows].map((r) => r.join('\t')).join('\n'));
}
