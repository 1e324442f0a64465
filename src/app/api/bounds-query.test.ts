import { describe, expect, it } from 'vitest';
import type { AnswerTable } from '../../query/bound.js';
import { boundLadder, learnedBounds } from './bounds-query.js';

const tableOf = (value: number) =>
  ({ rows: [{ keys: [], value, low: value, high: value, rankError: 1 }] }) as unknown as AnswerTable;

describe('learned bounds', () => {
  it('learned bounds are whole steps with the lower below the upper one, whichever rungs the noise selects', () => {
    for (const within of [1, 1000, 1e6]) {
      const ladder = boundLadder(within);
      const places = ladder.rungs.length - 1;
      for (let low = 0; low < places; low++)
        for (let high = 0; high < places; high++)
          for (let digits = 0; digits <= Math.max(0, ladder.digits); digits++) {
            const { bounds, step } = learnedBounds('x', ladder, [tableOf(low), tableOf(high), tableOf(digits)]);
            expect(bounds[0]).toBeLessThan(bounds[1]);
            for (const bound of bounds) expect(Math.abs(bound / step - Math.round(bound / step))).toBeLessThan(1e-6);
          }
    }
  });
});
