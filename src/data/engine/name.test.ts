import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openNow } from '../../../test/now.js';
import { codeText } from '../../policy/code.js';
import { duckdb } from './duckdb/dialect.js';
import { nameText } from './name.js';

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const inDuckdb = duckdb.name;
/** Value of an expression for each text, in order. */
async function read(texts: readonly string[], expression: string): Promise<unknown[]> {
  await connection.run('CREATE OR REPLACE TABLE t (i INTEGER, s VARCHAR)');
  const appender = await connection.createAppender('t');
  texts.forEach((own, i) => {
    appender.appendInteger(i);
    appender.appendVarchar(own);
    appender.endRow();
  });
  appender.closeSync();
  return (await connection.runAndReadAll(`SELECT ${expression} FROM t ORDER BY i`)).getRows().map(([name]) => name);
}

const one = [
  ['x', ['x', 'x\t', ' x', '\u00a0x\u3000', '\ufeffx', 'x\u200b\r\n', '\u2028x\u0085', '\u0000x', '\u00adx\u2060']],
  ['7', ['7', '7.0', '+7', '7.', '7.000', ' 7\t', '+7.0', '7,0', '+7,00', '7,']],
  ['0', ['0', '-0', '0.0', '-0.00', '+0']],
  ['-1.5', ['-1.5', '-1.50', '-1.5000\n', '-1,5', '-1,50 ']],
  ['caf\u00e9', ['caf\u00e9', 'cafe\u0301', 'cafe\u0301 ']],
  ['12345678901234567890123', ['12345678901234567890123', '12345678901234567890123.0']],
] as const;
const different = ['007', '7', '07', '00', '0', '1e5', '100000', 'Ann', 'ann', 'a b', 'a  b', '1_000', '1000', '0x10', '.5', '0.5', ',5', '1,2,3', '1.2.3', 'a,b', '--1', '+-1', 'NaN', 'inf']; // biome-ignore format: one line

/** Texts with everything that has a case of its own: blanks, signs, digits, points, marks that compose. */
const letters = [' ', '\t', '\n', '\u0000', '\u00a0', '\u0085', '\u200b', '\ufeff', '\u00ad', '+', '-', '.', ',', '0', '1', '9', 'e', 'x', "'", '_', '\u0301', '\u0323', '\u00e9', '\u1e63', '\uac00', '\u11a8', '\u212b', '試', '\ud83d\ude00']; // biome-ignore format: one line
const spelt = fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map((parts) => parts.join(''));
/** A slice in the suite; all of it with FUGU_NAME_RUNS=1000000. */
const runs = Number(process.env.FUGU_NAME_RUNS ?? 5_000);
const stride = runs > 100_000 ? 1 : 61;

describe('a name', () => {
  it.each(one)('the name %s is the same in every spelling', async (name, spellings) => {
    expect(spellings.map(nameText)).toEqual(spellings.map(() => name));
    expect(await read(spellings, inDuckdb('s', 'text'))).toEqual(spellings.map(() => name));
  });

  it('texts that differ by more than spelling are different names', async () => {
    expect(new Set(different.map(nameText)).size).toBe(different.length);
    expect(new Set(await read(different, inDuckdb('s', 'text'))).size).toBe(different.length);
  });

  it('a text without visible characters is no name', async () => {
    const nothing = ['', ' ', '\t\r\n', '\u00a0\u200b', '\ufeff', '\u0000'];
    expect(nothing.map(nameText)).toEqual(nothing.map(() => undefined));
    expect(await read(nothing, inDuckdb('s', 'text'))).toEqual(nothing.map(() => null));
  });

  it('a name is equal in files and in the database, idempotent, and independent of the spelling of codes', async () => {
    const texts = [...fc.sample(spelt, { numRuns: runs, seed: 7 }), ' '.repeat(100_000), `x${'0'.repeat(100_000)}`];
    const names = texts.map(nameText);
    const read1 = await read(texts, inDuckdb('s', 'text'));
    expect(read1).toEqual(names.map((name) => name ?? null));
    expect(names.map((name) => name && nameText(name))).toEqual(names);
    expect(texts.map((own) => nameText(codeText(own)))).toEqual(names);
    // A variant that only trims, as rows were cut in the past, gives other results.
    expect(await read(texts, `nullif(trim(s, ' ' || chr(9) || chr(13) || chr(10)), '')`)).not.toEqual(read1);
  });

  it('the database and JavaScript trim the same characters', async () => {
    const texts: string[] = [];
    for (let c = 1; c < 0x110000; c += c < 0x3100 ? 1 : stride)
      if (c < 0xd800 || c > 0xdfff) texts.push(`${String.fromCodePoint(c)}x`);
    texts.push('\ufeffx');
    const bare = await read(texts, `${inDuckdb('s', 'text')} = 'x'`);
    expect(texts.filter((own, i) => (nameText(own) === 'x') !== bare[i])).toEqual([]);
  });
});

describe('names in a database', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fugu-name-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const whole = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(5,0)', 'DECIMAL(30,0)', 'DECIMAL(12,3)', 'VARCHAR']; // biome-ignore format: one line
  const numbers = ['0', '-0.0', '7', '-7', '120'];
  const open = async (...statements: string[]) => {
    const source = join(folder, `${statements.length}-${Math.floor(performance.now() * 1000)}.duckdb`);
    const made = await DuckDBInstance.create(source);
    const own = await made.connect();
    for (const sql of statements) await own.run(sql);
    own.closeSync();
    made.closeSync();
    const columns = whole.map((_, k) => `k${k}`);
    return openNow({ source, table: 't', relations: [{ name: 'r', table: 't', columns, symmetric: false }] });
  };

  it('a number has one name in every stored type', async () => {
    const row = (n: string) => whole.map((type) => `CAST(${type === 'VARCHAR' ? `'${n}.0'` : n} AS ${type})`);
    const list = whole.map((type, k) => `k${k} ${type}`);
    const engine = await open(
      `CREATE TABLE t (${list.join(', ')})`,
      ...numbers.map((n) => `INSERT INTO t VALUES (${row(n.replace('.0', '')).join(', ')})`),
    );
    const found = (await engine.rows({ sql: 'SELECT * FROM fugu_relation_r', values: [] })).open();
    expect(found.map((names) => new Set(names).size)).toEqual(found.map(() => 1));
    expect(found.map(([name]) => name).sort()).toEqual(['-7', '0', '120', '7']);
    await engine.close();
  });

  it('naming never fails, whatever is stored', async () => {
    const odd = [
      "'nan'::DOUBLE", "'inf'::DOUBLE", "'-inf'::FLOAT", '1e300::DOUBLE', '-1e-300::DOUBLE', '-0.0::DOUBLE', '(2.0::DOUBLE) ^ 80', '340282366920938463463374607431768211455::UHUGEINT',
      '(-170141183460469231731687303715884105727)::HUGEINT', "'2024-02-29'::DATE", "'infinity'::TIMESTAMP", "INTERVAL 3 DAY", "'\\xAA\\x00'::BLOB", "'10101'::BIT", '[1, NULL]', "{'a': 'x', 'b': 2}",
      "MAP {'k': 1}", "uuid '00000000-0000-0000-0000-000000000001'", 'true', "'12:00'::TIME", "'happy'::ENUM('happy')", 'NULL::INTEGER', '12345678901::DECIMAL(38,0)', '0.5::DECIMAL(3,2)',
    ]; // biome-ignore format: a list
    const source = join(folder, 'odd.duckdb');
    const made = await DuckDBInstance.create(source);
    const own = await made.connect();
    await own.run(`CREATE TABLE t AS SELECT ${odd.map((cell, k) => `${cell} AS k${k}`).join(', ')}`);
    own.closeSync();
    made.closeSync();
    const relations = odd.map((_, k) => ({ name: `r${k}`, table: 't', columns: [`k${k}`], symmetric: false }));
    const engine = await openNow({ source, table: 't', relations });
    const names = [];
    for (let k = 0; k < odd.length; k++)
      names.push((await engine.rows({ sql: `SELECT c0 FROM fugu_relation_r${k}`, values: [] })).open()[0]?.[0]);
    expect(names.filter((name) => name === undefined)).toHaveLength(2);
    expect(names.slice(0, 9)).toEqual([
      undefined, 'inf', '-inf', '1e+300', '-1e-300', '0', '1208925819614629174706176', '340282366920938463463374607431768211455', '-170141183460469231731687303715884105727',
    ]); // biome-ignore format: a list
    expect(names.slice(-2)).toEqual(['12345678901', '0.5']);
    await engine.close();
  });
});
