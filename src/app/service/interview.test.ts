import { describe, expect, it } from 'vitest';
import type { Found } from '../api/draft.js';
import { draftAnswersFrom, interviewQuestions } from './interview.js';

const found: Found = {
  columns: [
    { name: 'id', is: 'id', why: 'names a row', missing: [] },
    { name: 'party', is: 'question', why: '', missing: ['99'] },
    { name: 'wt', is: 'weight', why: '', missing: [] },
  ],
  groups: [{ name: 'house', sure: true, why: 'its name says so', rowsEach: 2.1 }],
  panels: [{ unit: 'id', maxRows: 4 }],
};

describe('the interview of the service', () => {
  it('the interview asks for facts that only the steward knows, and requires an answer about dependence', () => {
    const questions = interviewQuestions(found, {});
    expect(questions.map(({ id }) => id)).toEqual(['columns', 'person', 'maxRows', 'dependence', 'budget', 'missing', 'weights']);
    expect(questions.filter((q) => q.needed).map(({ id }) => id)).toEqual(['dependence']);
    expect(questions.find(({ id }) => id === 'budget')).toMatchObject({ usual: 'epsilon 1' });
    expect(questions.find(({ id }) => id === 'budget')?.choices?.[2]?.text).toBe('10 % becomes at most 24 %');
    expect(questions[0]).toMatchObject({ several: true, usual: ['party'] });
    const tied = interviewQuestions(found, { dependence: 'house' });
    expect(tied.find(({ id }) => id === 'dependence')).toMatchObject({ answer: 'house' });
    expect(tied.find(({ id }) => id === 'oddsRatio')).toMatchObject({ usual: 'inf' });
  });

  it('the interview turns answers into a draft, and gives a tie without a strength the largest odds ratio', () => {
    expect(draftAnswersFrom(found, {})).toEqual({});
    expect(draftAnswersFrom(found, { dependence: 'none', person: 'row' })).toEqual({ dependence: 'none', secret: 'row' });
    expect(
      draftAnswersFrom(found, { dependence: 'house', maxRows: '3', weights: [], missing: ['99'], columns: ['party'] }),
    ).toEqual({
      dependence: { by: 'house', oddsRatio: 'inf' },
      person: { unit: 'id', maxRows: 3 },
      noWeights: ['wt'],
      missing: ['99'],
      columns: ['party'],
    });
    expect(draftAnswersFrom(found, { budget: 'epsilon 0.5' })).toEqual({ budget: { epsilon: '0.5' } });
    expect(draftAnswersFrom(found, { budget: 'belief 0.1 0.3' })).toEqual({
      budget: { belief: { prior: '0.1', posterior: '0.3' } },
    });
    for (const budget of ['', '1', 'epsilon', 'epsilon 1 2', 'epsilon 1, delta: 1', 'belief 0.1'])
      expect(() => draftAnswersFrom(found, { budget })).toThrow('A budget is');
    expect(() => draftAnswersFrom(found, { maxRows: '0' })).toThrow('whole number');
    expect(() => draftAnswersFrom(found, { dependence: 'house', oddsRatio: '-1' })).toThrow('odds ratio');
  });
});
