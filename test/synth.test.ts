import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exactCsv } from '../src/app/report/csv.js';
import { builtOnce, fugu } from './fugu.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
beforeAll(() => {
  builtOnce();
  shop = openWorkshop(policyYaml({ budget: '{ epsilon: 10, delta: 1e-6 }' }), 300);
});
afterAll(() => shop.remove());
const synth = (...words: string[]) => fugu({ cwd: shop.folder }, 'synth', 'policy.yaml', ...words);
const text = (file: string) => readFileSync(join(shop.folder, file), 'utf8');
/** Contents of a file as another program reads them. */
async function readAll(sql: string): Promise<readonly (readonly unknown[])[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowsJS();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

describe('the command fugu synth', () => {
  it('the command writes rows with receipt, dictionary and page, states the cost before, and charges no more for more rows', async () => {
    const words = ['--mode', 'mst', '--epsilon', '1', '--rows', '40', '--out', 'rows.csv'];
    const { code, out, err } = await synth(...words, '--json');
    expect(code).toBe(0);
    expect(err).toMatch(
      /epsilon 1 of 10\. 4 columns, 6 tables to choose from, a model of up to \d+ cells; about \d+ MB of memory/,
    );
    const { written, receipt, measured } = JSON.parse(out);
    expect(written).toEqual(['rows.csv', 'rows.receipt.json', 'rows.dictionary.json', 'rows.html']);
    expect(JSON.parse(text('rows.receipt.json'))).toEqual(receipt);
    const [head, ...rows] = text('rows.csv').trimEnd().split('\n');
    expect(head).toBe('party,age,media');
    expect(rows).toHaveLength(40);
    for (const row of rows) expect(row).toMatch(/^(dem|rep|other)?,\d*,"?(tv|web)?(;web)?"?$/);
    const dictionary = JSON.parse(text('rows.dictionary.json'));
    expect(dictionary.resources[0].schema.fields.map((f: { name: string }) => f.name)).toEqual(['party', 'age', 'media']);
    expect(dictionary.synthetic.tables).toHaveLength(measured.length);
    expect(text('rows.html')).toMatch(/Not good for[\s\S]*party × age|party × media|age × media/);

    const again = await synth(...words);
    expect(again.code).toBe(2);
    expect(again.err).toContain('There is a file rows.csv already.');
    const more = await synth('--mode', 'mst', '--epsilon', '1', '--rows', '70', '--out', 'more.parquet', '--json');
    expect(JSON.parse(more.out).receipt.ledger).toMatchObject({ replayed: true, entry: receipt.ledger.entry });
    const types = await readAll(`SELECT typeof(party), typeof(age) FROM '${join(shop.folder, 'more.parquet')}'`);
    expect(types).toHaveLength(70);
    expect(types[0]).toEqual(['VARCHAR', 'BIGINT']);
  });

  it('the command writes codes as in the policy, whatever is in them, so that readers of the data read the rows', async () => {
    const codes = ['a, b', 'say "x"', 'two\nlines', 'tab\there', '=1+1', '-none', "'+", '日本'];
    const odd = openWorkshop(
      `data: { source: people.csv }\nprotect: { secret: row }\nbudget: { epsilon: 10 }\npopulation: town\nledger: ledger.db\ndependence: none\ncolumns:\n  place: { type: category, values: ${JSON.stringify(codes)} }\n`,
    );
    odd.write('people.csv', exactCsv([['id', 'place'], ...Array.from({ length: 400 }, (_, i) => [i, codes[i % codes.length]!])]));
    const { code, err } = await fugu({ cwd: odd.folder }, 'synth', 'policy.yaml', '--epsilon', '10', '--out', 'rows.csv');
    expect({ code, err }).toMatchObject({ code: 0 });
    const read = await readAll(
      `SELECT DISTINCT place FROM read_csv('${join(odd.folder, 'rows.csv')}', header = true, all_varchar = true) WHERE place IS NOT NULL`,
    );
    odd.remove();
    expect(read.flat().sort()).toEqual([...codes].sort());
  });

  it('the command reads impossible combinations from a file, and refuses before anything is spent what it cannot write', async () => {
    shop.write('request.yaml', 'mode: mst\nimpossible:\n  - { party: dem }\n  - { party: "" }\n  - { age: { from: 47 } }\n');
    const { code, err } = await synth('--request', 'request.yaml', '--epsilon', '1', '--out', 'some.csv');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(text('some.csv')).not.toMatch(/^(dem)?,/m);
    expect(text('some.csv')).not.toMatch(/^\w*,(4[789]|[5-9]\d),/m);
    const refused = await synth('--out', 'rows.json');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('.csv or .parquet');
    expect(existsSync(join(shop.folder, 'rows.json'))).toBe(false);
  });
});
