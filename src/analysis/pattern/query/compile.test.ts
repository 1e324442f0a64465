import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { duckdb } from '../../../data/engine/duckdb/dialect.js';
import { relationView } from '../../../data/engine/structure.js';
import { schemaFromText } from './analyse.js';
import { type BoundPattern, bindPattern } from './bind.js';
import { compileLargest, compilePattern } from './compile.js';
import { parsePattern } from './parse.js';
import { shortcut } from './shortcut.js';

type Row = readonly [number, number];
const size = 6;
/** Every assignment of every variable, tested goal by goal. */
function brute(q: BoundPattern, rows: readonly Row[]): bigint {
  const has = new Set(rows.map((r) => r.join()));
  const values = Array.from({ length: size }, (_, i) => String(i));
  const found = new Set<string>();
  const assign = (bound: string[]): void => {
    if (bound.length < q.constants.length + q.variables.length) {
      for (const v of values) assign([...bound, v]);
      return;
    }
    const at = (s: number) => bound[s]!;
    if (q.unequal.some(([a, b]) => at(a) === at(b))) return;
    if (q.goals.every((g) => has.has(g.symbols.map(at).join()))) found.add(q.head.map(at).join());
  };
  assign([...q.constants]);
  return BigInt(found.size);
}

const texts = [
  ...['triangles', '2-paths', '4-cycles', '3-stars', '4-cliques', '2-triangles'].map((n) => shortcut(n, 'R')!.text),
  "q(y) :- R('0', x), R(x, y)",
  "q(z) :- R('0', x), R(x, y), R(y, z)",
  'q(x, z) :- R(x, y), R(y, z)',
  'q() :- R(x, y), R(z, w)',
  'q() :- R(x, x)',
  "q(x) :- R(x, y), R(y, '3'), x != '2', y != x",
];
const queries = texts.map((t) => bindPattern(parsePattern(t), schemaFromText(t, size)));

describe('the SQL of a pattern', () => {
  let instance: DuckDBInstance;
  let connection: Awaited<ReturnType<DuckDBInstance['connect']>>;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    connection = await instance.connect();
    await connection.run(`CREATE TABLE ${relationView('R')}(c0 VARCHAR, c1 VARCHAR)`);
  });
  afterAll(() => {
    connection.closeSync();
    instance.closeSync();
  });
  const ask = async (statement: { sql: string; values: readonly unknown[] }) =>
    BigInt((await connection.runAndReadAll(statement.sql, [...statement.values] as string[])).getRows()[0]![0] as bigint);

  it('the SQL counts what a brute-force search counts, on random graphs with loops', async () => {
    const edge = fc.tuple(fc.nat(size - 1), fc.nat(size - 1));
    const graphs = fc.sample(fc.uniqueArray(edge, { maxLength: 20, selector: (e) => e.join() }), { numRuns: 200, seed: 7 });
    for (const rows of graphs) {
      await connection.run(`DELETE FROM ${relationView('R')}`);
      if (rows.length > 0) await connection.run(`INSERT INTO ${relationView('R')} VALUES ${rows.map((r) => `(${r})`).join()}`);
      for (const [i, q] of queries.entries())
        if (q.variables.length <= 4) expect(await ask(compilePattern(q, duckdb)), texts[i]).toBe(brute(q, rows));
    }
  });

  it('the SQL bounds what one tuple combines with by the largest group', async () => {
    await connection.run(`DELETE FROM ${relationView('R')}`);
    await connection.run(`INSERT INTO ${relationView('R')} VALUES (0,1),(1,2),(2,0),(0,3),(3,1),(1,0)`);
    const triangle = queries[0]!;
    const [x, y, z] = triangle.head as [number, number, number];
    // Without the goal R(x, y): pairs (x, y) and the z with R(y, z), R(z, x).
    expect(await ask(compileLargest(triangle, { part: [1, 2], boundary: [x, y] }, duckdb))).toBe(1n);
    expect(await ask(compileLargest(triangle, { part: [1], boundary: [y, z] }, duckdb))).toBe(1n);
    expect(await ask(compileLargest(triangle, { part: [1], boundary: [y] }, duckdb))).toBe(2n);
    expect(await ask(compileLargest(triangle, { part: [0], boundary: [] }, duckdb))).toBe(6n);
  });

  it('the SQL reads a relation stored in one direction in both when a pragma declares it symmetric', async () => {
    await connection.run(`DELETE FROM ${relationView('R')}`);
    await connection.run(`INSERT INTO ${relationView('R')} VALUES (0,1),(2,1),(0,2),(3,0)`);
    const text = `%symmetric R\n${shortcut('triangles', 'R')!.text}`;
    const q = bindPattern(parsePattern(text), schemaFromText(text, 5));
    expect(await ask(compilePattern(q, duckdb))).toBe(6n);
    // Without nodes of more than two ties nothing closes.
    expect(await ask(compilePattern(q, duckdb, 2))).toBe(0n);
    expect(await ask(compilePattern(q, duckdb, 3))).toBe(6n);
  });

  it('the SQL binds every constant and quotes every name', () => {
    const q = bindPattern(parsePattern("q(x) :- R('a'' OR 1=1', x), x != 'b'"), schemaFromText('q(x):-R(x,y)', 5));
    const { sql, values } = compilePattern(q, duckdb);
    expect(sql).not.toContain('OR 1=1');
    expect(values).toEqual(["a' OR 1=1", 'b']);
  });
});
