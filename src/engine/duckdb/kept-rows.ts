import type { DuckDBConnection } from '@duckdb/node-api';
import type { HeldRows, Statement } from '../engine.js';
import { countRows } from './loading.js';

/** Makes every name once: tables of several states of the data stand side by side. */
let made = 0;

/** Results that are kept in tables of their own for as long as the state of the data that they were worked out from. */
export class KeptRows {
  readonly #known = new Map<string, Promise<HeldRows | undefined>>();
  readonly tables: string[] = [];

  /**
   * The rows of a statement, worked out once; undefined where there are more than `most`. What failed is tried again, also by those who waited for it: whoever began it may have had less time left than
   * they have.
   */
  hold(
    statement: Statement,
    most: number,
    use: (write: (connection: DuckDBConnection) => Promise<HeldRows | undefined>) => Promise<HeldRows | undefined>,
  ): Promise<HeldRows | undefined> {
    const { sql, values } = statement;
    const key = JSON.stringify([sql, values.map(String)]);
    const known = this.#known.get(key);
    if (known) return known.catch(() => this.hold(statement, most, use));
    const held = use(async (connection) => {
      const table = `main.fugu_kept_${++made}`;
      this.tables.push(table);
      await connection.run(`CREATE TABLE ${table} AS SELECT * FROM (${sql}) AS kept LIMIT ${most + 1}`, [...values]);
      const rows = await countRows(connection, table);
      if (rows <= most) return { table, rows };
      await connection.run(`DROP TABLE ${table}`);
      return undefined;
    }).catch((error: unknown) => {
      // Before anybody who waited for it hears of it.
      this.#known.delete(key);
      throw error;
    });
    this.#known.set(key, held);
    return held;
  }
}
