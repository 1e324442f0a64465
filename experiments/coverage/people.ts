import type { Policy } from '../../src/policy/policy.js';
import { category, multi, number, samplePolicy, weight } from '../../test/sample-policy.js';
import { type Data, normalFrom, seeded } from './world.js';

/** Made-up people whose columns hang together: what a survey of theirs would hold. */
const columns = [
  number('age', '18', '90'),
  number('education', '0', '20'),
  number('income', '0', '200'),
  category('sex', ['m', 'f']),
  category('region', ['north', 'south', 'west']),
  category('vote', ['red', 'blue', 'green', 'none']),
  category('faith', ['one', 'two', 'three', 'four', 'five']),
  multi('media', ['tv', 'web', 'paper']),
  weight('w', '0.5', '2.5', '0.1'),
];
export const policy: Policy = { ...samplePolicy(columns), design: { effect: 1 } };

const within = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, Math.round(x)));
const leveled = <T>(levels: readonly T[], parts: readonly number[], u: number): T => {
  let [left, k] = [u, 0];
  while (k < parts.length && left >= parts[k]!) left -= parts[k++]!;
  return levels[k]!;
};

/** People of one town stand together, so many of them. */
export const townSize = 10;

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
    faith: list<string>(),
    media: list<string>(),
    w: list<number>(),
  };
  let [wealth, mood] = [0, 0];
  for (let i = 0; i < size; i++) {
    if (i % townSize === 0) [wealth, mood] = [8 * normalFrom(random), 0.12 * normalFrom(random)];
    const age = within(18 + 72 * random(), 18, 90);
    const education = within(12 + 4 * normalFrom(random) - (age - 54) * 0.05, 0, 20);
    const male = random() < 0.5;
    const region = leveled(['north', 'south', 'west'], [0.5, 0.3], random());
    people.age[i] = age;
    people.education[i] = education;
    people.sex[i] = male ? 'm' : 'f';
    people.region[i] = region;
    people.income[i] = within(
      10 + wealth + 0.5 * age + 3 * education + (male ? 8 : 0) + (region === 'west' ? 20 : 0) + 16 * normalFrom(random),
      0,
      200,
    );
    const v = random() + mood + (education - 12) * 0.02;
    people.vote[i] = v < 0.4 ? 'red' : v < 0.75 ? 'blue' : v < 0.9 ? 'green' : 'none';
    people.faith[i] = leveled(['one', 'two', 'three', 'four', 'five'], [0.6, 0.3, 0.08, 0.015], random());
    people.media[i] = ['tv', 'web', 'paper'].filter((_, k) => random() < [0.6, 0.5, 0.1][k]!).join(';');
    // Men are asked twice as often as women, and weigh half as much.
    people.w[i] = male ? 0.7 : 1.4;
  }
  return people;
}
