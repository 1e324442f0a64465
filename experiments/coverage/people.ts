import type { Policy } from '../../src/policy/policy.js';
import { category, number, samplePolicy, weight } from '../../test/sample-policy.js';
import { type Data, normalFrom, seeded } from './world.js';

/** Made-up people whose columns hang together: what a survey of theirs would hold. */
const columns = [
  number('age', '18', '90'),
  number('education', '0', '20'),
  number('income', '0', '200'),
  category('sex', ['m', 'f']),
  category('region', ['north', 'south', 'west']),
  category('vote', ['red', 'blue', 'green', 'none']),
  weight('w', '0.5', '2.5', '0.1'),
];
export const policy: Policy = { ...samplePolicy(columns), design: { effect: 1 } };

const within = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, Math.round(x)));

export function population(size: number, seed = 11): Data {
  const random = seeded(seed);
  const list = <T>() => new Array<T>(size);
  const people = {
    age: list<number>(),
    education: list<number>(),
    income: list<number>(),
    sex: list<string>(),
    region: list<string>(),
    vote: list<string>(),
    w: list<number>(),
  };
  for (let i = 0; i < size; i++) {
    const age = within(18 + 72 * random(), 18, 90);
    const education = within(12 + 4 * normalFrom(random) - (age - 54) * 0.05, 0, 20);
    const male = random() < 0.5;
    const u = random();
    const region = u < 0.5 ? 'north' : u < 0.8 ? 'south' : 'west';
    people.age[i] = age;
    people.education[i] = education;
    people.sex[i] = male ? 'm' : 'f';
    people.region[i] = region;
    people.income[i] = within(
      10 + 0.5 * age + 3 * education + (male ? 8 : 0) + (region === 'west' ? 20 : 0) + 18 * normalFrom(random),
      0,
      200,
    );
    const v = random() + (education - 12) * 0.02;
    people.vote[i] = v < 0.4 ? 'red' : v < 0.75 ? 'blue' : v < 0.9 ? 'green' : 'none';
    // Men are asked twice as often as women, and weigh half as much.
    people.w[i] = male ? 0.7 : 1.4;
  }
  return people;
}

export type How = 'alike' | 'weights' | 'strata';
/** Rows of the population, drawn with replacement: all alike, or by how often each is asked. */
export function drawn(people: Data, n: number, random: () => number, names: readonly string[], how: How = 'alike'): Data {
  const size = people.age!.length;
  const indices: number[] = [];
  const quota = new Map([
    ['north', Math.floor(n / 3)],
    ['south', Math.floor(n / 3)],
    ['west', n - 2 * Math.floor(n / 3)],
  ]);
  while (indices.length < n) {
    const i = Math.floor(random() * size);
    if (how === 'weights' && people.sex![i] === 'f' && random() < 0.5) continue;
    if (how === 'strata') {
      const left = quota.get(people.region![i] as string)!;
      if (left === 0) continue;
      quota.set(people.region![i] as string, left - 1);
    }
    indices.push(i);
  }
  return Object.fromEntries(names.map((name) => [name, indices.map((i) => people[name]![i]!)]));
}
