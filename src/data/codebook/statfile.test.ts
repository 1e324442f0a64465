import { describe, expect, it } from 'vitest';
import type { Variable } from '../statfile/statfile.js';
import { codebookOf } from './statfile.js';

const entry = (variable: Partial<Variable>) =>
  codebookOf([{ name: 'v', kind: 'number', labels: new Map(), missing: [], ...variable }]).get('v');

describe('the codebook of a survey file', () => {
  it('takes labelled codes for answers, unless they are declared missing', () => {
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

  it('takes labelled codes in an open range for missing', () => {
    const labels = new Map([
      ['-9', 'refused'],
      ['0', 'none'],
      ['1', 'one'],
    ]);
    const missingRanges = [{ low: Number.NEGATIVE_INFINITY, high: -1 }];
    expect(entry({ labels, missingRanges })).toMatchObject({ values: ['0', '1'], missing: ['-9'] });
  });

  it('prefers the question to the label, and knows codes in their one spelling', () => {
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

  it('has no answers for dates, and no entry for a variable that says nothing', () => {
    expect(entry({ kind: 'date', labels: new Map([['2020-01-01', 'New Year']]) })!.values).toEqual([]);
    expect(entry({})).toBeUndefined();
  });
});
