import { describe, expect, it } from 'vitest';
import { withoutCodes } from './codebook.js';

const without = (labels: Record<string, string>) => Object.fromEntries(withoutCodes(new Map(Object.entries(labels))));

describe('labels that begin with their own codes', () => {
  it('labels lose their code when all of them begin with it', () => {
    expect(without({ '1': '1. Yes', '2': '2. No', '-7': '-7. No interview' })).toEqual({
      '1': 'Yes',
      '2': 'No',
      '-7': 'No interview',
    });
    expect(without({ a: 'a) tea', b: 'b) coffee' })).toEqual({ a: 'tea', b: 'coffee' });
    expect(without({ '0': '0 - never', '1': '1 - often' })).toEqual({ '0': 'never', '1': 'often' });
  });

  it('labels stay unchanged when one does not begin with its code, or when the number goes on', () => {
    for (const labels of [
      { '1': '1. Yes', '2': 'No' },
      { '1': '1-2 times', '2': '2-5 times' },
      { '1': '1.5 hours', '2': '2.5 hours' },
      { '1': '1. Yes' },
    ] as Record<string, string>[])
      expect(without(labels)).toEqual(labels);
  });
});
