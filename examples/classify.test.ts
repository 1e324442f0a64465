import { expect, it } from 'vitest';
import { learnMovers } from './classify.js';

it('the classifier example learns what it planted, with ties inside households declared', async () => {
  const { result, receipt, young, old } = await learnMovers();
  expect(result.features).toEqual(['age', 'owns', 'town']);
  expect(receipt.guarantee.certified).toBe(true);
  expect(receipt.guarantee.assumptions.join(' ')).toContain('home');
  expect(young.positive).toBe(true);
  expect(old.positive).toBe(false);
});
