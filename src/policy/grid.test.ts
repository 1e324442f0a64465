import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { number } from '../../test/sample-policy.js';
import { gridOf, positionOf } from './grid.js';
import type { NumberColumn } from './policy.js';

const grid = (low: string, high: string, step: string) => gridOf(number('x', low, high, step) as NumberColumn);

describe('the grid of a number', () => {
  it('the grid refuses bounds that doubles cannot distinguish at this step: a cell could move further than the noise covers', () => {
    // 1e17 + 9 is read as 1e17 + 16: sixteen steps where nine were declared.
    expect(() => grid('100000000000000000', '100000000000000009', '1')).toThrow(/too far from zero/);
    expect(() => grid('-1700000000000001000', '-1700000000000000000', '1')).toThrow(/too far from zero/);
    expect(() => grid('1000000000000', '1000000000001', '0.001')).toThrow(/too far from zero/);
    expect(grid('1700000000000', '1700000001000', '1').last).toBe(1000);
  });

  it('a number never gets a position beyond the last, not even by the arithmetic of SQL', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -(2 ** 45), max: 2 ** 45 }),
        fc.integer({ min: 1, max: 2 ** 31 }),
        fc.integer({ min: 0, max: 3 }),
        fc.double({ noNaN: true }),
        (low, steps, digits, x) => {
          const scaled = (n: number) => `${n}e-${digits}`;
          const g = grid(scaled(low), scaled(low + steps), digits === 0 ? '1' : `1e-${digits}`);
          const clamped = Math.min(g.top, Math.max(g.from, x));
          expect(Math.round((clamped - g.from) * g.rate)).toBeLessThanOrEqual(g.last);
          expect(Math.round((g.top - g.from) * g.rate)).toBe(g.last);
          expect(positionOf(g, x)).toBeLessThanOrEqual(g.last);
          expect(positionOf(g, g.top)).toBe(g.last);
        },
      ),
      { numRuns: 300 },
    );
  });
});
