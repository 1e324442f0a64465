import { describe, expect, it } from 'vitest';
import { cases } from '../../../experiments/coverage/cases.js';
import { coverage } from '../../../experiments/coverage/coverage.js';
import { population } from '../../../experiments/coverage/people.js';
import { seeded } from '../../../experiments/coverage/world.js';

/** The light form of `npm run experiment -- coverage`, with the same numbers in every run. */
const people = population(20_000);
const of = (name: string) => cases.find((own) => own.name === name)!;
const gaussian = { noise: 'gaussian', amount: 0.05 } as const;
const laplace = { noise: 'laplace', amount: 1 } as const;

describe('95 % intervals', () => {
  it.each([
    ['regression on numbers', 2000, gaussian],
    ['regression on numbers and categories', 2000, laplace],
    ['correlation', 1000, laplace],
    ['comparison of means', 1000, gaussian],
    ['comparison of shares', 300, laplace],
    ['estimate, strata', 1000, laplace],
    ['estimate, weights', 1000, gaussian],
  ] as const)('hold what they are about: %s, n = %d', (name, n, budget) => {
    const found = coverage(of(name), people, n, budget, { draws: 120, random: seeded(7) });
    for (const share of [...found.noise, ...found.both]) {
      expect(share).toBeGreaterThanOrEqual(88);
      expect(share).toBeLessThanOrEqual(100);
    }
    expect(found.both.length).toBeGreaterThan(0);
  });

  it('would not hold the population if the error of sampling were left out: the trial can fail', () => {
    const own = of('estimate of a mean');
    const narrow = { ...own, policy: { ...of('estimate, strata').policy!, design: { effect: 0.1 } } };
    const { both } = coverage(narrow, people, 3000, { noise: 'gaussian', amount: 50 }, { draws: 200, random: seeded(7) });
    expect(both[0]).toBeLessThan(70);
  });
});
