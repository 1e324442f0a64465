import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Pinned } from '../../src/engine/engine.js';
import type { EngineSource } from '../../src/engine/source.js';
import { openEngine } from '../../src/terms/open.js';
import type { Twins as Both } from '../engine-equal.js';
import type { Town } from './town.js';

/** How a type of DuckDB is called here. */
const types: readonly [RegExp, string][] = [
  [/^FLOAT$/, 'REAL'],
  [/^UTINYINT$/, 'SMALLINT'],
  [/^TINYINT|SMALLINT$/, 'INTEGER'],
  [/^HUGEINT$/, 'DECIMAL(38,0)'],
  [/^UBIGINT$/, 'DECIMAL(20,0)'],
];
const inTrino = (type: string): string => types.find(([pattern]) => pattern.test(type))?.[1] ?? type;

/** The same table in a DuckDB file and in a cluster. */
export class Twins implements Both {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fugu-twins-'));
  readonly #town: Town;
  #made = 0;
  constructor(town: Town) {
    this.#town = town;
  }

  /** Statements are in the words of DuckDB; cells go over as text. */
  async make(...statements: string[]): Promise<{ readonly file: string; readonly tables: readonly string[] }> {
    const file = join(this.#folder, `twin-${++this.#made}.duckdb`);
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    for (const sql of statements) await connection.run(sql);
    const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRows() as (string | null)[][];
    const tables = (await read('SELECT table_name FROM duckdb_tables() ORDER BY 1')).map(([name]) => String(name));
    for (const table of tables) {
      const columns = (await read(`DESCRIBE "${table}"`)).map(([name, type]) => [String(name), String(type)] as const);
      const cells = await read(`SELECT ${columns.map(([name]) => `CAST("${name}" AS VARCHAR)`).join(', ')} FROM "${table}"`);
      const known = columns.map(([, type]) => (type === 'VARCHAR' ? undefined : inTrino(type))) as string[];
      const written = cells.map((row) => row.map((cell, c) => (known[c] && cell ? spelt(cell) : cell)));
      await this.#town.table([columns.map(([name]) => name), ...written], known, table);
    }
    connection.closeSync();
    instance.closeSync();
    return { file, tables };
  }

  /** Both opened alike, at one moment: looking for another before every statement takes its time here. */
  async open(file: string, table: string, more: Partial<EngineSource> = {}): Promise<{ duckdb: Pinned; other: Pinned }> {
    const held = async (source: Parameters<typeof openEngine>[0]): Promise<Pinned> => {
      const engine = await openEngine(source);
      const data = await engine.pin();
      return Object.assign(Object.create(data) as Pinned, bound(data), { close: () => engine.close() });
    };
    return { duckdb: await held({ source: file, table, ...more }), other: await held(this.#town.source(table, more)) };
  }

  async remove(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    await this.#town.close();
  }
}
const bound = (data: Pinned): Pick<Pinned, 'id' | 'columns' | 'size' | 'rows' | 'count' | 'stream'> => ({
  id: () => data.id(),
  columns: () => data.columns(),
  size: () => data.size(),
  rows: (statement) => data.rows(statement),
  count: (statement) => data.count(statement),
  stream: (statement) => data.stream(statement),
});
const spelt = (cell: string): string => cell.replace(/^(-?)inf$/, '$1Infinity').replace(/^nan$/, 'NaN');
