import type { DuckDBConnection } from '@duckdb/node-api';
import type { HeldRows, Statement } from '../engine.js';
import { once } from '../once.js';
import { countRows } from './loading.js';

/** Unique suffix of names: tables of several states of the data coexist. */
let made = 0;

/** Results stored in tables of their own, for as long as the state of the data they were computed from. */
export class HeldResults {
  readonly #known: Record<string, Promise<HeldRows | undefined>> = {};
  readonly tables: string[] = [];
  readonly #leastRows: number;
  #cells = 0;

  /** A table of fewer rows takes as much memory as one of `leastRows`. */
  constructor(leastRows = 0) {
    this.#leastRows = leastRows;
  }

  /** Rows of a statement with `columns` columns, computed once; undefined if all stored results would exceed `capacity` cells. */
  hold(
    { sql, values }: Statement,
    columns: number,
    capacity: number,
    use: (write: (connection: DuckDBConnection) => Promise<HeldRows | undefined>) => Promise<HeldRows | undefined>,
  ): Promise<HeldRows | undefined> {
    return once(this.#known, JSON.stringify([sql, values.map(String)]), () =>
      use(async (connection) => {
        const left = () => Math.floor((capacity - this.#cells) / columns);
        const most = left();
        if (most < this.#leastRows) return undefined;
        const table = `main.fugu_kept_${++made}`;
        this.tables.push(table);
        await connection.run(`CREATE TABLE ${table} AS SELECT * FROM (${sql}) AS kept LIMIT ${most + 1}`, [...values]);
        const rows = await countRows(connection, table);
        // Other statements may have stored their results meanwhile.
        const taken = Math.max(rows, this.#leastRows);
        if (taken <= left()) {
          this.#cells += taken * columns;
          return { table, rows };
        }
        await connection.run(`DROP TABLE ${table}`);
        return undefined;
      }),
    );
  }
}
