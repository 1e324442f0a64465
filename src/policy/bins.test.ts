import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { number, samplePolicy } from '../../test/sample-policy.js';
import { add, divide, floor, multiply, type Rational, rational, subtract, toNumber } from '../base/exact/rational.js';
import { groupKeyOf } from '../query/keys.js';
import { defaultEdges, evenEdges } from './bins.js';
import { gridOf, positionsWhere } from './grid.js';
import type { NumberColumn } from './policy.js';

const column = (low: number, high: number, step = '1', more: object = {}) =>
  number('x', `${low}`, `${high}`, step, more) as NumberColumn;
/** Number of values in each bin. */
function sizes(low: number, high: number, edges: readonly Rational[]): number[] {
  const ends = [low, ...edges.map(toNumber), high + 1];
  return ends.slice(1).map((end, k) => end - ends[k]!);
}
/** All of one size, only the last may be smaller. */
const isEven = (found: readonly number[]): boolean =>
  found.slice(0, -1).every((n) => n === found[0]) && found.at(-1)! <= found[0]! && found.at(-1)! > 0;
/** Equal parts of the range, rounded down to integers. */
const roundedEdges = (low: number, high: number, count: number): Rational[] => {
  const width = divide(subtract(rational(high), rational(low)), rational(count));
  return Array.from({ length: count - 1 }, (_, k) => rational(floor(add(rational(low), multiply(width, rational(k + 1))))));
};

describe('default bins of integers', () => {
  it('bins of integers hold equally many values, the last possibly fewer', () => {
    expect(sizes(17, 90, evenEdges(column(17, 90), 10))).toEqual([8, 8, 8, 8, 8, 8, 8, 8, 8, 2]);
    expect(sizes(1, 100, evenEdges(column(1, 100), 10))).toEqual(new Array(10).fill(10));
    fc.assert(
      fc.property(
        fc.integer({ min: -50, max: 50 }),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 40 }),
        (low, more, count) => {
          const found = sizes(low, low + more, evenEdges(column(low, low + more), count));
          expect(isEven(found)).toBe(true);
          expect(found.length).toBeLessThanOrEqual(count);
        },
      ),
    );
    expect(isEven(sizes(17, 90, roundedEdges(17, 90, 10)))).toBe(false);
  });

  it('about ten bins are made by default, all equal if a number near ten divides the values', () => {
    expect(sizes(0, 95, defaultEdges(column(0, 95)))).toEqual(new Array(8).fill(12));
    expect(sizes(0, 98, defaultEdges(column(0, 98)))).toEqual(new Array(9).fill(11));
    // Without such a width, bins hold a round number of values.
    expect(sizes(0, 100, defaultEdges(column(0, 100)))).toEqual([...new Array(10).fill(10), 1]);
    expect(sizes(17, 90, defaultEdges(column(17, 90)))).toEqual([...new Array(7).fill(10), 4]);
    expect(sizes(0, 102, defaultEdges(column(0, 102)))).toEqual([...new Array(10).fill(10), 3]);
    expect(sizes(1, 12, defaultEdges(column(1, 12)))).toEqual(new Array(12).fill(1));
    fc.assert(
      fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 300 }), (low, more) => {
        const found = sizes(low, low + more, defaultEdges(column(low, low + more)));
        expect(isEven(found)).toBe(true);
        expect(found.length).toBeLessThanOrEqual(12);
      }),
    );
  });

  it('bins of integers are labelled with the values they hold', () => {
    for (const more of [{}, { bins: evenEdges(column(17, 90), 7) }, { bins: [rational(30), rational(61, 2)] }]) {
      const age = column(17, 90, '1', more);
      const { key, labels } = groupKeyOf(samplePolicy([age]), 'x');
      if (key.kind !== 'bin') throw new Error('no bins');
      for (let value = 17; value <= 90; value++) {
        const { from } = positionsWhere(gridOf(age), '=', rational(value));
        const label = labels[key.edges.filter((edge) => from >= edge).length]!;
        const [first, last = first] = label.split(' to ').map(Number);
        expect(value).toBeGreaterThanOrEqual(first!);
        expect(value).toBeLessThanOrEqual(last!);
      }
    }
  });
});

describe('default bins of other numbers', () => {
  it('bins of other numbers have equal width, and the last includes both its ends', () => {
    expect(defaultEdges(column(0, 100, '0.01')).map(toNumber)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(defaultEdges(column(-2.5, 7.25, '0.05')).map(toNumber)).toEqual([-1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]);
    expect(groupKeyOf(samplePolicy([column(0, 100, '0.01')]), 'x').labels.slice(-3)).toEqual([
      '80 to 89.99',
      '90 to 100',
      '(missing)',
    ]);
    expect(defaultEdges(column(1, 3, '0.5')).map(toNumber)).toEqual([1.5, 2, 2.5, 3]);
  });
});
