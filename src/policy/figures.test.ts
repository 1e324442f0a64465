import fc from 'fast-check';
import { expect, it } from 'vitest';
import { figureText, percentFigure, thousands, upperFigure } from './figures.js';

it('a whole number of any size is written with thousands separators', () => {
  for (const x of [0, 7, 999, 1000, -1000, -999_999, 12_345_678, 2 ** 53, 1e23, Number.POSITIVE_INFINITY])
    expect(thousands(x)).toBe(x.toLocaleString('en-US'));
  fc.assert(fc.property(fc.maxSafeInteger(), (x) => thousands(x) === (x + 0).toLocaleString('en-US')));
});

it('a limit is rounded up to three digits, and a number of three digits is unchanged', () => {
  expect([figureText(Math.exp(0.2)), upperFigure(Math.exp(0.2))]).toEqual(['1.22', '1.23']);
  expect([percentFigure(0.8585, Math.ceil), percentFigure(0.3, Math.ceil), percentFigure(0.07, Math.floor), percentFigure(0)]).toEqual(['85.9 %', '30 %', '7 %', '0 %']); // biome-ignore format: one line
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1, noNaN: true }), (x) => {
      const [low, high] = [percentFigure(x, Math.floor), percentFigure(x, Math.ceil)].map(
        (text) => Number.parseFloat(text) / 100,
      );
      return low! <= x * (1 + 1e-8) && x <= high! * (1 + 1e-8) && high! - low! <= 0.0101 * x;
    }),
  );
});
