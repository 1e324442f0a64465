import { describe, expect, it } from 'vitest';
import { lossFunction, temporalLeakage } from '../../../privacy/dependence/temporal/temporal.js';
import { gainOf } from '../gain.js';
import { beliefsBefore, beliefsPerStep, reversed, type StateChain, smoothedBeliefs, stationaryBelief } from './trajectory.js';

const matrices = [
  [
    [0.9, 0.1],
    [0.4, 0.6],
  ],
  [
    [0.1, 0.2, 0.7],
    [0.3, 0.3, 0.4],
    [0.5, 0.3, 0.2],
  ],
  [
    [0, 1],
    [1, 0],
  ],
];
/** All paths, one by one. */
function enumerated({ start, transition }: StateChain, logs: readonly (readonly number[])[]): number[][] {
  const sums = logs.map(() => start.map(() => 0));
  const walk = (path: number[], weight: number): void => {
    if (path.length === logs.length) {
      path.forEach((state, t) => {
        sums[t]![state]! += weight;
      });
      return;
    }
    for (let s = 0; s < start.length; s++) {
      const step = path.length === 0 ? start[s]! : transition[path.at(-1)!]![s]!;
      walk([...path, s], weight * step * Math.exp(logs[path.length]![s]!));
    }
  };
  walk([], 1);
  return sums.map((row) => row.map((x) => x / row.reduce((a, b) => a + b, 0)));
}
let seed = 5;
const random = () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};

describe('beliefs along a sequence', () => {
  it('beliefs equal the weighted enumeration of all paths', () => {
    for (const transition of matrices) {
      const chain = { start: stationaryBelief(transition), transition };
      for (let k = 0; k < 20; k++) {
        const logs = Array.from({ length: 5 }, () => chain.start.map(() => 4 * random()));
        const expected = enumerated(chain, logs);
        const found = smoothedBeliefs(chain, logs);
        expect(found).toEqual(expected.map((row) => row.map((p) => expect.closeTo(p, 12))));
      }
    }
  });

  it('beliefs equal the prior without releases, and per-step posteriors without dependence', () => {
    const same = [
      [0.3, 0.7],
      [0.3, 0.7],
    ];
    const chain = { start: [0.3, 0.7], transition: same };
    const logs = Array.from({ length: 4 }, () => [random(), random()]);
    expect(smoothedBeliefs(chain, logs)).toEqual(beliefsPerStep(chain, logs).map((row) => row.map((p) => expect.closeTo(p, 12))));
    const quiet = logs.map(() => [0, 0]);
    expect(smoothedBeliefs(chain, quiet).map(([p]) => p!)).toEqual(beliefsBefore(chain, 4).map(([p]) => expect.closeTo(p!, 12)));
  });

  /** Each release about a step changes the log likelihood between two states by at most epsilon. */
  const worst = (bound: (leakage: number, epsilon: number) => number): number => {
    let beyond = 0;
    for (const transition of matrices.slice(0, 2)) {
      const start = stationaryBelief(transition);
      const over = { forward: lossFunction(transition), backward: lossFunction(reversed(transition, start)) };
      for (let k = 0; k < 300; k++) {
        const epsilon = 0.1 + 2 * random();
        const logs = Array.from({ length: 8 }, () => start.map(() => epsilon * Math.round(random())));
        const { leakage } = temporalLeakage(new Float64Array(8).fill(epsilon), over);
        const [before, now] = [beliefsBefore({ start, transition }, 8), smoothedBeliefs({ start, transition }, logs)];
        now.forEach((belief, t) => {
          if (gainOf(before[t]!, belief) > bound(leakage[t]!, epsilon) + 1e-9) beyond++;
        });
      }
    }
    return beyond;
  };
  it('log odds change by at most the leakage over time, and by more than the cost of one step', () => {
    expect(worst((leakage) => leakage)).toBe(0);
    expect(worst((_, epsilon) => epsilon)).toBeGreaterThan(100);
  });

  it('sequences start in the stationary distribution, also on a periodic chain', () => {
    expect(stationaryBelief(matrices[2]!)).toEqual([0.5, 0.5]);
    expect(stationaryBelief(matrices[0]!)[0]).toBeCloseTo(0.8, 12);
  });
});
