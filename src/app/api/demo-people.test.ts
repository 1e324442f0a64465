import { describe, expect, it } from 'vitest';
import { demoQuestions, demoSurvey } from './demo-people.js';

describe('the made-up people of the demo', () => {
  const rows = demoSurvey()
    .csv.trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  const homes = new Map<string, string[][]>();
  for (const row of rows) homes.set(row[1]!, [...(homes.get(row[1]!) ?? []), row]);
  const couples = [...homes.values()].filter((members) => members.length > 1).map(([a, b]) => [a!, b!] as const);
  const agreeing = (column: number) => couples.filter(([a, b]) => a[column] === b[column]).length / couples.length;
  const byChance = (column: number) =>
    [...new Set(rows.map((row) => row[column]))].reduce(
      (sum, value) => sum + (rows.filter((row) => row[column] === value).length / rows.length) ** 2,
      0,
    );

  it('households of the demo have at most six members', () => {
    expect(Math.max(...[...homes.values()].map((members) => members.length))).toBeLessThanOrEqual(6);
  });

  it('members of a household agree in party more often than by chance, and in unrelated answers no more often', () => {
    expect(agreeing(2)).toBeGreaterThan(byChance(2) + 0.03);
    expect(Math.abs(agreeing(9) - byChance(9))).toBeLessThan(0.03);
  });

  it("the odds ratio between a person and the household's leaning stays below the declared one", () => {
    const share = (value: string) => rows.filter((row) => row[2] === value).length / rows.length;
    const pull = (value: string) => 1 + 1 / 3 / share(value);
    const [first, second] = demoQuestions.party.map(pull).sort((a, b) => b - a);
    expect(first! * second!).toBeLessThan(10);
  });

  it('people with the least trust are more than twice as often without a party as in any one party, though few people have none', () => {
    const distrust = (party: string) => rows.filter((row) => row[2] === party && row[4] === '1').length;
    for (const party of ['left', 'centre', 'right']) expect(distrust('none')).toBeGreaterThan(2 * distrust(party));
  });
});
