import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { EngineSource } from '../../src/engine/source.js';
import { type Twins as Both, quoted } from '../engine-equal.js';
import { type Now, openNow } from '../now.js';
import type { Town } from './town.js';

/** How a type of one database is called in the other. */
const types: readonly [RegExp, string][] = [
  [/^VARCHAR$/, 'TEXT'],
  [/^DOUBLE$/, 'DOUBLE PRECISION'],
  [/^FLOAT$/, 'REAL'],
  [/^UTINYINT|TINYINT$/, 'SMALLINT'],
  [/^HUGEINT$/, 'NUMERIC(39,0)'],
  [/^UBIGINT$/, 'NUMERIC(20,0)'],
  [/^DECIMAL(\(.*\))$/, 'NUMERIC$1'],
];
const inPostgres = (type: string): string => {
  const [sign, own] = types.find(([pattern]) => pattern.test(type)) ?? [];
  return sign ? type.replace(sign, own!) : type;
};

/** The same table in a DuckDB file and in PostgreSQL. */
export class Twins implements Both {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fugu-twins-'));
  readonly #town: Town;
  #made = 0;
  constructor(town: Town) {
    this.#town = town;
  }

  /** `select` is in the words of DuckDB; cells go over as text. */
  async make(...statements: string[]): Promise<{ readonly file: string; readonly tables: readonly string[] }> {
    const file = join(this.#folder, `twin-${++this.#made}.duckdb`);
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    for (const sql of statements) await connection.run(sql);
    const tables = (await connection.runAndReadAll('SELECT table_name FROM duckdb_tables() ORDER BY 1'))
      .getRows()
      .map(([name]) => String(name));
    for (const table of tables) {
      const columns = (await connection.runAndReadAll(`DESCRIBE "${table}"`))
        .getRows()
        .map(([name, type]) => [String(name), String(type)] as const);
      const list = columns.map(([name, type]) => `"${name}" ${inPostgres(type)}`).join(', ');
      await this.#town.run(`DROP TABLE IF EXISTS "${table}"`);
      await this.#town.run(`CREATE TABLE "${table}" (${list})`);
      const cells = columns.map(([name]) => `CAST("${name}" AS VARCHAR)`).join(', ');
      const rows = (await connection.runAndReadAll(`SELECT ${cells} FROM "${table}"`)).getRows() as (string | null)[][];
      for (let from = 0; from < rows.length; from += 500) {
        const part = rows.slice(from, from + 500).map((row) => `(${row.map(quoted).join(', ')})`);
        await this.#town.run(`INSERT INTO "${table}" VALUES ${part.join(', ')}`);
      }
    }
    connection.closeSync();
    instance.closeSync();
    return { file, tables };
  }

  /** Both opened alike. */
  async open(file: string, table: string, more: Partial<EngineSource> = {}): Promise<{ duckdb: Now; other: Now }> {
    const duckdb = await openNow({ source: file, table, ...more });
    const other = await openNow(this.#town.source(table, more));
    return { duckdb, other };
  }

  async remove(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    await this.#town.close();
  }
}
