import pg from 'pg';
import { inject } from 'vitest';
import type { EngineSource } from '../../src/data/engine/source.js';

export const server = inject('postgres');

/** A separate database for each test file, with a role that may read and nothing else. */
export class PostgresTown {
  readonly name: string;
  readonly #owner: pg.Client;
  private constructor(name: string, owner: pg.Client) {
    this.name = name;
    this.#owner = owner;
  }

  static async open(name: string): Promise<PostgresTown> {
    const as = (database: string) =>
      new pg.Client({ host: '127.0.0.1', port: server!.port, user: 'owner', password: server!.owner, database });
    const first = as('postgres');
    await first.connect();
    await first.query(`SELECT pg_advisory_lock(1)`);
    const known = await first.query(`SELECT 1 FROM pg_roles WHERE rolname = 'reader'`);
    if (known.rowCount === 0) await first.query(`CREATE ROLE reader LOGIN PASSWORD '${server!.reader}'`);
    await first.query(`DROP DATABASE IF EXISTS ${name}`);
    await first.query(`CREATE DATABASE ${name}`);
    await first.end();
    const owner = as(name);
    owner.on('error', () => undefined);
    await owner.connect();
    // Not even temporary tables.
    await owner.query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC; GRANT CONNECT ON DATABASE ${name} TO reader`);
    await owner.query('ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader');
    process.env.PGPASSWORD = server!.reader;
    return new PostgresTown(name, owner);
  }

  address(user = 'reader', more = ''): string {
    return `postgres://${user}@127.0.0.1:${server!.port}/${this.name}${more}`;
  }
  source(table: string, more: Partial<EngineSource> = {}): { readonly source: string } & Partial<EngineSource> {
    return { source: this.address(), table, ...more };
  }
  async run(sql: string, values?: readonly unknown[]): Promise<readonly unknown[][]> {
    const result = (await this.#owner.query({ text: sql, rowMode: 'array', ...(values && { values: [...values] }) })) as {
      rows: unknown[][];
    };
    return result.rows;
  }

  #tables = 0;
  /** A table of text, its first row the names. */
  async table(rows: readonly (readonly (string | null)[])[], types: readonly string[] = []): Promise<string> {
    const [names, ...cells] = rows as readonly (readonly string[])[];
    const name = `t${++this.#tables}`;
    const quoted = names!.map((n) => `"${n.replaceAll('"', '""')}"`);
    await this.run(`CREATE TABLE ${name} (${quoted.map((n, i) => `${n} ${types[i] ?? 'TEXT'}`).join(', ')})`);
    for (let from = 0; from < cells.length; from += 500) {
      const part = cells.slice(from, from + 500);
      const text = (cell: string | null) => (cell === null ? 'NULL' : `'${cell.replaceAll("'", "''")}'`);
      await this.run(`INSERT INTO ${name} VALUES ${part.map((row) => `(${row.map(text).join(', ')})`).join(', ')}`);
    }
    return name;
  }

  async close(): Promise<void> {
    await this.#owner.end();
  }
}
