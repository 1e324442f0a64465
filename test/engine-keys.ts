import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countContinuations } from '../src/analysis/learn/keys/prefixes.js';
import { type Snapshot, withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import type { LinkedTable, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { parseBatch } from '../src/query/parse.js';
import { parseSql } from '../src/query/sql/sql.js';
import { quoted, type Twins } from './engine-equal.js';
import { category, number, samplePolicy } from './sample-policy.js';

const hex = (text: string): string => Buffer.from(text, 'utf8').toString('hex');
const linkedTable = (name: string, more: Partial<LinkedTable>): LinkedTable => ({ name, table: 'visits', unit: 'person', links: [], maxRows: 2, public: false, columns: new Map(), ...more }); // biome-ignore format: one line

/** Learned keys of undeclared values, and names that differ only in case: the same in DuckDB and elsewhere. */
export function describeKeys(kind: string, open: () => Promise<Twins>): void {
  describe(`values and names in DuckDB and in ${kind}`, () => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await open();
    });
    afterAll(() => twins?.remove());

    it('both spell texts by the same bytes', async () => {
      const texts = ['', 'a', 'Ab', 'é', 'e\u0301', '試験', '🦑', '\u00a0 x\t', "o'hara", '\u007f\u0080\uffff', null];
      const { file } = await twins.make('CREATE TABLE people (k INTEGER, t VARCHAR)', `INSERT INTO people VALUES ${texts.map((t, k) => `(${k}, ${quoted(t)})`).join(', ')}`); // biome-ignore format: one line
      const { duckdb, other } = await twins.open(file, 'people');
      for (const data of [duckdb, other]) {
        const sql = `SELECT ${data.dialect.bytes('"t"')} FROM fugu_data ORDER BY "k"`;
        const found = (await data.rows({ sql, values: [] })).open().map(([bytes]) => bytes);
        expect(found).toEqual(texts.map((text) => (text === null ? null : hex(text))));
        await data.close();
      }
    });

    it('both learn the same prefixes of texts: of rows, persons, another table, numbers and dates', async () => {
      const cities = ['ulm', ' ulm ', 'Ulm', 'bonn', 'köln', 'kö', '試', '', 'much too long a name', null];
      const rows = Array.from({ length: 60 }, (_, i) => `(${quoted(`p${i % 17}`)}, ${quoted(cities[(i * 7) % cities.length]!)}, ${(i * i) % 12}, DATE '2020-01-01' + CAST(${i % 3} AS INTEGER))`); // biome-ignore format: one line
      const visits = Array.from({ length: 80 }, (_, i) => `(${quoted(`p${i % 19}`)}, ${quoted(['a', 'b'][i % 2]!)}, ${quoted(cities[(i * 3) % cities.length]!)})`); // biome-ignore format: one line
      const { file } = await twins.make(
        'CREATE TABLE people (person VARCHAR, city VARCHAR, code BIGINT, day DATE)',
        `INSERT INTO people VALUES ${rows.join(', ')}`,
        'CREATE TABLE visits (person VARCHAR, kind VARCHAR, town VARCHAR)',
        `INSERT INTO visits VALUES ${visits.join(', ')}`,
      );
      const tables = new Map([['visits', linkedTable('visits', { columns: new Map([['kind', category('kind', ['a', 'b'])]]) })]]);
      const persons = samplePolicy([], { secret: 'person', unit: 'person', maxRows: 2 });
      const cases: readonly (readonly [Policy, string, string?])[] = [
        [samplePolicy([]), 'city'],
        [persons, 'city'],
        [persons, 'code'],
        [persons, 'day'],
        [{ ...persons, tables }, 'town', 'visits'],
      ];
      const prefixes = [[''], [hex('u'), hex('k'), hex('2')], [hex('ul'), hex('kö').slice(0, 4)], [hex('ulm')]];
      const count = (place: string, policy: Policy, column: string, table?: string) =>
        openEngine({ ...policy, data: { source: place, table: 'people' } }).then(async (engine) => {
          const request = { column, longest: 10, ...(table !== undefined && { table }) };
          const all = async (data: Snapshot) => {
            const found: string[] = [];
            for (const set of prefixes.filter((p) => new Set(p.map((x) => x.length)).size === 1))
              found.push(String((await countContinuations(data, policy, request, set)).open()));
            return found;
          };
          return withSnapshot(engine, all).finally(() => engine.close());
        });
      const { duckdb, other } = twins.places(file);
      for (const [policy, column, table] of cases) {
        const here = await count(duckdb, policy, column, table);
        expect([column, policy.protect.secret, await count(other, policy, column, table)]).toEqual([column, policy.protect.secret, here]); // biome-ignore format: one line
        expect(here[0]!.split(',').some((n) => n !== '0')).toBe(true);
      }
    });

    it('both distinguish names by case where a policy and a question use them', async () => {
      const { file } = await twins.make(
        'CREATE TABLE people (person VARCHAR, kind VARCHAR, age BIGINT)',
        `INSERT INTO people VALUES ('p', 'c', 30), ('q', 'a', 40), ('r', NULL, 50)`,
        'CREATE TABLE visits (person VARCHAR, kind VARCHAR, cost BIGINT)',
        `INSERT INTO visits VALUES ('p', 'a', 3), ('p', 'b', 9), ('q', 'a', 4), ('q', 'c', 5)`,
      );
      const kinds = ['a', 'b', 'c'];
      const columns = new Map([['kind', category('kind', kinds)], ['cost', number('cost', '0', '10')]] as const); // biome-ignore format: one line
      const policy: Policy = {
        ...samplePolicy([category('kind', kinds), number('age', '0', '100')], { secret: 'person', unit: 'person', maxRows: 1 }),
        tables: new Map(['Visits', 'visits'].map((name) => [name, linkedTable(name, { columns })])),
      };
      const per = (feature: string) => ({ perPerson: { from: 'Visits', features: { [feature]: { kind: 'most', column: 'cost' } } }, as: `Each${feature}`, on: ['person'] }); // biome-ignore format: one line
      const joined = (table: string) => ({ table, join: [{ table: 'data', on: ['person'] }] });
      const cases = [
        { kind: 'count', from: { table: 'data', join: [{ table: 'Visits', on: ['person'] }] }, by: ['Visits.kind'] },
        { kind: 'count', from: joined('Visits'), by: ['data.kind'] },
        { kind: 'count', from: joined('visits'), by: ['data.kind', 'visits.kind'] },
        { kind: 'sum', column: 'Most', from: { table: 'data', join: [per('Most')] } },
      ];
      const named = { ...policy, data: { source: '', table: 'people' } };
      const derived = "SELECT CASE WHEN age > 35 THEN 'Old' ELSE 'old' END AS Big, COUNT(*) FROM people GROUP BY Big";
      const bound = [...cases.map(parseBatch), parseSql(derived, named)].map((batch) => bindBatch(batch, named).measures);
      const { duckdb, other } = twins.places(file);
      const found: string[][] = [];
      for (const source of [duckdb, other]) {
        const engine = await openEngine({ ...policy, data: { source, table: 'people' } });
        const outcomes: string[] = [];
        for (const measures of bound)
          outcomes.push(await withSnapshot(engine, async (data) => String((await countCells(data, policy, measures)).map((c) => c.open())))); // biome-ignore format: one line
        found.push(outcomes);
        await engine.close();
      }
      expect(found[1]).toEqual(found[0]);
      expect(found[0]).toEqual(['2,1,1,0', '2,0,2,0', '1,0,1,0,0,0,0,0,1,1,0,0,0,0,0,0', '14', '2,1,0']);
    });
  });
}
