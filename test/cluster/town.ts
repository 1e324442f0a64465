import { inject } from 'vitest';
import type { EngineSource } from '../../src/data/engine/source.js';
import { ask } from './start-cluster.js';

export const cluster = inject('trino');
export type Catalog = 'memory' | 'iceberg';
export const catalogs: readonly Catalog[] = cluster?.iceberg ? ['memory', 'iceberg'] : ['memory'];

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A schema of its own for each file of tests. */
export class ClusterTown {
  readonly catalog: Catalog;
  readonly name: string;
  private constructor(catalog: Catalog, name: string) {
    this.catalog = catalog;
    this.name = name;
  }

  static async open(catalog: Catalog, name: string): Promise<ClusterTown> {
    const town = new ClusterTown(catalog, name);
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
    // As one text: long lists of rows take minutes to plan.
    const cell = (i: number) => (types[i] === undefined ? `r[${i + 1}]` : `CAST(r[${i + 1}] AS ${types[i]})`);
    const lines = cells.map((row) => JSON.stringify(row));
    for (let from = 0; from < lines.length; ) {
      let [to, letters] = [from, 0];
      while (to < lines.length && letters < 400_000) letters += lines[to++]!.length;
      const text = quoted(`[${lines.slice(from, to).join(',')}]`);
      await this.run(
        `INSERT INTO ${this.of(name)} SELECT ${names!.map((_, i) => cell(i)).join(', ')} FROM UNNEST(CAST(json_parse(${text}) AS ARRAY(ARRAY(VARCHAR)))) AS u(r)`,
      );
      from = to;
    }
    return name;
  }

  /** Drops the tables; schemas are dropped with the cluster. */
  async close(): Promise<void> {
    const tables = await this.run(
      `SELECT table_name FROM ${this.catalog}.information_schema.tables WHERE table_schema = '${this.name}' AND table_type = 'BASE TABLE'`,
    );
    for (const [table] of tables) await this.run(`DROP TABLE IF EXISTS ${this.of(String(table))}`);
  }
}
