import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import { open } from '../src/index.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { canonicalCount, reorderCells } from '../src/query/same/canonical-count.js';
import { parseSql } from '../src/query/sql/sql.js';
import { databaseShape, drawing, openRows, randomStatement, typeOf, worldOf } from './neighbouring-databases.js';
import { smallDatabase, type Tables } from './tables-of-persons.js';
import { openWorkshop, type Workshop } from './workshop.js';

/** The same question in other words gets the recorded answer; a different question does not (docs/explanation/decisions/0085). */
let shop: Workshop | undefined;
afterEach(() => shop?.remove());

const policyText = `data: { source: people.csv, links: [clinic] }
protect: { secret: person, unit: person, maxRows: 1 }
budget: { epsilon: 8 }
population: town
ledger: ledger.db
dependence: none
columns:
  region: { type: category, values: [north, south] }
  age: { type: integer, bounds: [0, 100] }
tables:
  visits:
    source: visits.csv
    unit: person
    maxRows: 3
    links: [clinic]
    columns:
      kind: { type: category, values: [er, gp] }
      cost: { type: integer, bounds: [0, 200] }
  clinics: { source: clinics.csv, key: clinic, public: true, columns: { size: { type: category, values: [small, large] } } }
`;
function opened() {
  shop = openWorkshop(policyText);
  shop.write(
    'people.csv',
    `person,region,age,clinic\n${Array.from({ length: 60 }, (_, i) => `${i},${i % 2 ? 'north' : 'south'},${i},x`).join('\n')}\n`,
  );
  shop.write(
    'visits.csv',
    `person,clinic,kind,cost\n${Array.from({ length: 60 }, (_, i) => `${i % 60},x,${i % 3 ? 'er' : 'gp'},${i}`).join('\n')}\n`,
  );
  shop.write('clinics.csv', 'clinic,size\nx,large\ny,small\n');
  return open(shop.policyFile);
}
type Released = {
  tables: { columns: readonly string[]; rows: readonly { keys: readonly string[]; value: number | null }[] }[];
  receipt: { ledger: { replayed: boolean } };
};

describe('the same question in other words', () => {
  it.each([
    ['SELECT region, kind, COUNT(*) FROM visits JOIN people USING (person) GROUP BY region, kind', 'SELECT v.kind, p.region, COUNT(*) AS n FROM people p JOIN visits v ON v.person = p.person GROUP BY v.kind, p.region'],
    ['SELECT size, SUM(cost) FROM visits JOIN clinics USING (clinic) GROUP BY size', 'SELECT c.size, SUM(w.cost) AS paid FROM visits w JOIN clinics c ON c.clinic = w.clinic GROUP BY c.size'],
    ["WITH v AS (SELECT person, COUNT(*) AS n FROM visits WHERE kind = 'er' AND cost > 5 GROUP BY person) SELECT AVG(n) FROM v", "SELECT AVG(often) FROM (SELECT person, SUM(cost) AS unused, COUNT(*) AS often FROM visits WHERE cost >= 6 AND kind IN ('er') GROUP BY person) AS u"],
    ["SELECT COUNT(*) FROM people WHERE age BETWEEN 20 AND 40 AND region = 'north'", "select count(*) from people p where p.region in ('north') and not (age < 20 or age > 40)"],
  ])('the same question is answered from the record, in its own words: %s', async (first, second) => {
    await using fugu = await opened();
    const one = (await fugu.release({ sql: first }, { epsilon: 0.5 })) as unknown as Released;
    const spent = (await fugu.spent()).budget.spent;
    const two = (await fugu.release({ sql: second }, { epsilon: '1/2' })) as unknown as Released;
    expect([one.receipt.ledger.replayed, two.receipt.ledger.replayed]).toEqual([false, true]);
    expect((await fugu.spent()).budget.spent).toBe(spent);
    // Each number keeps its place under the labels of this request.
    const byLabels = ({ tables }: Released) => new Map(tables[0]!.rows.map(({ keys, value }) => [[...keys].sort().join(), value]));
    expect(byLabels(two)).toEqual(byLabels(one));
    expect(two.tables[0]!.columns.slice(0, -1)).toEqual(second.includes('GROUP BY v.kind') ? ['kind', 'region'] : one.tables[0]!.columns.slice(0, -1));
    expect((await fugu.release({ sql: second }, { epsilon: 0.5, fresh: true })).receipt.ledger.replayed).toBe(false);
  }); // biome-ignore format: one line each

  it.each([
    ['SELECT COUNT(*) FROM visits JOIN people USING (person)', 'SELECT COUNT(*) FROM people LEFT JOIN visits USING (person)'],
    ['SELECT SUM(cost) FROM visits', 'SELECT SUM(age) FROM visits JOIN people USING (person)'],
    ['SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS v', "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits WHERE kind = 'er' GROUP BY person) AS v"],
    ['SELECT AVG(n) FROM (SELECT person, MIN(cost) AS n FROM visits GROUP BY person) AS v', 'SELECT AVG(n) FROM (SELECT person, MAX(cost) AS n FROM visits GROUP BY person) AS v'],
  ])('a different question is paid for: %s', async (first, second) => {
    await using fugu = await opened();
    await fugu.release({ sql: first }, { epsilon: 0.5 });
    expect((await fugu.release({ sql: second }, { epsilon: 0.5 })).receipt.ledger.replayed).toBe(false);
    expect((await fugu.release({ sql: first }, { epsilon: 0.25 })).receipt.ledger.replayed).toBe(false);
  }); // biome-ignore format: one line each

  it('tables in another order in a batch are each returned under their own question', async () => {
    await using fugu = await opened();
    const [a, b] = [{ kind: 'histogram', column: 'region', name: 'where' }, { kind: 'sum', column: 'age' }] as const; // biome-ignore format: one line
    const one = (await fugu.release({ queries: [a, b] }, { epsilon: 1 })) as unknown as Released;
    const two = (await fugu.release({ queries: [b, { ...a, name: 'region' }] }, { epsilon: 1 })) as unknown as Released;
    expect(two.receipt.ledger.replayed).toBe(true);
    expect(two.tables.map(({ rows }) => rows.map(({ value }) => value))).toEqual([one.tables[1]!, one.tables[0]!].map(({ rows }) => rows.map(({ value }) => value))); // biome-ignore format: one line
  });
});

describe('statements over random tables', () => {
  let database: Awaited<ReturnType<typeof smallDatabase>>;
  beforeAll(async () => {
    database = await smallDatabase();
  });
  afterAll(() => database.close());

  it('statements count the same whenever they have one form, and have one form under any names of their parts', async () => {
    const draw = drawing(Number(process.env.FUGU_SAME_SEED ?? 4));
    const shapes = Number(process.env.FUGU_SAME ?? 2);
    let [met, renamed] = [0, 0];
    for (let s = 0; s < shapes; s++) {
      const shape = databaseShape(draw, 1);
      const { policy } = shape;
      const bound = (sql: string) => {
        try {
          const { measures, views } = bindBatch(parseSql(sql, policy), policy);
          return measures.map((measure, k) => ({ measure, sql, ...canonicalCount(measure, policy, views[k]) }));
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
          return [];
        }
      };
      const all = Array.from({ length: 40 }, () => {
        const { sql } = randomStatement(draw, shape);
        const other = sql.replaceAll(/\bj(\d?)\b/g, 'part$1').replaceAll(/\bfj(\d?)\b/g, 'made$1');
        const [own, again] = [bound(sql), bound(other)];
        if (other !== sql && own.length > 0) renamed++;
        expect(again.map(({ of }) => of)).toEqual(own.map(({ of }) => of));
        return [...own, ...again];
      }).flat();
      const groups = new Map<string, typeof all>();
      for (const one of all) groups.set(one.of, [...(groups.get(one.of) ?? []), one]);
      const several = [...groups.values()].filter((group) => new Set(group.map(({ sql }) => sql)).size > 1);
      for (let w = 0; w < 2; w++) {
        const [world, known] = [worldOf(draw, shape, 0), openRows(draw, shape)];
        const tables: Tables = new Map(
          [...shape.tables].map(([table, { unit, columns }]) => [
            table === 'people' ? 'data' : table,
            {
              columns: columns.map((name) => ({ name, type: typeOf(shape, table, name) })),
              rows: unit === undefined ? known : world.get(table)!,
            },
          ]),
        );
        const count = async ({ measure, keys }: (typeof all)[number], to: typeof keys) => {
          const [cells] = await countCells(database.pinned(tables), policy, [measure]);
          return measure.mechanism === 'additive' ? reorderCells(cells!.open(), keys, to) : cells!.open();
        };
        for (const [first, ...others] of several) {
          const own = await count(first!, first!.keys);
          for (const other of others.slice(0, 2))
            expect(await count(other, first!.keys), `${first!.sql}\n${other.sql}`).toEqual(own);
          met++;
        }
      }
    }
    expect(met).toBeGreaterThan(5 * shapes);
    expect(renamed).toBeGreaterThan(5 * shapes);
  });
});
