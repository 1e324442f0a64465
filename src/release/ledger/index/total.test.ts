import { expect, it } from 'vitest';
import { compare, rational } from '../../../base/exact/rational.js';
import { costAlongPairs, nothingSpent, pureCost } from '../../../privacy/mechanism/privacy-cost.js';
import { everyRecord, paired, pairsClass, slice, sliced, slicingOf } from '../../../privacy/mechanism/record-class.js';
import { addToTotal } from './total.js';

it('totals with long fractions are rounded against the budget: deductions down, everything else up', () => {
  const cost = rational(1, 3n ** 200n);
  const week = slicingOf('week', 'ab12');
  const classes = [everyRecord, paired('cd34'), pairsClass('cd34'), sliced(week), slice(week, 3, 3)];
  const { pure } = addToTotal(nothingSpent, pureCost(classes.map((name) => [name, cost] as const)));
  expect(classes.map((name) => compare(pure.perRecord.get(name)!, cost))).toEqual([1, -1, 1, -1, 1]);
  expect(compare(costAlongPairs(pure, 'cd34'), cost)).toBe(1);
});
