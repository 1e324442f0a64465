import { describe, expect, it } from 'vitest';
import { crowd } from './belief-picture.js';
import { colour } from './svg.js';

const filled = (right: number, of: number) => crowd(right, of, '').body.split(`fill="${colour.accent}"`).length - 1;

describe('the picture of a crowd', () => {
  it('a crowd shows as many filled people as its percentage, rounded up', () => {
    expect([filled(0.232, 1), filled(0.503, 1), filled(10, 100), filled(0.07, 1), filled(3, 1000), filled(0, 1)]).toEqual([
      24, 51, 10, 7, 1, 0,
    ]);
  });
});
