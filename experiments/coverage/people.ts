import type { Policy } from '../../src/policy/policy.js';
import { category, multi, number, samplePolicy, weight } from '../../test/sample-policy.js';
import { type Data, normalFrom, seeded } from './world.js';

/** Synthetic people with correlated columns, as a survey would hold them. */
const columns = [
  number('age', '18', '90'),
  number('education', '0', '20'),
  number('income', '0', '200'),
  number('wage', '0', '200', '0.1'),
  category('sex', ['m', 'f']),
  category('region', ['north', 'south', 'west']),
  category('vote', ['red', 'blue', 'green', 'none']),
  category('faith', ['one', 'two', 'three', 'four', 'five']),
  multi('media', ['tv', 'web', 'paper']),
  weight('w', '0.5', '2.5', '0.1'),
  category('works', ['yes', 'no']),
  category('trade', ['farm', 'shop', 'office']),
  number('rent', '0', '200'),
  number('savings', '0', '200'),
  number('fines', '0', '100'),
  number('debt', '0', '200'),
];
/** The trade is missing for people who do not work. */
const skipped = {
  columns: ['works', 'trade'],
  support: [['no', null], ...['farm', 'shop', 'office'].map((trade) => ['yes', trade])],
};
export const policy: Policy = { ...samplePolicy(columns), design: { effect: 1 }, merge: [skipped] };

const within = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, Math.round(x)));
const leveled = <T>(levels: readonly T[], parts: readonly number[], u: number): T => {
  let [left, k] = [u, 0];
  while (k < parts.length && left >= parts[k]!) left -= parts[k++]!;
  return levels[k]!;
};

/** Cost of one visit; old people pay more. */
export const costOf = (age: number, random: () => number): number => within((age / 2) * -Math.log(1 - random()), 0, 100);

/** People of one town are consecutive; this is their number. */
export const townSize = 10;

export function population(size: number, seed = 11): Data {
  const random = seeded(seed);
  const list = <T>() => new Array<T>(size);
  const people = {
    age: list<number>(),
    education: list<number>(),
    income: list<number>(),
    wage: list<number>(),
    sex: list<string>(),
    region: list<string>(),
    vote: list<string>(),
    faith: list<string>(),
    media: list<string>(),
    w: list<number>(),
    works: list<string>(),
    trade: list<string | null>(),
    n: list<number>(),
    spent: list<number>(),
    rent: list<number>(),
    savings: list<number>(),
    fines: list<number>(),
    debt: list<number>(),
  };
  const [further, last] = [seeded(seed + 1), seeded(seed + 2)];
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
    // Men are sampled twice as often as women, and have half their weight.
    people.w[i] = male ? 0.7 : 1.4;
    people.wage[i] = Math.round(10 * Math.min(200, people.income[i]! + further())) / 10;
    people.works[i] = further() < 0.6 ? 'yes' : 'no';
    people.trade[i] = people.works[i] === 'yes' ? leveled(['farm', 'shop', 'office'], [0.05, 0.35], further()) : null;
    // Visits of one person to a doctor: their number and their cost.
    people.n[i] = 1 + Math.floor(4 * further() ** 2);
    people.spent[i] = Array.from({ length: people.n[i]! }, () => costOf(age, further)).reduce((sum, cost) => sum + cost, 0);
    // Spread grows with age, and more strongly for wealth.
    people.rent[i] = within(60 + 0.5 * age + (4 + 0.4 * (age - 18)) * normalFrom(last), 0, 200);
    people.savings[i] = within(20 + age + (2 + 80 * ((age - 18) / 72) ** 6) * normalFrom(last), 0, 200);
    // Fines are zero for most and the maximum for a few; debts are mostly a small part of the maximum.
    people.fines[i] = last() < 0.04 ? 100 : 0;
    people.debt[i] = within(-10 * Math.log(1 - last()), 0, 200);
  }
  return people;
}
