import { describe, expect, it } from 'vitest';
import { pairTablesOfJoint } from '../../../../test/pair-tables-of-joint.js';
import { readVectors } from '../../../../test/vectors.js';
import { Fault } from '../../../base/errors.js';
import { columnQuilt, dependentSensitivity, tabularNoise, tabularReadings } from './tabular.js';
import { leastTabularScale, tabularLoss } from './tabular-loss.js';

interface Vector {
  id: string;
  parents: number[][];
  joint_weights: unknown;
  eps: number;
  paper_DS: number | null;
  paper_loss_i?: number;
  paper_loss_ii?: number;
  test_scale: number;
  loss_i: number;
  loss_ii: number;
  quilt_scale: number;
  composition_scale_replace: number;
  min_scale_i: number;
}
const vectors: Vector[] = readVectors('exact-loss').tabular;

const shapeOf = (nested: unknown): number[] => (Array.isArray(nested) ? [nested.length, ...shapeOf(nested[0])] : []);
const flat = (nested: unknown): number[] => [nested].flat(Number.POSITIVE_INFINITY) as number[];
const all = (sizes: readonly number[], scale: number): number[] => sizes.map(() => 2 / scale);

describe('the tabular vectors', () => {
  it.each(vectors.map((v) => [v.id, v] as const))('the vector %s is reproduced', (_, v) => {
    const sizes = shapeOf(v.joint_weights);
    const weights = flat(v.joint_weights);
    const names = sizes.map((_, c) => `x${c}`);
    const pairs = pairTablesOfJoint(names, sizes, weights);
    const ds = dependentSensitivity(pairs, { columns: sizes.map((_, c) => c), parents: v.parents }, tabularReadings.conditional);
    expect(v.paper_DS === null ? Number.isFinite(ds) : Math.abs(ds - v.paper_DS) > 1e-9).toBe(false);
    expect(tabularLoss(weights, sizes, all(sizes, v.test_scale), 'uninformed').loss).toBeCloseTo(v.loss_i, 8);
    expect(tabularLoss(weights, sizes, all(sizes, v.test_scale), 'informed').loss).toBeCloseTo(v.loss_ii, 8);
    if (v.paper_loss_i !== undefined)
      expect(tabularLoss(weights, sizes, all(sizes, ds / v.eps), 'uninformed').loss).toBeCloseTo(v.paper_loss_i, 7);
    if (v.paper_loss_ii !== undefined)
      expect(tabularLoss(weights, sizes, all(sizes, ds / v.eps), 'informed').loss).toBeCloseTo(v.paper_loss_ii, 7);
    expect(columnQuilt(weights, sizes, v.eps)).toBeCloseTo(v.quilt_scale, 8);
    expect((2 * sizes.length) / v.eps).toBeCloseTo(v.composition_scale_replace, 9);
    // the vector was found by bisection to about 1e-4
    expect(leastTabularScale(weights, sizes, v.eps, 'uninformed') / v.min_scale_i).toBeCloseTo(1, 3);
  });
});

describe('the coefficient of an edge', () => {
  it('the coefficient leaves out an answer that nobody gave, in every reading without smoothing', () => {
    const chunk = { columns: [0, 1], parents: [[], [0]] };
    const given = pairTablesOfJoint(['a', 'b'], [2, 2], [70, 30, 30, 70]);
    const declared = pairTablesOfJoint(['a', 'b'], [3, 3], [70, 30, 0, 30, 70, 0, 0, 0, 0]);
    for (const name of ['conditional', 'zeros-ignored', 'joint', 'max-row', 'clipped'] as const) {
      const of = (pairs: typeof given) => dependentSensitivity(pairs, chunk, tabularReadings[name]);
      expect([name, of(declared)]).toEqual([name, of(given)]);
    }
  });
});

/** prize, first choice, opened door: the host never opens either. */
const montyHall = (() => {
  const weights: number[] = [];
  for (let prize = 0; prize < 3; prize++)
    for (let choice = 0; choice < 3; choice++)
      for (let open = 0; open < 3; open++) weights.push(open === prize || open === choice ? 0 : prize === choice ? 1 : 2);
  return weights;
})();
const doors = [3, 3, 3];
const network = { columns: [0, 1, 2], parents: [[], [], [0, 1]] };

describe('Tabular-DDP on the paper’s own example', () => {
  const pairs = pairTablesOfJoint(['prize', 'choice', 'opened'], doors, montyHall);

  it('the mechanism is refused: a structural zero needs infinite noise', () => {
    expect(() => tabularNoise(pairs, { chunks: [network], chunkSize: 3, epsilon: 1 }, { asPublished: true })).toThrow(
      /infinite noise in 1 of 1/,
    );
  });

  it('the noise that is exactly needed is finite, between one column and composition', () => {
    const need = [0.1, 1, 10].map((epsilon) => leastTabularScale(montyHall, doors, epsilon, 'uninformed') * epsilon);
    expect(need.map((x) => Number(x.toFixed(2)))).toEqual([4.02, 4.16, 5.12]);
  });
});

describe('Tabular-DDP', () => {
  const strangers = pairTablesOfJoint(['a', 'b'], [2, 2], [1, 1, 1, 1]);
  const edgeless = { columns: [0, 1], parents: [[], []] };
  const weak = pairTablesOfJoint(['a', 'b'], [2, 2], [6, 4, 4, 6]);
  const edge = { columns: [0, 1], parents: [[], [0]] };

  it('Tabular-DDP adds no noise to a chunk without edges, and is refused for it', () => {
    expect(() => tabularNoise(strangers, { chunks: [edgeless], chunkSize: 2, epsilon: 1 })).toThrow(Fault);
    const published = tabularNoise(strangers, { chunks: [edgeless], chunkSize: 2, epsilon: 1 }, { asPublished: true });
    expect(published.scales).toEqual([0, 0]);
    expect(published.certified).toBe(false);
    expect(published.problems.join(' ')).toMatch(/counts would be exact/);
  });

  it('Tabular-DDP loses several times epsilon on a weak edge', () => {
    for (const [epsilon, times] of [
      [0.1, 5.9],
      [1, 5.33],
      [10, 4.97],
    ] as const) {
      const scale = tabularNoise(weak, { chunks: [edge], chunkSize: 2, epsilon }, { asPublished: true }).scales[0]!;
      expect(scale * epsilon).toBeCloseTo(Math.log(1.5), 9);
      expect(tabularLoss([6, 4, 4, 6], [2, 2], all([2, 2], scale), 'uninformed').loss / epsilon).toBeCloseTo(times, 2);
    }
  });

  it('the scale grows with the number of chunks as printed', () => {
    const four = pairTablesOfJoint(
      ['a', 'b', 'c', 'd'],
      [2, 2, 2, 2],
      flat([6, 4, 4, 6].map((p) => [6, 4, 4, 6].map((q) => p * q))),
    );
    const chunks = [edge, { columns: [2, 3], parents: [[], [0]] }];
    expect(tabularNoise(four, { chunks, chunkSize: 2, epsilon: 1 }, { asPublished: true }).scales[0]).toBeCloseTo(
      2 * Math.log(1.5),
      9,
    );
  });

  it('line 5 can be read in every documented way', () => {
    const values = Object.values(tabularReadings).map((reading) => dependentSensitivity(weak, edge, reading));
    expect(values.every((ds) => ds > 0 && ds <= Math.log(1.5) + 1e-12)).toBe(true);
    expect(dependentSensitivity(weak, edge, tabularReadings['add-one'])).toBeCloseTo(Math.log(7 / 5), 9);
  });
});
