import { describe, expect, it } from 'vitest';
import { cases, policyOf } from '../../../experiments/coverage/cases.js';
import { coverage, trialOf } from '../../../experiments/coverage/coverage.js';
import { policy, population } from '../../../experiments/coverage/people.js';
import { samples } from '../../../experiments/coverage/samples.js';
import { countedInTables } from '../../../experiments/coverage/tables.js';
import { boundWithNoise, columnsOf, counted, countedTimes, seeded } from '../../../experiments/coverage/world.js';

/** The light form of `npm run experiment -- coverage`, with the same numbers in every run. */
const people = population(1000);
const of = (name: string) => cases.find((own) => own.name === name)!;
const gaussian = { noise: 'gaussian', amount: 0.05 } as const;
const laplace = { noise: 'laplace', amount: 1 } as const;
const quiet = { noise: 'gaussian', amount: 5 } as const;

describe('the coverage of 95 % intervals', () => {
  it.each([
    ['histogram, percentages', 100_000, gaussian],
    ['histogram, rare answers', 3000, laplace],
    ['crosstab, percentages', 300, gaussian],
    ['mean', 300, laplace],
    ['mean by region', 3000, gaussian],
    ['variance', 3000, laplace],
    ['distribution, percentages', 3000, gaussian],
    ['formula, mean over mean', 300, laplace],
    ['regression on numbers', 3000, gaussian],
    ['correlation', 3000, laplace],
    ['comparison of means', 300, gaussian],
    ['comparison of shares', 300, laplace],
    ['estimate of a mean', 100_000, laplace],
    ['estimate of a rare share', 3000, gaussian],
    ['estimate, strata', 300, laplace],
    ['estimate, weights', 3000, gaussian],
    ['histogram, percentages, weights', 3000, laplace],
    ['estimate, clusters', 300, laplace],
    ['comparison of shares, clusters that mix the groups', 300, gaussian],
    ['percentages by sex, clusters that mix the groups', 3000, gaussian],
    ['histogram, rare answers', 300, gaussian],
    ['regression on numbers', 300, gaussian],
    ['correlation', 300, gaussian],
    ['merged table, percentages', 300, gaussian],
    ['crosstab, percentages, weights', 3000, gaussian],
    ['quantile, rank error of the worst rows there can be', 3000, gaussian],
    ['visits per person, mean', 300, laplace],
    ['visits per person, comparison', 3000, gaussian],
    ['visits per person by region, strata', 300, gaussian],
    ['visits per person, weights', 3000, laplace],
    ['visits per person, clusters', 300, gaussian],
    ['visits per person, half of the population', 3000, gaussian],
    ['histogram, percentages, half of the population', 3000, gaussian],
    ['variance', 300, laplace],
    ['regression, spread that grows harshly', 100_000, gaussian],
    ['regression, spread that grows, little noise', 300, quiet],
    ['estimate, few at the far end, little noise', 300, quiet],
    ['estimate, a small part of the bounds, little noise', 300, quiet],
    ['comparison, few at the far end, little noise', 300, quiet],
  ] as const)('intervals cover the true value in 93 to 98 of 100 draws: %s, n = %d', (name, n, budget) => {
    const found = coverage(of(name), people, n, budget, { draws: name.startsWith('regression') ? 400 : 1000, random: seeded(7) });
    const shares = found.flatMap(({ keys, noise, both }) => [
      [...keys, 'noise', noise] as const,
      ...(both === undefined ? [] : [[...keys, 'both', both] as const]),
    ]);
    // A coverage from a thousand draws has a standard error of 0.7 points: one of many may be half a point off.
    const offset = shares.length > 4 ? 0.6 : 0;
    expect(shares.filter((row) => Number(row.at(-1)) < 93 - offset || Number(row.at(-1)) > 98 + offset)).toEqual([]);
    expect(shares.length).toBeGreaterThan(0);
  });

  it('intervals of queries over joined tables cover the true value in 93 to 98 of 100 draws', async () => {
    const joined = cases.filter(({ tables, sample }) => tables && sample === 'fixed');
    const budgets = [laplace, gaussian];
    const asks = joined.map((own) => boundWithNoise(policyOf(own, people, 300), own.query, laplace));
    const exact = await countedInTables(people, 300, asks);
    expect(exact.flat(2).filter((n) => n !== 0n).length).toBeGreaterThan(20);
    const found = joined.flatMap((own, k) =>
      budgets.flatMap((budget) => {
        const trial = trialOf(own, people, 300, budget, () => exact[k]!);
        const random = seeded(9);
        for (let d = 0; d < 1000; d++) trial.observe(trial.draw(random), random);
        return trial.found().map(({ keys, noise }) => [own.name, ...keys, noise] as const);
      }),
    );
    expect(new Set(found.map(([name]) => name)).size).toBe(joined.length);
    // The rank error of a median is a bound.
    const wide = (name: string) => name.includes('MEDIAN');
    const wrong = found.filter((row) => Number(row.at(-1)) < 92.4 || (Number(row.at(-1)) > 98.6 && !wide(row[0])));
    expect(wrong).toEqual([]);
  });

  it('the interval of a rare share covers the population share in 93 of 100 draws, also with few people and little noise', () => {
    const [share] = coverage(
      of('estimate of a rare share'),
      people,
      300,
      { noise: 'gaussian', amount: 5 },
      { draws: 1000, random: seeded(7) },
    );
    expect(share!.both).toBeGreaterThan(93);
  });

  it('intervals without sampling error do not cover the population value', () => {
    const narrow = { ...of('estimate of a mean'), design: () => ({ effect: 0.1 }) };
    const [mean] = coverage(narrow, people, 3000, { noise: 'gaussian', amount: 50 }, { draws: 200, random: seeded(7) });
    expect(mean!.both).toBeLessThan(70);
  });

  it.each(['crosstab, percentages', 'regression on numbers and categories', 'quantiles of a distribution', 'estimate, weights'])(
    "the trial counts each row as often as the product's counter does: %s",
    (name) => {
      const ask = boundWithNoise(policy, of(name).query, laplace);
      const times = samples.alike.draw(people, 300, seeded(3));
      const rows = Array.from(times, (many, i) => new Array<number>(many).fill(i)).flat();
      const data = Object.fromEntries(columnsOf(ask).map((column) => [column, rows.map((i) => people[column]![i]!)]));
      expect(countedTimes(policy, ask, people)(times)).toEqual(counted(policy, ask, data));
    },
  );
});
