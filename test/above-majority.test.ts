import { describe, expect, it } from 'vitest';
import { aboveMajority } from '../experiments/above-majority.js';

describe('an experiment that prints an accuracy without privacy', () => {
  const truth = [true, false, false, false];
  it('an experiment fails when always guessing the majority class does as well or better', () => {
    for (const accuracy of [0.261, 0.5, 0.75]) expect(() => aboveMajority(accuracy, truth, 'Figure 9b')).toThrow('Figure 9b');
    expect(() =>
      aboveMajority(
        0.6,
        truth.map((x) => !x),
        'mostly positive',
      ),
    ).toThrow('75.0 %');
  });

  it('an experiment goes on with any accuracy above the majority class', () => {
    expect(aboveMajority(0.829, truth, 'Adult')).toBe(0.829);
  });
});
