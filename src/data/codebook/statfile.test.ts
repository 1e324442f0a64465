import { describe, expect, it } from 'vitest';
import type { StatVariable } from '../statfile/statfile.js';
import { codebookOf } from './statfile.js';

const entry = (variable: Partial<StatVariable>) =>
  codebookOf([{ name: 'v', kind: 'number', labels: new Map(), missing: [], ...variable }]).get('v');

describe('the codebook of a survey file', () => {
  it('labelled codes are answers, unless they are declared missing', () => {
    const labels = new Map([
      ['1', 'yes'],
      ['2', 'no'],
      ['99', 'refused'],
    ]);
    expect(entry({ labels, missing: ['99', '98'], label: 'Agree?' })).toEqual({
      label: 'Agree?',
      values: ['1', '2'],
      labels,
      missing: ['99', '98'],
    });
  });

  it('labelled codes in an open missing range are missing', () => {
    const labels = new Map([
      ['-9', 'refused'],
      ['0', 'none'],
      ['1', 'one'],
    ]);
    const missingRanges = [{ low: Number.NEGATIVE_INFINITY, high: -1 }];
    expect(entry({ labels, missingRanges })).toMatchObject({ values: ['0', '1'], missing: ['-9'] });
  });

  it('the question text takes precedence over the label, and codes have one spelling', () => {
    const labels = new Map([
      [' 1.0 ', ' one '],
      ['', 'blank'],
      ['2', ''],
    ]);
    expect(entry({ labels, label: 'V', question: 'Which?' })).toEqual({
      label: 'Which?',
      values: ['1', '2'],
      labels: new Map([['1', 'one']]),
      missing: [],
    });
  });

  it('dates have no answers, and a variable without description has no entry', () => {
    expect(entry({ kind: 'date', labels: new Map([['2020-01-01', 'New Year']]) })!.values).toEqual([]);
    expect(entry({})).toBeUndefined();
  });
});
