import fc from 'fast-check';
import { expect, it } from 'vitest';
import { thousands } from './figures.js';

it('thousands are told apart as people write them, whatever the number', () => {
  for (const x of [0, 7, 999, 1000, -1000, -999_999, 12_345_678, 2 ** 53, 1e23, Number.POSITIVE_INFINITY])
    expect(thousands(x)).toBe(x.toLocaleString('en-US'));
  fc.assert(fc.property(fc.maxSafeInteger(), (x) => thousands(x) === (x + 0).toLocaleString('en-US')));
});
