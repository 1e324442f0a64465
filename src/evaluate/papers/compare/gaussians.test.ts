import { describe, expect, it } from 'vitest';
import { readGaussian } from '../bayesian-dp/gaussian-file.js';
import { compareGaussians } from './gaussians.js';

const read = (gaussian: object) => readGaussian({ gaussian }, 'gaussian.json')!;
const rows = (gaussian: object, query = 'sum', epsilon = 1) =>
  new Map(compareGaussians(read(gaussian), query, epsilon).mechanisms.map((m) => [m.name, m]));
const pair = {
  covariance: [
    [1, 0.45],
    [0.45, 1],
  ],
  bounds: [0, 1],
};

describe('the comparison on Gaussian records', () => {
  it('the comparison lists the published mechanisms, labelled', () => {
    const by = rows(pair);
    expect([...by.keys()]).toEqual([
      'laplace',
      'group',
      'gaussian-bayesian',
      'gaussian-correlation',
      'gaussian-clipped',
      'calculus-informed',
    ]);
    // mechanisms.md d: the exact value and the published bound are 1.45 for two with correlation 0.45.
    expect(by.get('gaussian-bayesian')).toMatchObject({ certified: false, holds: true });
    expect(by.get('gaussian-bayesian')!.scale).toBeCloseTo(1.45, 9);
    expect(by.get('gaussian-correlation')!.scale).toBeCloseTo(1.45, 9);
    expect(by.get('laplace')).toMatchObject({ certified: false, holds: false });
    expect(by.get('laplace')!.lossInformed).toBeCloseTo(1.45, 9);
    expect(by.get('group')).toMatchObject({ scale: 2, certified: true });
    expect(by.get('calculus-informed')!.scale).toBeLessThan(2);
  });

  it('the values agree with other programs: equal correlations, mixed signs, weights and widths', () => {
    const of = (r: number, signs = [1, 1, 1]) => ({
      covariance: signs.map((_, i) => signs.map((_, j) => (i === j ? 1 : i + j === 3 ? r * signs[2]! : r))),
      bounds: [0, 1],
    });
    expect(rows(of(0.3)).get('gaussian-bayesian')!.scale).toBeCloseTo(1.6, 9);
    expect(rows(of(0.3)).get('gaussian-correlation')!.scale).toBeCloseTo(1.964286, 6);
    expect(rows(of(0.4, [1, 1, -1])).get('gaussian-bayesian')!.scale).toBeCloseTo(1.8, 9);
    expect(rows(of(0.4, [1, 1, -1])).get('gaussian-correlation')!.scale).toBeCloseTo(2.5, 9);
    expect(
      rows(
        {
          ...pair,
          bounds: [
            [0, 1],
            [0, 10],
          ],
        },
        'sum',
        2,
      ).get('gaussian-bayesian')!.scale,
    ).toBeCloseTo(7.25, 9);
    expect(rows(pair, 'sum:1,-1').get('gaussian-bayesian')!.scale).toBeCloseTo(1, 9);
    expect(rows(pair, 'sum:1,-1').has('gaussian-correlation')).toBe(false);
  });

  it('under a Laplacian there are as many records as in the graph', () => {
    const w = [
      [0, 1, 0.2],
      [1, 0, 0.5],
      [0.2, 0.5, 0],
    ];
    const precision = w.map((row, i) => row.map((x, j) => (i === j ? row.reduce((s, y) => s + y, 0) : -x)));
    expect(rows({ precision, bounds: [0, 1] }).get('gaussian-bayesian')!.scale).toBeCloseTo(3, 9);
  });

  it.each([
    [{ covariance: [[1, 0.5]], bounds: [0, 1] }],
    [
      {
        covariance: [
          [1, 0.5],
          [0.4, 1],
        ],
        bounds: [0, 1],
      },
    ],
    [{ bounds: [0, 1] }],
    [{ ...pair, precision: pair.covariance }],
    [{ ...pair, bounds: [1, 0] }],
    [{ ...pair, bounds: [[0, 1]] }],
    [{ ...pair, records: ['a', 'a'] }],
    [
      {
        covariance: [
          [1, 1],
          [1, 1],
        ],
        bounds: [0, 1],
      },
    ],
  ])('the model %j is refused', (gaussian) => {
    expect(() => read(gaussian)).toThrow(expect.objectContaining({ code: 'MODEL_INVALID' }));
  });
  it('a matrix that gives some sum a negative variance is refused', () => {
    const wrong = [
      [1, 2],
      [2, 1],
    ];
    const triangle = [
      [1, 0.9, 0.9],
      [0.9, 1, -0.9],
      [0.9, -0.9, 1],
    ];
    for (const matrix of [{ covariance: wrong }, { precision: wrong }, { covariance: triangle }])
      expect(() => read({ ...matrix, bounds: [0, 10] })).toThrow(expect.objectContaining({ code: 'MODEL_INVALID' }));
  });

  it('a query that is no sum is refused', () => {
    expect(() => compareGaussians(read(pair), 'histogram', 1)).toThrow(expect.objectContaining({ code: 'QUERY_UNSUPPORTED' }));
  });
});
