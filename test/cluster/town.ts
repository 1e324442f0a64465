import { inject } from 'vitest';
import type { EngineSource } from '../../src/engine/source.js';
import { ask } from './server.js';

export const cluster = inject('trino');
export type Catalog = 'memory' | 'iceberg';
export const catalogs: readonly Catalog[] = cluster?.iceberg ? ['memory', 'iceberg'] : ['memory'];

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A schema of its own for each file of tests. */
export class Town {
  readonly catalog: Catalog;
  readonly name: string;
  private constructor(catalog: Catalog, name: string) {
    this.catalog = catalog;
    this.name = name;
  }

  static async open(catalog: Catalog, name: string): Promise<Town> {
    const town = new Town(catalog, name);
    await town.run(`CREATE SCHEMA IF NOT EXISTS ${catalog}.${name}`);
    return town;
  }

  address(user = 'reader', more = ''): string {
    return `trino://${user}@127.0.0.1:${cluster!.port}/${this.catalog}/${this.name}${more}`;
  }
  source(table: string, more: Partial<EngineSource> = {}): { readonly source: string } & Partial<EngineSource> {
    return { source: this.address(), table, ...more };
  }
  of(table: string): string {
    return `${this.catalog}.${this.name}."${table}"`;
  }
  run(sql: string): Promise<readonly unknown[][]> {
    return ask(cluster!.port, sql);
  }

  #tables = 0;
  /** A table of text, its first row the names; cells are read as the types that are named. */
  async table(
    rows: readonly (readonly (string | null)[])[],
    types: readonly string[] = [],
    name = `t${++this.#tables}`,
  ): Promise<string> {
    const [names, ...cells] = rows as readonly (readonly string[])[];
    const list = names!.map((n, i) => `"${n}" ${types[i] ?? 'VARCHAR'}`);
    await this.run(`DROP TABLE IF EXISTS ${this.of(name)}`);
    await this.run(`CREATE TABLE ${this.of(name)} (${list.join(', ')})`);
    const written = (cell: string | null, c: number) =>
      cell === null ? 'NULL' : types[c] === undefined ? quoted(cell) : `CAST(${quoted(cell)} AS ${types[c]})`;
    const tuples = cells.map((row) => `(${row.map(written).join(', ')})`);
    for (let from = 0; from < tuples.length; ) {
      let [to, letters] = [from, 0];
      while (to < tuples.length && letters < 300_000) letters += tuples[to++]!.length;
      await this.run(`INSERT INTO ${this.of(name)} VALUES ${tuples.slice(from, to).join(', ')}`);
      from = to;
    }
    return name;
  }

  /** The tables go; what is left of a schema goes with the cluster. */
  async close(): Promise<void> {
    const tables = await this.run(
      `SELECT table_name FROM ${this.catalog}.information_schema.tables WHERE table_schema = '${this.name}' AND table_type = 'BASE TABLE'`,
    );
    for (const [table] of tables) await this.run(`DROP TABLE IF EXISTS ${this.of(String(table))}`);
  }
}
