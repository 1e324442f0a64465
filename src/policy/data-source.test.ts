import { cpSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { readPolicy } from '../data/terms/read.js';
import { dataSource, hasOneSource } from './data-source.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'fugu-source-'));
  folders.push(made);
  mkdirSync(join(made, 'town'));
  writeFileSync(join(made, 'town', 'people.csv'), 'id,x\n1,a\n');
  writeFileSync(join(made, 'town', 'others.csv'), 'id,x\n1,a\n');
  return made;
}
function policyAt(at: string, { data = 'source: people.csv', more = '' } = {}) {
  const file = join(at, 'town', 'policy.yaml');
  writeFileSync(
    file,
    `data: {${data}}\nprotect: {secret: row}\nbudget: {epsilon: 1}\ndependence: none\ncolumns: {x: {type: category, values: [a, b]}}\n${more}`,
  );
  return readPolicy(file);
}

it('a folder that is moved as a whole keeps the identity of its data', async () => {
  const at = folder();
  const before = dataSource(await policyAt(at));
  cpSync(join(at, 'town'), join(at, 'elsewhere', 'town'), { recursive: true });
  expect(dataSource(await policyAt(join(at, 'elsewhere')))).toBe(before);
});

it('two files have two identities, and one file has one however it is reached', async () => {
  const at = folder();
  const people = dataSource(await policyAt(at));
  symlinkSync(join(at, 'town', 'people.csv'), join(at, 'town', 'link.csv'));
  linkSync(join(at, 'town', 'people.csv'), join(at, 'town', 'twin.csv'));
  expect(dataSource(await policyAt(at, { data: 'source: link.csv' }))).toBe(people);
  expect(dataSource(await policyAt(at, { data: 'source: others.csv' }))).not.toBe(people);
  expect(dataSource(await policyAt(at, { data: 'source: twin.csv' }))).not.toBe(people);
});

it('tables of one database have separate identities, for any user and any spelling of the address', async () => {
  const at = folder();
  const of = async (data: string) => dataSource(await policyAt(at, { data, more: 'ledger: ledger.db\n' }));
  const address = 'source: "postgres://reader@db.example/town"';
  expect(await of(`${address}, table: people`)).toBe('postgres://db.example:5432/town#people');
  expect(await of('source: "postgres://other@db.example:5432/town", table: public.people')).toBe(
    await of(`${address}, table: people`),
  );
  expect(await of(`${address}, table: visits`)).not.toBe(await of(`${address}, table: people`));
  const cluster = 'trino://reader@db.example/hive/town';
  expect(await of(`source: "${cluster}/People"`)).toBe(await of(`source: "${cluster}", table: people`));
});

it('only a population named after one file with one table has a single source', async () => {
  const at = folder();
  const one = async (given: Parameters<typeof policyAt>[1]) => hasOneSource(await policyAt(at, given));
  expect(await one({})).toBe(true);
  expect(await one({ more: 'population: town\n' })).toBe(false);
  expect(await one({ more: `population: "data:${join(at, 'town', 'others.csv')}"\n` })).toBe(false);
  expect(await one({ data: 'source: town.duckdb' })).toBe(false);
  expect(await one({ data: 'source: town.xlsx, table: A' })).toBe(false);
});
