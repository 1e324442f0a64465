import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { number, samplePolicy } from '../../../test/sample-policy.js';
import { leakageBounds } from '../../privacy/dependence/leakage.js';
import { gaussianGraph } from './gaussian.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-gaussian-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface GaussianCase {
  readonly precision: readonly [number, number];
  readonly mean: number;
  readonly bounds: readonly [number, number];
}

/** Bound by the product: two numbers, each released with Laplace noise at this cost. */
function bound({ precision: [own, cross], bounds }: GaussianCase, cost: number, read: GaussianCase['bounds'] = bounds): number {
  const file = join(folder, 'q.json');
  writeFileSync(
    file,
    JSON.stringify({
      records: ['x', 'y'],
      precision: [
        [own, cross],
        [cross, own],
      ],
      bounds,
    }),
  );
  const columns = ['x', 'y'].map((name) => number(name, `${read[0]}`, `${read[1]}`, '0.01'));
  const policy = samplePolicy(columns, { secret: 'answer' });
  const graph = gaussianGraph({ kind: 'gaussian', precision: file }, policy, 2, (id) => ['x', 'y'].indexOf(id));
  return leakageBounds(graph, cost, 'informed').worst.leakage;
}

const line = (from: number, to: number, points: number): number[] =>
  Array.from({ length: points }, (_, k) => from + ((to - from) * k) / (points - 1));
const weight = ({ precision: [own, cross], mean }: GaussianCase, x: number, y: number): number =>
  Math.exp(-(own * (x - mean) ** 2 + own * (y - mean) ** 2) / 2 - cross * (x - mean) * (y - mean));

/** P(read x, read y) on the points a release can read: values up to `reach` occur, and those outside `read` are clamped to it. */
function readDistribution(
  distribution: GaussianCase,
  reach: GaussianCase['bounds'],
  read: GaussianCase['bounds'],
): { readonly points: number[]; readonly joint: number[][] } {
  const points = line(...read, 21);
  const joint = points.map(() => points.map(() => 0));
  const place = (v: number): number =>
    Math.round(((Math.min(read[1], Math.max(read[0], v)) - read[0]) / (read[1] - read[0])) * (points.length - 1));
  const steps = Math.min(1201, Math.round(20 * ((reach[1] - reach[0]) / (read[1] - read[0]))) + 1);
  const all = line(...reach, steps);
  for (const x of all) for (const y of all) joint[place(x)]![place(y)]! += weight(distribution, x, y);
  return { points, joint };
}

/** Largest log-likelihood ratio between two values of x over the outputs of Laplace noise on both numbers. */
function exactLoss({ points, joint }: ReturnType<typeof readDistribution>, cost: number): number {
  const width = points.at(-1)! - points[0]!;
  let worst = 0;
  for (const seen of points) {
    const likelihood = points.map((v) => Math.exp((-cost * Math.abs(v - seen)) / width));
    const given = joint.flatMap((row) => {
      const total = row.reduce((s, p) => s + p, 0);
      return total > 0 ? [row.reduce((s, p, k) => s + p * likelihood[k]!, 0) / total] : [];
    });
    worst = Math.max(worst, Math.log(Math.max(...given) / Math.min(...given)));
  }
  return cost + worst;
}

describe('a Gaussian distribution of two numbers', () => {
  const distributions: readonly GaussianCase[] = [
    { precision: [1, -0.99], mean: 0, bounds: [-0.1, 0.1] },
    { precision: [2, -1], mean: 0.5, bounds: [0, 1] },
    { precision: [9, 8], mean: 0, bounds: [-1, 1] },
    { precision: [0.3, -0.2], mean: 4, bounds: [0, 5] },
  ];

  it.each(distributions)('the bound holds if nothing lies outside the bounds of the distribution: %o', (distribution) => {
    for (const cost of [0.05, 0.5, 2])
      expect(exactLoss(readDistribution(distribution, distribution.bounds, distribution.bounds), cost)).toBeLessThanOrEqual(
        bound(distribution, cost) + 1e-9,
      );
  });

  it.each(distributions)('the bound holds for narrower bounds to which numbers are clamped: %o', (distribution) => {
    const [low, high] = distribution.bounds;
    const read = [low + (high - low) / 4, high - (high - low) / 4] as const;
    for (const cost of [0.05, 0.5, 2])
      expect(exactLoss(readDistribution(distribution, distribution.bounds, read), cost)).toBeLessThanOrEqual(
        bound(distribution, cost, read) + 1e-9,
      );
  });

  it('clamping numbers from outside the bounds leaks more, so the assumption must exclude them', () => {
    const [narrow] = distributions;
    expect(exactLoss(readDistribution(narrow!, [-6, 6], narrow!.bounds), 0.5)).toBeGreaterThan(1.5 * bound(narrow!, 0.5));
  });
});
