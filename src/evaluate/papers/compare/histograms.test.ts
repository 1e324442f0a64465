import { describe, expect, it } from 'vitest';
import { readModel } from '../../../privacy/dependence/model/model-file.js';
import { compareOnModel } from './comparison.js';
import { compareHistograms } from './histograms.js';
import { SumDistributions } from './sum-distribution.js';
import { SumLoss } from './sum-loss.js';

const chain = (transition: readonly (readonly number[])[], length: number) =>
  readModel(JSON.stringify({ chain: { length, transition, initial: 'stationary' } }), 'chain.json');
const rows = (transition: readonly (readonly number[])[], length: number, epsilon = 1) => {
  const found = compareOnModel(chain(transition, length), 'histogram', epsilon);
  return { ...found, by: new Map(found.mechanisms.map((m) => [m.name, m])) };
};
const p1 = [
  [0.9, 0.1],
  [0.4, 0.6],
];

/** Largest log ratio over records, values and outputs, by listing every path and every output on the grid of counts: Laplace noise in every count. */
function enumeratedLoss(
  transition: readonly (readonly number[])[],
  start: readonly number[],
  length: number,
  scale: number,
): number {
  const states = transition.length;
  const paths = Array.from({ length: states ** length }, (_, code) => {
    const path = Array.from({ length }, (_, j) => Math.floor(code / states ** j) % states);
    const chance = path.reduce((p, s, j) => p * (j === 0 ? start[s]! : transition[path[j - 1]!]![s]!), 1);
    return { path, chance, counts: Array.from({ length: states }, (_, s) => path.filter((x) => x === s).length) };
  });
  let worst = 0;
  for (let code = 0; code < (length + 1) ** states; code++) {
    const output = Array.from({ length: states }, (_, s) => Math.floor(code / (length + 1) ** s) % (length + 1));
    const seen = paths.map(
      ({ counts, chance }) => chance * Math.exp(-counts.reduce((d, c, s) => d + Math.abs(c - output[s]!), 0) / scale),
    );
    for (let j = 0; j < length; j++) {
      const given = Array.from({ length: states }, (_, s) => {
        let [likely, total] = [0, 0];
        paths.forEach(({ path, chance }, k) => {
          if (path[j] !== s) return;
          likely += seen[k]!;
          total += chance;
        });
        return likely / total;
      });
      worst = Math.max(worst, Math.log(Math.max(...given) / Math.min(...given)));
    }
  }
  return worst;
}

describe('losses of state frequencies', () => {
  it('with two states the loss is that of both counts, as an enumeration of all paths and outputs finds', () => {
    for (const [transition, start] of [
      [p1, [0.8, 0.2]],
      [
        [
          [0.3, 0.7],
          [0.6, 0.4],
        ],
        [6 / 13, 7 / 13],
      ],
    ] as const) {
      const found = compareHistograms(chain(transition, 7), 'histogram', 1)!;
      for (const m of found.mechanisms) {
        expect(m.lossUninformed, m.name).toBeCloseTo(enumeratedLoss(transition, start, 7, m.scale), 9);
        expect(m.lossAtLeast).toBeUndefined();
      }
    }
  });

  it('the loss by logarithms is the same where likelihoods leave the range of doubles', () => {
    const loss = new SumLoss(new SumDistributions(chain(p1, 7), (_, value) => (value === 0 ? 1 : 0)), 7);
    expect(loss.atTwice(0.1)).toBeCloseTo(enumeratedLoss(p1, [0.8, 0.2], 7, 0.1), 9);
    // Two counts, each one step away: 2 / scale more than the path's own probabilities give.
    expect(loss.atTwice(0.01) - loss.atTwice(0.0125)).toBeCloseTo(2 / 0.01 - 2 / 0.0125, 6);
  });

  it('with three states the losses are lower bounds, and labelled as such', () => {
    const three = [
      [0.6, 0.2, 0.2],
      [0.2, 0.6, 0.2],
      [0.2, 0.2, 0.6],
    ];
    const found = compareHistograms(chain(three, 5), 'histogram', 1)!;
    for (const m of found.mechanisms) {
      expect(m).toMatchObject({ lossAtLeast: true, ratioAtLeast: true });
      expect(m.lossUninformed, m.name).toBeLessThanOrEqual(enumeratedLoss(three, [1 / 3, 1 / 3, 1 / 3], 5, m.scale) + 1e-9);
      expect(m.holds, m.name).toBe(m.certified);
    }
  });

  it('the losses decide nothing about an informed adversary: a promise to one is proven or not', () => {
    const { by } = rows(p1, 30);
    expect(by.get('calculus-informed')).toMatchObject({ ratioAtLeast: true, holds: true });
    expect(by.get('calculus')!.ratioAtLeast).toBeUndefined();
  });
});

describe('state frequencies of one long chain', () => {
  it('the comparison lists every mechanism, with two counts changed by a record', () => {
    const { by } = rows(p1, 100);
    expect([...by.keys()]).toEqual([
      'laplace',
      'markov-quilt',
      'markov-quilt-approximate',
      'zhao-robust',
      'group',
      'calculus',
      'calculus-informed',
      'wasserstein',
    ]);
    expect(by.get('markov-quilt')!.scale).toBeCloseTo(2 * 12.839964, 5);
    expect(by.get('zhao-robust')!.scale).toBeCloseTo(2 * 13.614535, 5);
    expect(by.get('group')!.scale).toBe(200);
    expect(by.get('wasserstein')!.scale).toBe(8);
    expect(by.get('calculus')!.scale).toBeLessThan(by.get('markov-quilt')!.scale);
    expect(by.get('calculus-informed')!.scale).toBeLessThan(by.get('zhao-robust')!.scale);
  });

  it('plain noise loses more than it promises, and the others do not', () => {
    const { by, left } = rows(p1, 100);
    expect(by.get('laplace')!.holds).toBe(false);
    for (const m of by.values()) if (m.certified) expect(m.holds, m.name).toBe(true);
    expect(left.join(' ')).toContain('not applicable');
  });

  it('inferential privacy applies if neighbours have little influence, and with more than two states', () => {
    const mild = [
      [0.4, 0.3, 0.3],
      [0.3, 0.4, 0.3],
      [0.3, 0.3, 0.4],
    ];
    const { by } = rows(mild, 60, 2);
    expect(by.get('inferential')!.scale).toBeGreaterThan(2);
    expect(by.get('inferential')!.certified).toBe(false);
    expect(by.has('wasserstein')).toBe(false);
  });

  it('several people need the noise of one chain, and the bound holds for chains of any length', () => {
    const people = readModel(
      JSON.stringify({ chain: { length: 1000, people: 30, transition: p1, initial: 'stationary' } }),
      'people.json',
    );
    const several = compareOnModel(people, 'histogram', 5).mechanisms;
    const one = rows(p1, 1000, 5).mechanisms;
    expect(several.map(({ name, scale }) => [name, scale])).toEqual(one.map(({ name, scale }) => [name, scale]));
    const scale = (name: string) => one.find((m) => m.name === name)!.scale;
    expect(scale('calculus')).toBeLessThan(scale('markov-quilt'));
    expect(scale('calculus-informed')).toBeLessThan(scale('zhao-robust'));
  });

  it('the comparison states the unknown losses of a chain too long for them', () => {
    const { by, left } = rows(p1, 2000);
    expect(by.get('laplace')).toMatchObject({ lossUninformed: Number.NaN, holds: false });
    expect(by.get('calculus')!.holds).toBe(true);
    expect(left.join(' ')).toContain('On a chain this long, losses are not computed');
  });
});
