import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { parsePolicy } from '../../src/data/terms/read.js';
import type { Policy } from '../../src/policy/policy.js';
import { countCells } from '../../src/query/count/count.js';
import type { Query } from '../../src/query/query.js';
import { parseSql } from '../../src/query/sql/sql.js';
import { costOf } from './people.js';
import { type BoundWithNoise, type Data, type Exact, seeded, toNoise } from './world.js';

/** People, their visits to clinics, and clinics, which are public. */
const text = `data: {source: people.csv}
protect: {secret: person, unit: person, maxRows: 1}
budget: {epsilon: 1}
columns:
  age: {type: integer, bounds: [18, 90]}
  region: {type: category, values: [north, south, west]}
  sex: {type: category, values: [m, f]}
  w: {type: weight, bounds: [0.5, 2.5], step: 0.1}
tables:
  visits: {source: visits.csv, unit: person, maxRows: 4, columns: {cost: {type: integer, bounds: [0, 100]}, clinic: {type: category, values: [a, b, c, d]}}, links: [clinic]}
  clinics: {source: clinics.csv, public: true, key: clinic, columns: {size: {type: category, values: [small, large]}}}
dependence: none
design: {effect: 1}
`;
const policyIn = (folder: string): Promise<Policy> => parsePolicy(text, join(folder, 'policy.yaml'));
export const tablesPolicy: Policy = await policyIn('/nowhere');

const asSql = (sql: string): Query => parseSql(sql, tablesPolicy).queries[0]!;
const visited = 'FROM visits JOIN people USING (person)';
/** Queries on joins, one row for each visit. */
export const statements: readonly (readonly [name: string, query: object])[] = [
  ['join, visits by region', asSql(`SELECT region, COUNT(*) ${visited} GROUP BY region`)],
  ['join, persons by clinic', asSql('SELECT clinic, COUNT(DISTINCT person) FROM visits GROUP BY clinic')],
  ['join, mean by region', asSql(`SELECT region, AVG(cost) ${visited} GROUP BY region`)],
  ['join, sum by size of clinic', asSql('SELECT size, SUM(cost) FROM visits JOIN clinics USING (clinic) GROUP BY size')],
  ['join, STDDEV', asSql(`SELECT STDDEV(cost) ${visited} WHERE age >= 40`)],
  ['join, MEDIAN, rank error', asSql(`SELECT region, MEDIAN(cost) ${visited} GROUP BY region`)],
  ['join, part by sex', asSql(`SELECT sex, AVG(CASE WHEN cost > 50 THEN 1 ELSE 0 END) ${visited} GROUP BY sex`)],
  [
    'join, percent by clinic',
    asSql(`SELECT clinic, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS percent ${visited} GROUP BY clinic`),
  ],
  ['join, mean, weighted', { ...asSql(`SELECT AVG(cost) ${visited}`), weight: 'w' }],
];
/** One row for each person: how many visits, and what they cost together. */
const { from } = asSql(
  'SELECT AVG(n) FROM people JOIN (SELECT person, COUNT(*) AS n, SUM(cost) AS spent FROM visits GROUP BY person) AS v USING (person)',
);
export const ofVisits = { from };

/** Exact answers about a sample of the population and its visits, as the product counts them in a database. */
export async function countedInTables(
  people: Data,
  n: number,
  questions: readonly Pick<BoundWithNoise, 'bound'>[],
): Promise<readonly Exact[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fugu-coverage-'));
  try {
    const random = seeded(n);
    const [rows, visits] = [['person,age,region,sex,w'], ['person,cost,clinic']];
    for (let person = 0; person < n; person++) {
      const i = Math.floor(random() * people.age!.length);
      const age = Number(people.age![i]);
      rows.push(`${person},${['age', 'region', 'sex', 'w'].map((name) => people[name]![i]).join()}`);
      // Some people visit more often than the contribution bound, some never, and some visits belong to nobody.
      for (let k = Math.floor(6 * random() ** 2); k > 0; k--)
        visits.push(`${random() < 0.01 ? '' : person},${costOf(age, random)},${'aaabbcd'[Math.floor(7 * random())]}`);
    }
    await writeFile(join(folder, 'people.csv'), `${rows.join('\n')}\n`);
    await writeFile(join(folder, 'visits.csv'), `${visits.join('\n')}\n`);
    await writeFile(join(folder, 'clinics.csv'), 'clinic,size\na,large\nb,large\nc,small\nd,small\n');
    const policy = await policyIn(folder);
    const engine = await openEngine(policy);
    try {
      return await withSnapshot(engine, async (data) => {
        const all: Exact[] = [];
        for (const { bound } of questions) {
          const cells = await countCells(data, policy, bound.measures);
          all.push(
            toNoise(
              bound,
              cells.map((exact) => exact.open()),
            ),
          );
        }
        return all;
      });
    } finally {
      await engine.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
