import { describe, expect, test } from 'vitest';
import { processorTime } from '../../../../test/processor-time.js';
import { lossFunction, supremum, temporalBudgets, temporalLeakage } from './temporal.js';

const round = (numbers: Iterable<number>, digits: number) => Array.from(numbers, (x) => Number(x.toFixed(digits)));
const both = (matrix: readonly (readonly number[])[]) => ({ backward: lossFunction(matrix), forward: lossFunction(matrix) });
const strong = [
  [0.8, 0.2],
  [0, 1],
];
const mild = [
  [0.1, 0.2, 0.7],
  [0.3, 0.3, 0.4],
  [0.5, 0.3, 0.2],
];
const identity = [
  [1, 0],
  [0, 1],
];

describe('leakage over time', () => {
  test('the leakage has the published values for ten steps of epsilon 0.1', () => {
    const { backward, forward, leakage } = temporalLeakage(new Float64Array(10).fill(0.1), both(strong));
    const past = [0.1, 0.1808, 0.2471, 0.3024, 0.3488, 0.3881, 0.4216, 0.4503, 0.475, 0.4964];
    expect(round(backward, 4)).toEqual(past);
    expect(round(forward, 4)).toEqual(past.toReversed());
    const half = [0.4964, 0.5558, 0.5975, 0.6239, 0.6368];
    expect(round(leakage, 4)).toEqual([...half, ...half.toReversed()]);
  });

  test('the leakage grows without limit for a state that never changes, and equals epsilon for a chain that forgets at once', () => {
    expect(round(temporalLeakage(new Float64Array(10).fill(0.1), both(identity)).leakage, 9)).toEqual(new Array(10).fill(1));
    const forgetful = [
      [0.3, 0.7],
      [0.3, 0.7],
    ];
    expect(round(temporalLeakage(new Float64Array(10).fill(0.1), both(forgetful)).leakage, 9)).toEqual(new Array(10).fill(0.1));
  });

  test('the leakage equals the one by brute force for randomised response over four steps', () => {
    // [[.8,.2],[.3,.7]] with its stationary distribution (.6,.4) is reversible, so both directions have one matrix.
    const chain = [
      [0.8, 0.2],
      [0.3, 0.7],
    ];
    const { leakage } = temporalLeakage(new Float64Array(4).fill(0.5), both(chain));
    expect(round(leakage, 6)).toEqual(round(bruteForce(chain, [0.6, 0.4], 4, 0.5), 6));
    expect(round(leakage, 6)).toEqual([0.937062, 1.12961, 1.12961, 0.937062]);
  });

  test('the leakage stays below its supremum, which has the published values', () => {
    const pair = (q: number, d: number) =>
      lossFunction([
        [q, 1 - q],
        [d, 1 - d],
      ]);
    expect(supremum(0.1, lossFunction(strong))).toBeCloseTo(0.645907, 6);
    expect(supremum(0.15, pair(0.8, 0))).toBeCloseTo(1.192242, 6);
    expect(supremum(0.23, pair(0.8, 0))).toBe(Number.POSITIVE_INFINITY);
    expect(supremum(0.23, lossFunction(identity))).toBe(Number.POSITIVE_INFINITY);
    for (const [epsilon, most] of [
      [0.1, 0.201532],
      [0.5, 0.98951],
      [1, 1.892917],
    ] as const)
      expect(supremum(epsilon, lossFunction(mild))).toBeCloseTo(most, 6);
    const long = temporalLeakage(new Float64Array(5000).fill(0.1), both(strong)).backward;
    expect(Math.max(...long)).toBeLessThanOrEqual(supremum(0.1, lossFunction(strong)));
  });
});

type Rows = readonly (readonly number[])[];
/** L by every set of states of every two rows, as it is defined. */
const plainL = (matrix: Rows) => (alpha: number) => {
  let most = 0;
  for (const q of matrix)
    for (const d of matrix)
      for (let set = 0; set < 2 ** matrix.length; set++) {
        const share = (row: readonly number[]) => row.reduce((sum, p, k) => ((set >> k) & 1 ? sum + p : sum), 0);
        most = Math.max(most, Math.log((share(q) * Math.expm1(alpha) + 1) / (share(d) * Math.expm1(alpha) + 1)));
      }
  return most;
};
const twoRows = (q: number, d: number): Rows => [
  [q, 1 - q],
  [d, 1 - d],
];

describe('agreement with a published program to nine digits', () => {
  const matrices: readonly Rows[] = [strong, mild, identity, twoRows(0.8, 0.1), twoRows(0.8, 0.2), twoRows(0.3, 0.7)];
  test('the carried-over leakage agrees with the program for every published matrix', () => {
    for (const matrix of matrices)
      for (const alpha of [0.1, 0.5, 1, 2, 5, 10]) expect(lossFunction(matrix)(alpha)).toBeCloseTo(plainL(matrix)(alpha), 9);
    const fig4 = [0.05022, 0.252399, 0.494334, 0.939752, 1.557279, 1.609075];
    expect(
      round(
        [0.1, 0.5, 1, 2, 5, 10].map((alpha) => plainL(mild)(alpha)),
        6,
      ),
    ).toEqual(fig4);
  });

  test('the leakage of ten steps agrees with the program for every matrix', () => {
    for (const matrix of matrices) {
      const plain = plainL(matrix);
      const back = Array.from({ length: 10 }, () => 0.1);
      for (let t = 1; t < 10; t++) back[t] = 0.1 + plain(back[t - 1]!);
      const { backward, forward, leakage } = temporalLeakage(new Float64Array(10).fill(0.1), both(matrix));
      for (let t = 0; t < 10; t++) {
        expect(backward[t]).toBeCloseTo(back[t]!, 9);
        expect(forward[t]).toBeCloseTo(back[9 - t]!, 9);
        expect(leakage[t]).toBeCloseTo(back[t]! + back[9 - t]! - 0.1, 9);
      }
    }
  });

  test('the supremum agrees with the closed form', () => {
    // x = e^alpha solves x (d (x - 1) + 1) = e^epsilon (q (x - 1) + 1).
    const closed = (q: number, d: number, epsilon: number): number => {
      const e = Math.exp(epsilon);
      const [a, b, c] = [d, 1 - d - e * q, -e * (1 - q)];
      return Math.log(a === 0 ? -c / b : (-b + Math.sqrt(b * b - 4 * a * c)) / (2 * a));
    };
    for (const [q, d, epsilon, printed] of [
      [0.8, 0.1, 0.23, 0.792337],
      [0.8, 0, 0.15, 1.192242],
      [0.8, 0, 0.1, 0.645907],
    ] as const) {
      expect(closed(q, d, epsilon)).toBeCloseTo(printed, 6);
      expect(supremum(epsilon, lossFunction(twoRows(q, d)))).toBeCloseTo(closed(q, d, epsilon), 9);
    }
    // At the edge, epsilon = log(1/q), it is infinite already.
    expect(supremum(Math.log(1 / 0.8), lossFunction(twoRows(0.8, 0)))).toBe(Number.POSITIVE_INFINITY);
    expect(supremum(0.23, lossFunction(twoRows(1, 0)))).toBe(Number.POSITIVE_INFINITY);
  });

  test('the budgets of the first, the last and every other step agree with the program for a target of one', () => {
    for (const [backward, forward, first, last, others] of [
      [twoRows(0.8, 0.2), twoRows(0.8, 0.1), 0.4998, 0.7041, 0.2039],
      [twoRows(0.8, 0.2), twoRows(0.8, 0.2), 0.6299, 0.6299, 0.2598],
      [strong, strong, 0.5438, 0.5438, 0.0876],
    ] as const) {
      const over = { backward: lossFunction(backward), forward: lossFunction(forward) };
      const budgets = temporalBudgets(1, 12, over)!;
      expect(round(budgets, 4)).toEqual([first, ...new Array<number>(10).fill(others), last]);
      expect(temporalBudgets(1, undefined, over)![0]).toBe(budgets[5]);
      // eps = a - L_B(a) = b - L_F(b), a + L_F(b) = 1.
      expect(budgets[0]! - plainL(backward)(budgets[0]!)).toBeCloseTo(budgets[5]!, 9);
      expect(budgets[11]! - plainL(forward)(budgets[11]!)).toBeCloseTo(budgets[5]!, 9);
      expect(budgets[0]! + plainL(forward)(budgets[11]!)).toBeCloseTo(1, 9);
    }
  });
});

describe('budgets for a target', () => {
  test('the budgets leak the target at every step of a known horizon, and never more', () => {
    for (const steps of [1, 2, 5, 50]) {
      const budgets = temporalBudgets(1, steps, both(mild))!;
      expect(budgets.length).toBe(steps);
      for (const leak of temporalLeakage(budgets, both(mild)).leakage) {
        expect(leak).toBeLessThanOrEqual(1);
        expect(leak).toBeCloseTo(1, 9);
      }
    }
  });
  test('the budgets keep the target for ever without a horizon', () => {
    const [epsilon] = temporalBudgets(1, undefined, both(mild))!;
    const { leakage } = temporalLeakage(new Float64Array(3000).fill(epsilon!), both(mild));
    expect(Math.max(...leakage)).toBeLessThanOrEqual(1);
    expect(Math.max(...leakage)).toBeGreaterThan(0.999999);
  });
  test('a state that never changes has no budget without a horizon, and equal shares with one', () => {
    expect(temporalBudgets(1, undefined, both(identity))).toBeUndefined();
    expect(round(temporalBudgets(1, 4, both(identity))!, 9)).toEqual([0.25, 0.25, 0.25, 0.25]);
  });
  test('the budgets are found at once for a million steps of fifty states', async () => {
    const states = 50;
    const matrix = Array.from({ length: states }, (_, r) => {
      const row = Array.from({ length: states }, (_, c) => 1 + ((r * 31 + c * 17) % 13) + (r === c ? 40 : 0));
      const sum = row.reduce((a, b) => a + b, 0);
      return row.map((x) => x / sum);
    });
    const took = await processorTime(() => {
      const over = both(matrix);
      const budgets = temporalBudgets(1, 1_000_000, over)!;
      expect(temporalLeakage(budgets, over).leakage.reduce((m, x) => Math.max(m, x), 0)).toBeLessThanOrEqual(1);
    });
    expect(took).toBeLessThan(1000);
  });
});

/** Randomised response of each step, every output of every step: the worst log ratio about each step's state. */
function bruteForce(
  transition: readonly (readonly number[])[],
  initial: readonly number[],
  steps: number,
  epsilon: number,
): number[] {
  const truth = Math.exp(epsilon) / (1 + Math.exp(epsilon));
  const paths = Array.from({ length: 2 ** steps }, (_, path) => Array.from({ length: steps }, (_, t) => (path >> t) & 1));
  const chance = paths.map((path) => path.reduce((p, x, t) => p * (t === 0 ? initial[x]! : transition[path[t - 1]!]![x]!), 1));
  return Array.from({ length: steps }, (_, t) =>
    Math.max(
      ...paths.map((output) => {
        const given = [0, 1].map((x) => {
          let joint = 0;
          let all = 0;
          for (const [k, path] of paths.entries()) {
            if (path[t] !== x) continue;
            all += chance[k]!;
            joint += chance[k]! * path.reduce((p, s, u) => p * (s === output[u] ? truth : 1 - truth), 1);
          }
          return joint / all;
        });
        return Math.abs(Math.log(given[0]! / given[1]!));
      }),
    ),
  );
}
