import type { Design } from '../../src/policy/policy.js';
import { townSize } from './people.js';
import { populationFor } from './samples.js';
import type { Data } from './world.js';

/** Sampling design that a policy would declare. */
export const stratified = (): Design => ({
  effect: 1,
  strata: {
    column: 'region',
    sizes: new Map([
      ['north', 50_000_000],
      ['south', 30_000_000],
      ['west', 20_000_000],
    ]),
  },
});
export const finite = (people: Data, n: number): Design => ({ effect: 1, population: populationFor(people, n) });
/**
 * Design effect that a fieldwork report would give for one column:
 * variance of the mean of whole towns over that of as many people.
 */
export const byTowns =
  (column: string, value?: string) =>
  (people: Data): Design => {
    const numbers = people[column]!.map((x) => (value === undefined ? Number(x) : Number(x === value)));
    const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
    const square = (list: readonly number[]) => list.reduce((sum, x) => sum + (x - mean) ** 2, 0) / list.length;
    const towns = Array.from(
      { length: numbers.length / townSize },
      (_, t) => numbers.slice(t * townSize, (t + 1) * townSize).reduce((sum, x) => sum + x, 0) / townSize,
    );
    return { effect: (townSize * square(towns)) / square(numbers) };
  };
/** The same for clusters in which men and women are mixed as everywhere else. */
export const byMixedTowns =
  (column: string, value: string) =>
  (people: Data): Design => {
    const { effect } = byTowns(column, value)(people);
    return { effect, clusters: { effect, mixed: ['sex'] } };
  };
/** Two in three people weigh 0.7 and one weighs 1.4. */
export const weighted = (): Design => ({ effect: 1, weights: { column: 'w', mean: 2.8 / 3, effect: 1.125 } });
