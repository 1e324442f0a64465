import { describe, expect, it } from 'vitest';
import { grouped } from './grouped.js';

describe('a whole number as people read it', () => {
  it('is what the locale makes of it', () => {
    for (const x of [0, 7, 999, 1000, 12345, -1, -1000, -123456, 1e6, 2 ** 53, 1e21, 99.6, -0])
      expect(grouped(x)).toBe(Math.round(x === 0 ? 0 : x).toLocaleString('en-US'));
  });
});
