import { describe, expect, it } from 'vitest';
import { processorTime } from '../../../../test/processor-time.js';
import { enumerate } from '../../../privacy/dependence/model/joint.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { ChainInfluence, priorGaps } from './chain-influence.js';
import { chainStationary, quiltOnChain } from './markov-quilt.js';
import { approximateQuilt, mixing } from './markov-quilt-approx.js';
import { matrix } from './matrix.js';
import { quiltOnNetwork } from './quilt-network.js';

const first = [
  [0.9, 0.1],
  [0.4, 0.6],
];
const second = [
  [0.8, 0.2],
  [0.3, 0.7],
];
const two = (q: number, p: number) => [
  [1 - q, q],
  [1 - p, p],
];
const still = (transition: number[][], length = 100) => ({ transition, initial: 'stationary' as const, length });

describe('the Markov quilt on a chain', () => {
  it('the quilt reproduces the running example of its paper', () => {
    const one = quiltOnChain({ transition: first, initial: [1, 0], length: 100 }, 1);
    expect(one.scale).toBeCloseTo(13.021923, 6);
    expect(one).toMatchObject({ record: 8, left: 3, right: 13, near: 9 });
    expect(one.influence).toBeCloseTo(0.308858, 6);
    const other = quiltOnChain({ transition: second, initial: [0.9, 0.1], length: 100 }, 1);
    expect(other.scale).toBeCloseTo(10.6402, 4);
    expect(other).toMatchObject({ record: 6, left: null, right: 10 });
  });

  it('the quilt reproduces the influences of a stationary chain', () => {
    const cases = [
      [
        first,
        [
          [1, 1, Math.log(36)],
          [2, 2, 1.961659],
          [5, 5, 0.299063],
          [8, 8, 0.038836],
          [5, undefined, 0.149532],
        ],
      ],
      [
        second,
        [
          [1, 1, 2.505526],
          [2, 2, 1.212272],
          [5, 5, 0.155116],
          [8, 8, 0.019512],
          [5, undefined, 0.077558],
        ],
      ],
    ] as const;
    for (const [transition, rows] of cases) {
      const influence = new ChainInfluence(matrix(transition));
      const prior = priorGaps(chainStationary(matrix(transition)));
      for (const [a, b, e] of rows) expect(influence.both(prior, a, b)).toBeCloseTo(e, 6);
    }
  });

  it('the quilt reproduces the stationary table, ends included', () => {
    const rows = [
      [first, 1, 12.839964, 5, 5],
      [first, 5, 0.705975, 1, 1],
      [first, 10, 0.155849, 1, 1],
      [second, 1, 10.120014, 4, 4],
      [second, 5, 0.400886, 1, 1],
      [second, 10, 0.133432, 1, 1],
    ] as const;
    for (const [transition, epsilon, scale, a, b] of rows) {
      const quilt = quiltOnChain(still(transition), epsilon);
      expect(quilt.scale).toBeCloseTo(scale, 6);
      expect([quilt.record - quilt.left!, quilt.right! - quilt.record]).toEqual([a, b]);
    }
  });

  it('the quilt reproduces the authors’ synthetic grid, exact and approximate', () => {
    const rows = [
      [0.1, 0.9, 31.737789, 49.220197],
      [0.2, 0.8, 13.075109, 23.979071],
      [0.3, 0.7, 6.723597, 15.572372],
      [0.4, 0.6, 3.571792, 11.536776],
      [0.5, 0.5, 1, 8.973048],
      [0.3, 0.6, 5.13065, 13.911513],
      [0.1, 0.5, 9.897617, 20.183209],
    ] as const;
    for (const [q, p, exact, approximate] of rows) {
      expect(quiltOnChain(still(two(q, p)), 1).scale).toBeCloseTo(exact, 6);
      expect(approximateQuilt(100, mixing([two(q, p)], 'reversible'), 1).score).toBeCloseTo(approximate, 6);
    }
  });

  it('the quilt reproduces the approximate mechanism on a set of two chains', () => {
    const general = mixing([first, second], 'general');
    expect(general.least).toBeCloseTo(0.2, 12);
    expect(general.rate).toBeCloseTo(0.375, 12);
    const reversible = mixing([first, second], 'reversible');
    const rows = [
      [general, 1, 31.70976, 15, 13],
      [general, 5, 4.21021, 9, 8],
      [general, 10, 1.6415, 7, 6],
      [reversible, 1, 23.505955, 11, 10],
      [reversible, 5, 3.090518, 7, 6],
      [reversible, 10, 1.210361, 5, 4],
    ] as const;
    for (const [m, epsilon, scale, a, b] of rows) {
      const quilt = approximateQuilt(100, m, epsilon);
      expect(quilt.score).toBeCloseTo(scale, 6);
      expect([quilt.a, quilt.b]).toEqual([a, b]);
    }
  });

  it('the quilt is the whole chain if a transition is impossible or epsilon too small', () => {
    expect(
      quiltOnChain(
        still(
          [
            [0, 1],
            [1, 0],
          ],
          50,
        ),
        1,
      ),
    ).toMatchObject({ scale: 50, left: null, right: null });
    expect(quiltOnChain(still(first, 5), 0.01)).toMatchObject({ scale: 500, near: 5 });
  });

  it('the search ends at once on a long chain that never forgets', () => {
    const turning = Array.from({ length: 30 }, (_, s) => Array.from({ length: 30 }, (_, t) => (t === (s + 1) % 30 ? 1 : 0)));
    expect(quiltOnChain({ transition: turning, initial: 'any', length: 1_000_000 }, 1).scale).toBe(1_000_000);
  });

  it('the search covers a chain that hardly forgets, from any start, without visiting all of it', async () => {
    const slow = [
      [1 - 1e-5, 1e-5],
      [2e-5, 1 - 2e-5],
    ];
    const from = (initial: 'any' | 'stationary' | number[]) =>
      quiltOnChain({ transition: slow, initial, length: 1_000_000 }, 1).scale;
    const took = await processorTime(() => {
      expect(from([1, 0])).toBeLessThanOrEqual(from('any'));
      expect(from('stationary')).toBeLessThanOrEqual(from('any'));
    });
    expect(took).toBeLessThan(2000);
  });

  it('the scale is larger if the chain may start anywhere', () => {
    const any = quiltOnChain({ transition: first, initial: 'any', length: 100 }, 1).scale;
    expect(any).toBeGreaterThan(quiltOnChain(still(first), 1).scale);
    expect(any).toBeGreaterThanOrEqual(quiltOnChain({ transition: first, initial: [1, 0], length: 100 }, 1).scale);
  });

  it('the scale does not depend on the position in a long chain', () => {
    const long = quiltOnChain(still(first, 1_000_000), 1);
    expect(long.scale).toBe(quiltOnChain(still(first, 100), 1).scale);
  });

  it('the scale agrees with the search over all quilts of a small network', () => {
    for (const [stay, epsilon, scale] of [
      [0.55, 3, 0.384813917653],
      [0.7, 1, 5],
      [0.7, 10, 0.120403530807],
      [0.9, 3, 1.66666666667],
    ] as const) {
      const ids = ['a', 'b', 'c', 'd', 'e'];
      const table = Float64Array.of(stay, 1 - stay, 1 - stay, stay);
      const model: Model = {
        ids,
        values: ids.map(() => [0, 1]),
        factors: [0, 1, 2, 3].map((t) => ({ records: [t, t + 1], table })),
      };
      expect(quiltOnNetwork(model, enumerate(model), epsilon)).toBeCloseTo(scale, 9);
      expect(
        quiltOnChain(
          still(
            [
              [stay, 1 - stay],
              [1 - stay, stay],
            ],
            5,
          ),
          epsilon,
        ).scale,
      ).toBeCloseTo(scale, 9);
    }
  });
});

/** Every quilt of every record, as defined, for two states and a distribution of the first record. */
function everyQuilt(transition: readonly (readonly number[])[], initial: readonly number[], length: number, epsilon: number) {
  const times = (a: readonly (readonly number[])[]) =>
    a.map((row) => transition[0]!.map((_, j) => row.reduce((sum, x, k) => sum + x * transition[k]![j]!, 0)));
  const powers = [transition];
  while (powers.length < length) powers.push(times(powers.at(-1)!));
  const pairs = [
    [0, 1],
    [1, 0],
  ] as const;
  // For each pair of states and each distance: the largest log odds given by a state so far before, or after.
  const left = powers.map((p) => pairs.map(([s, t]) => Math.max(...p.map((row) => Math.log(row[s]! / row[t]!)))));
  const right = powers.map((p) => pairs.map(([s, t]) => Math.max(...p[s]!.map((x, w) => Math.log(x / p[t]![w]!)))));
  let distribution = initial;
  let worst = { scale: 0, record: 0 };
  for (let i = 1; i <= length; i++) {
    let least = length / epsilon;
    const consider = (near: number, e: number) => {
      if (e < epsilon) least = Math.min(least, near / (epsilon - e));
    };
    for (let a = 0; a < i; a++)
      for (let b = 0; b <= length - i; b++) {
        if (a === 0 && b === 0) continue;
        // No quilt on a side: everything there is near.
        const near = (a === 0 ? i : a) + (b === 0 ? length - i + 1 : b) - 1;
        const e = Math.max(
          ...pairs.map(
            ([s, t], k) =>
              (a === 0 ? 0 : Math.log(distribution[t]! / distribution[s]!) + left[a - 1]![k]!) +
              (b === 0 ? 0 : right[b - 1]![k]!),
          ),
        );
        consider(near, e);
      }
    if (least > worst.scale + 1e-12) worst = { scale: least, record: i };
    distribution = distribution.map((_, j) => distribution.reduce((sum, p, s) => sum + p * transition[s]![j]!, 0));
  }
  return worst;
}

describe('the Markov quilt, to nine digits', () => {
  const stationary = (q: number, p: number) => [(1 - p) / (1 - p + q), q / (1 - p + q)];
  it('the scale is that of every quilt of every record: the published chains and the synthetic grid', () => {
    const cases: [number[][], number[]][] = [
      [first, [0.8, 0.2]],
      [second, [0.6, 0.4]],
      [second, [0.9, 0.1]],
      ...(
        [
          [0.1, 0.9],
          [0.2, 0.8],
          [0.3, 0.7],
          [0.4, 0.6],
          [0.3, 0.6],
          [0.1, 0.5],
        ] as const
      ).map(([q, p]): [number[][], number[]] => [two(q, p), stationary(q, p)]),
    ];
    for (const [transition, initial] of cases)
      for (const epsilon of [1, 5, 10])
        expect(quiltOnChain({ transition, initial, length: 100 }, epsilon).scale).toBeCloseTo(
          everyQuilt(transition, initial, 100, epsilon).scale,
          9,
        );
    // Its neighbours alone at epsilon 5 and 10: log 36.
    expect(quiltOnChain(still(first), 5).scale).toBeCloseTo(1 / (5 - Math.log(36)), 9);
    expect(quiltOnChain(still(first), 10).scale).toBeCloseTo(1 / (10 - Math.log(36)), 9);
  });

  it('the quilt counts states that the start makes impossible, which is safe: 13.0219 and not 12.9341', () => {
    const found = quiltOnChain({ transition: first, initial: [1, 0], length: 100 }, 1).scale;
    expect(found).toBeCloseTo(13.021923, 6);
    expect(found).toBeGreaterThan(12.934051);
  });
});
