import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import { type Engine, withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import { parsePolicy } from '../src/data/terms/read.js';
import type { Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { parseSql } from '../src/query/sql/sql.js';
import { peerQueries } from './peers-queries.js';

const yaml = `data: {source: people.csv, links: [zip]}
protect: {secret: person, unit: id, maxRows: 1}
budget: {epsilon: 1}
columns:
  sex: {type: category, values: [0, 1]}
  age: {type: integer, bounds: [0, 100], bins: 20}
  educ: {type: category, values: [1, 2, 3, 4, 5]}
  educ_years: {type: number, bounds: [0, 20]}
  married: {type: category, values: [0, 1]}
  income: {type: integer, bounds: [0, 200000]}
  degree: {type: category, values: [none, school, masters, doctorate]}
  books: {type: integer, bounds: [0, 200]}
  hours: {type: integer, bounds: [0, 80], missing: [99]}
  favourites: {type: multi, values: [crime, poems, travel]}
  joined: {type: date, bounds: [2015-01-01, 2024-12-31]}
tables:
  checkouts:
    source: checkouts.csv
    unit: member
    maxRows: 20
    links: [lent_by]
    columns:
      genre: {type: category, values: [crime, poems, travel]}
      isbn: {type: category, values: [b1, b2, b3]}
      fee: {type: number, bounds: [0, 10], step: 0.5}
      renewed: {type: category, values: ["true", "false"]}
      day: {type: date, bounds: [2023-01-01, 2024-12-31]}
  zips: {source: zips.csv, key: zip, public: true, columns: {city: {type: category, values: [Durham, Raleigh]}}}
  books: {source: books.csv, key: isbn, public: true, columns: {shelf: {type: category, values: [a, b]}}}
dependence: none
`;
let folder: string;
let policy: Policy;
let engine: Engine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-peers-'));
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  const of = <T>(list: readonly T[], i: number) => list[i % list.length]!;
  write('people.csv', [
    'id,zip,sex,age,educ,educ_years,married,income,degree,books,hours,favourites,joined',
    ...Array.from({ length: 300 }, (_, i) =>
      [
        i,
        of(['z1', 'z2', 'z9'], i),
        i % 2,
        (i * 7) % 100,
        1 + (i % 5),
        i % 19,
        (i >> 1) % 2,
        1000 * (i % 90),
        of(['none', 'school', 'masters', 'doctorate'], i),
        i % 50,
        of([20, 35, 99, ''], i),
        of(['crime', 'crime;poems', ''], i),
        `20${15 + (i % 10)}-0${1 + (i % 9)}-15`,
      ].join(),
    ),
  ]);
  write('checkouts.csv', [
    'member,lent_by,genre,isbn,fee,renewed,day',
    ...Array.from({ length: 900 }, (_, i) =>
      [
        i % 320,
        i % 7,
        of(['crime', 'poems', 'travel'], i),
        of(['b1', 'b2', 'b3', 'b4'], i),
        (i % 20) / 2,
        i % 3 === 0,
        `202${3 + (i % 2)}-0${1 + (i % 9)}-02`,
      ].join(),
    ),
  ]);
  write('zips.csv', ['zip,city', 'z1,Durham', 'z2,Raleigh']);
  write('books.csv', ['isbn,shelf', 'b1,a', 'b2,b', 'b3,a']);
  policy = await parsePolicy(yaml, join(folder, 'policy.yaml'));
  engine = await openEngine(policy);
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the queries of other tools' tutorials", () => {
  const runs = peerQueries.filter(({ refused }) => refused === undefined);
  it.each(runs)('the query of $peer runs: $about', async ({ sql }) => {
    const { measures } = bindBatch(parseSql(sql, policy), policy);
    const counted = await withSnapshot(engine, (data) =>
      countCells(
        data,
        policy,
        measures.filter((m) => m.mechanism !== 'exponential'),
      ),
    );
    const sums = counted.map((exact) => exact.open().reduce((sum, n) => sum + (n < 0n ? -n : n), 0n));
    // Each query selects some rows, so none passes by counting nothing.
    if (sums.length > 0) expect(sums.some((sum) => sum > 0n)).toBe(true);
    expect(measures.length).toBeGreaterThan(0);
  });

  it.each(peerQueries.filter(({ refused }) => refused !== undefined))(
    'the query of $peer is refused with an alternative: $about',
    ({ sql, refused }) => {
      const fault = (() => {
        try {
          bindBatch(parseSql(sql, policy), policy);
        } catch (error) {
          return error;
        }
        return undefined;
      })();
      expect(fault).toBeInstanceOf(Fault);
      expect((fault as Fault).message).toContain(refused);
      expect((fault as Fault).hint.length).toBeGreaterThan(10);
    },
  );

  it('nine in ten of the queries run, as the guide states', () => {
    expect(runs.length / peerQueries.length).toBeGreaterThanOrEqual(0.9);
    const guide = readFileSync(fileURLToPath(new URL('../docs/how-to/tables.md', import.meta.url)), 'utf8').replace(/\s+/g, ' ');
    expect(guide).toContain(`${runs.length} of ${peerQueries.length}`);
  });
});
