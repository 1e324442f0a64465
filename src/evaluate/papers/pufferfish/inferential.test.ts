import { describe, expect, it } from 'vitest';
import { inferentialBase } from './inferential.js';

const stay = (p: number) => ({
  transition: [
    [p, 1 - p],
    [1 - p, p],
  ],
  length: 100,
});

describe('inferential privacy on a chain', () => {
  it('inferential privacy halves epsilon for independent records', () => {
    expect(inferentialBase(stay(0.5), 1)).toBeCloseTo(0.5, 12);
    const any = {
      transition: [
        [0.2, 0.3, 0.5],
        [0.2, 0.3, 0.5],
        [0.2, 0.3, 0.5],
      ],
      length: 7,
    };
    expect(inferentialBase(any, 3)).toBeCloseTo(1.5, 12);
  });

  it('inferential privacy adds the influence of neighbours', () => {
    // Between 1 and 1 a record is 0 with 4/13, between 0 and 1 with 1/2: the largest of the ratios is 13/8.
    const gamma = Math.log(13 / 8) / 2;
    expect(inferentialBase(stay(0.6), 1)).toBeCloseTo((1 - 2 * gamma) / 2, 9);
    // By hand for three records: rows of the inverse sum to (1 + gamma) / (1 - 2 gamma^2) at the ends, (1 + 2 gamma) / (1 - 2 gamma^2) in the middle.
    expect(inferentialBase({ ...stay(0.6), length: 3 }, 1)).toBeCloseTo((1 - 2 * gamma ** 2) / (2 * (1 + 2 * gamma)), 12);
  });

  it('inferential privacy is not applicable if neighbours have too much influence, or determine a record', () => {
    expect(inferentialBase(stay(0.7), 1)).toBeUndefined();
    expect(
      inferentialBase(
        {
          transition: [
            [0.8, 0.2],
            [0, 1],
          ],
          length: 10,
        },
        1,
      ),
    ).toBeUndefined();
  });
});
