import { describe, expect, it } from 'vitest';
import { clippedShift, correlationBound, fromCovariance, isAttractive, shift, worstShift } from './gaussian.js';

const equicorrelated = (m: number, r: number, signs = new Array<number>(m).fill(1)) =>
  signs.map((s, i) => signs.map((t, j) => (i === j ? 1 : r * s * t)));
const ones = (n: number) => new Array<number>(n).fill(1);

describe('Gaussian Bayesian privacy', () => {
  it('the leakage of a connected Laplacian is the component size, and less with knowledge', () => {
    const w = [
      [0, 1, 0.2],
      [1, 0, 0.5],
      [0.2, 0.5, 0],
    ];
    const precision = w.map((row, i) => row.map((x, j) => (i === j ? row.reduce((s, y) => s + y, 0) : -x)));
    const model = { precision, weights: ones(3) };
    expect(shift(model, 0)).toBeCloseTo(3, 12);
    expect(shift(model, 0, new Set([1]))).toBeCloseTo(1.285714, 6);
    expect(shift(model, 0, new Set([2]))).toBeCloseTo(1.666667, 6);
    expect(shift(model, 0, new Set([1, 2]))).toBeCloseTo(1, 12);
    expect(worstShift(model).shift).toBeCloseTo(3, 12);
  });

  it('the leakage reproduces the exact values next to the published bound', () => {
    expect(correlationBound(2, 0.45)).toBeCloseTo(1.45, 12);
    expect(worstShift(fromCovariance(equicorrelated(2, 0.45), ones(2))).shift).toBeCloseTo(1.45, 9);
    expect(correlationBound(3, 0.3)).toBeCloseTo(1.964286, 6);
    expect(worstShift(fromCovariance(equicorrelated(3, 0.3), ones(3))).shift).toBeCloseTo(1.6, 9);
    expect(correlationBound(3, 0.4)).toBeCloseTo(2.5, 12);
    expect(correlationBound(4, 0.5)).toBe(Number.POSITIVE_INFINITY);
  });

  it('the leakage of three records correlated +,+,- is 1.8, below the published 2.5', () => {
    const covariance = [
      [1, 0.4, 0.4],
      [0.4, 1, -0.4],
      [0.4, -0.4, 1],
    ];
    const model = fromCovariance(covariance, ones(3));
    expect(isAttractive(model)).toBe(false);
    expect(worstShift(model).shift).toBeCloseTo(1.8, 9);
  });

  it('the leakage inside a long AR(1) sequence approaches (1+r)/(1-r)', () => {
    const covariance = Array.from({ length: 41 }, (_, i) => Array.from({ length: 41 }, (_, j) => 0.5 ** Math.abs(i - j)));
    const model = fromCovariance(covariance, ones(41));
    expect(isAttractive(model)).toBe(true);
    expect(worstShift(model)).toMatchObject({ record: 20, known: [] });
    expect(worstShift(model).shift).toBeCloseTo(3, 5);
  });

  it('the shortcut is used only where it is exact', () => {
    const covariance = [
      [1, 0.3, 0.1, 0.2],
      [0.3, 1, 0.3, 0.1],
      [0.1, 0.3, 1, 0.3],
      [0.2, 0.1, 0.3, 1],
    ];
    const model = fromCovariance(covariance, ones(4));
    const mixed = { ...model, weights: [1, 1, 1, -1] };
    const all = (m: typeof model) =>
      Math.max(
        ...[0, 1, 2, 3].flatMap((i) =>
          Array.from({ length: 16 }, (_, mask) =>
            Math.abs(shift(m, i, new Set([0, 1, 2, 3].filter((k) => k !== i && (mask >> k) & 1)))),
          ),
        ),
      );
    expect(worstShift(model).shift).toBeCloseTo(all(model), 12);
    expect(worstShift(mixed).shift).toBeCloseTo(all(mixed), 12);
  });

  it('the leakage of clipped values adds absolute changes', () => {
    const covariance = [
      [1, 0.4, -0.4],
      [0.4, 1, 0],
      [-0.4, 0, 1],
    ];
    const model = fromCovariance(covariance, ones(3));
    expect(shift(model, 0)).toBeCloseTo(1, 9);
    expect(clippedShift(model, 0)).toBeCloseTo(1.8, 9);
  });

  it('a singular covariance and an enumeration that is too large are refused', () => {
    expect(() =>
      fromCovariance(
        [
          [1, 1],
          [1, 1],
        ],
        ones(2),
      ),
    ).toThrow(expect.objectContaining({ code: 'MODEL_INVALID' }));
    const n = 25;
    const precision = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? n : 0.5)));
    expect(() => worstShift({ precision, weights: ones(n) })).toThrow(
      expect.objectContaining({ code: 'MODEL_TOO_LARGE', details: { size: 24, limit: 20 } }),
    );
  });
});
