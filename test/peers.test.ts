import { describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { parseSql } from '../src/query/sql/sql.js';
import { category, number, samplePolicy } from './sample-policy.js';

/**
 * Queries of SmartNoise SQL (smartnoise-sdk), Tumult Analytics (tutorials) and OpenDP (Polars pages) as SQL, unchanged where possible.
 * `waits`: needs several tables. `refused`: with an alternative, which is run in its place.
 */
interface RefusedQuery {
  readonly sql: string;
  readonly waits?: true;
  readonly refused?: RegExp;
}
const policyOf = (source: string, columns: readonly Column[], unit?: string): Policy => ({
  ...samplePolicy(columns, unit === undefined ? {} : { secret: 'person', unit, maxRows: 3 }),
  data: { source: `/data/${source}.csv`, table: source },
});
const sexes = ['0', '1'];
const pums = policyOf('PUMS.PUMS', [
  number('age', '0', '100'),
  category('sex', sexes),
  category('educ', ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15', '16']),
  category('race', ['1', '2', '3', '4', '5', '6']),
  number('income', '0', '500000', '100', {}),
  category('married', sexes),
]);
const crashes = policyOf(
  'Telemetry.Crashes',
  [
    number('Crashes', '0', '10'),
    number('Temperature', '25', '85', '0.5'),
    category('Region', ['NA', 'EMEA', 'LATAM', 'APAC']),
    category('Building', ['A', 'B', 'C']),
    category('Refurbished', ['true', 'false']),
  ],
  'DeviceID',
);
const members = policyOf(
  'members',
  [
    number('age', '0', '120'),
    category('gender', ['female', 'male', 'nonbinary', 'unspecified']),
    category('education_level', ['up-to-high-school', 'bachelors-associate', 'masters-degree', 'doctorate-professional']),
    number('books_borrowed', '0', '200'),
    category('favorite_genres', ['Fantasy', 'Mystery', 'Romance', 'Thriller']),
  ],
  'id',
);
const labour = policyOf('labour', [
  number('HWUSUAL', '0', '99'),
  number('AGE', '0', '100'),
  category('SEX', ['1', '2']),
  category('ILOSTAT', ['1', '2', '3', '4', '9']),
  number('YEAR', '2004', '2013'),
  number('QUARTER', '1', '4'),
]);

const toolQueries: readonly (readonly [tool: string, policy: Policy, queries: readonly (string | RefusedQuery)[]])[] = [
  [
    'SmartNoise, PUMS',
    pums,
    [
      'SELECT married, AVG(income) AS income, COUNT(*) AS n FROM PUMS.PUMS GROUP BY married',
      'SELECT sex, AVG(age) AS age FROM PUMS.PUMS GROUP BY sex',
      'SELECT SUM(age) FROM PUMS.PUMS',
      'SELECT COUNT(*), VAR(age) AS var_age FROM PUMS.PUMS',
      'SELECT married, educ, AVG(age) FROM PUMS.PUMS GROUP BY married, educ, income',
      'SELECT p.married, AVG(age) AS aa FROM PUMS.PUMS AS p GROUP BY married',
      { sql: 'SELECT TOP 5 educ, AVG(income) FROM PUMS.PUMS GROUP BY educ', refused: /LIMIT 5/ },
      'SELECT COUNT(married), AVG(age) FROM PUMS.PUMS',
      {
        sql: 'SELECT 3 AS three, p.married, educ, AVG(income) FROM PUMS.PUMS AS p GROUP BY educ, married',
        refused: /Leave it out/,
      },
      'SELECT SUM(age) AS age FROM PUMS.PUMS',
      'SELECT (SUM(age)) AS age FROM PUMS.PUMS',
      'SELECT SUM(age) * 1 AS age FROM PUMS.PUMS',
      'SELECT SUM(age), COUNT(*) FROM PUMS.PUMS',
      'SELECT POWER(AVG(age), 2) FROM PUMS.PUMS',
      'SELECT SUM(age) FROM PUMS.PUMS GROUP BY married, CASE WHEN age > 90 THEN 1 ELSE 0 END',
      'SELECT educ, COUNT(*) AS n FROM PUMS.PUMS WHERE age > 30 AND (married = 1 OR sex = 0) GROUP BY educ ORDER BY n DESC LIMIT 3',
    ],
  ],
  [
    'SmartNoise, crashes',
    crashes,
    [
      "SELECT SUM(Crashes) AS crashes FROM Telemetry.Crashes WHERE Region = 'LATAM'",
      'SELECT AVG(Temperature) AS temperature FROM Telemetry.Crashes GROUP BY Refurbished',
      'SELECT Building, SUM(Crashes) AS total_crash, AVG(Crashes) AS avg_crashes, AVG(Temperature) FROM Telemetry.Crashes WHERE Refurbished = TRUE GROUP BY Building',
      'SELECT COUNT(DeviceID) AS Devices FROM Telemetry.Crashes',
      'SELECT SUM(Crashes) AS Crashes, COUNT(DeviceID) AS Devices FROM Telemetry.Crashes',
      'SELECT COUNT(Crashes) AS Crashes FROM Telemetry.Crashes',
      "SELECT Region, SUM(Crashes) AS crashes FROM Telemetry.Crashes WHERE Region IN ('LATAM', 'EMEA') GROUP BY Region ORDER BY Region DESC",
      'SELECT COUNT(DeviceID) AS n, Region, Building, Refurbished FROM Telemetry.Crashes WHERE Temperature > 55 GROUP BY Region, Building, Refurbished',
      'SELECT COUNT(DISTINCT DeviceID) AS n, Region, Building, Refurbished FROM Telemetry.Crashes WHERE Temperature > 55 GROUP BY Region, Building, Refurbished',
      'SELECT COUNT(DISTINCT DeviceID) AS did FROM Telemetry.Crashes GROUP BY Refurbished',
      'SELECT COUNT(DISTINCT DeviceID) AS did FROM Telemetry.Crashes',
      'SELECT Region, Refurbished, AVG(Temperature) FROM Telemetry.Crashes GROUP BY Region, Refurbished ORDER BY Refurbished, Region',
      'SELECT POWER(COUNT ( DeviceID ) / 10000, 2) AS n, Region FROM Telemetry.Crashes GROUP BY Region',
      'SELECT SQRT(AVG(Crashes * Crashes) - AVG(Crashes) * AVG(Crashes)) FROM Telemetry.Crashes',
    ],
  ],
  [
    'Tumult, library members',
    members,
    [
      'SELECT COUNT(*) FROM members',
      'SELECT COUNT(*) FROM members WHERE age >= 18',
      "SELECT COUNT(*) FROM members WHERE education_level = 'masters-degree' OR education_level = 'doctorate-professional'",
      'SELECT COUNT(*) FROM members WHERE age < 18',
      'SELECT SUM(books_borrowed) FROM members',
      'SELECT AVG(age) FROM members',
      'SELECT education_level, COUNT(*) FROM members GROUP BY education_level',
      'SELECT education_level, gender, AVG(age) FROM members GROUP BY education_level, gender',
      "SELECT gender, AVG(age) FROM members WHERE gender IN ('female', 'male') GROUP BY gender",
      'SELECT age, COUNT(*) FROM members WHERE age BETWEEN 10 AND 20 GROUP BY age',
      'SELECT FLOOR(age / 10) * 10 AS age_binned, SUM(books_borrowed) FROM members GROUP BY age_binned',
      "SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS age_group, AVG(books_borrowed) FROM members GROUP BY age_group",
      "SELECT gender, COUNT(*) FROM members WHERE NOT gender = 'unspecified' GROUP BY gender",
      'SELECT STDDEV(books_borrowed), VARIANCE(books_borrowed) FROM members',
      'SELECT MIN(books_borrowed), MAX(books_borrowed), MEDIAN(books_borrowed) FROM members',
      'SELECT COUNT(DISTINCT id) FROM members',
      'SELECT education_level, QUANTILE(age, 0.25), QUANTILE(age, 0.75) FROM members GROUP BY education_level',
      'SELECT COUNT(*) FROM members WHERE books_borrowed IS NULL',
      'SELECT AVG(COALESCE(books_borrowed, 0)) FROM members',
      'SELECT favorite_genres, COUNT(*) FROM members GROUP BY favorite_genres',
      { sql: 'SELECT city, COUNT(*) FROM members JOIN zip_cities USING (zip_code) GROUP BY city', waits: true },
      { sql: 'SELECT genre, AVG(age) FROM checkouts JOIN members USING (id) GROUP BY genre', waits: true },
      {
        sql: 'SELECT COUNT(*) FROM (SELECT id, COUNT(*) AS n FROM checkouts GROUP BY id) AS per_member WHERE n > 20',
        waits: true,
      },
    ],
  ],
  [
    'OpenDP, labour force survey',
    labour,
    [
      'SELECT COUNT(*) FROM labour',
      'SELECT SUM(HWUSUAL) FROM labour WHERE HWUSUAL <> 99',
      'SELECT AVG(HWUSUAL) FROM labour WHERE HWUSUAL <> 99',
      'SELECT MEDIAN(HWUSUAL) FROM labour WHERE HWUSUAL <> 99',
      'SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY HWUSUAL), PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY HWUSUAL) FROM labour',
      'SELECT YEAR, QUARTER, COUNT(*) FROM labour GROUP BY YEAR, QUARTER',
      'SELECT SEX, AVG(HWUSUAL), COUNT(*) FROM labour WHERE HWUSUAL <> 99 GROUP BY SEX',
      'SELECT ILOSTAT, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM labour GROUP BY ILOSTAT',
      'SELECT COUNT(*) FILTER (WHERE ILOSTAT = 2) / NULLIF(COUNT(*) FILTER (WHERE ILOSTAT IN (1, 2)), 0) AS unemployment FROM labour',
      'SELECT COUNT(DISTINCT ILOSTAT) FROM labour',
    ],
  ],
];

const all = toolQueries.flatMap(([tool, policy, queries]) =>
  queries.map((query) => ({ tool, policy, ...(typeof query === 'string' ? { sql: query } : query) })),
);
const run = ({ policy, sql }: { readonly policy: Policy; readonly sql: string }): Fault | undefined => {
  try {
    const { measures } = bindBatch(parseSql(sql, policy), policy);
    expect(measures.every(({ sensitivity }) => sensitivity.size > 0)).toBe(true);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
};

describe('example queries of other tools', () => {
  it.each(all.filter(({ waits, refused }) => !waits && !refused))('the query of $tool runs: $sql', (query) => {
    expect(run(query)).toBeUndefined();
  });

  it('refused queries come with an alternative', () => {
    for (const query of all.filter(({ refused }) => refused)) expect(run(query)?.hint).toMatch(query.refused!);
    for (const query of all.filter(({ waits }) => waits)) expect(run(query)?.hint.length).toBeGreaterThan(10);
  });

  it('nine in ten of the queries run, not counting those over several tables', () => {
    const here = all.filter(({ waits }) => !waits);
    const good = here.filter((query) => run(query) === undefined).length;
    expect(here.length).toBeGreaterThan(50);
    expect(good / here.length).toBeGreaterThanOrEqual(0.9);
  });
});
