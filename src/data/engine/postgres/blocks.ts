import pg from 'pg';
import type { Statement } from '../engine.js';
import type { PostgresField, RawRows } from './connection.js';

/** Letters of one block, but for its last row. */
const lettersAtOnce = 1 << 21;

/** Source of the rows: pausing it makes the server wait. */
interface Source {
  pause(): unknown;
  resume(): unknown;
}

/**
 * Rows of one statement in blocks of a limited number of rows or letters. While a block waits for its reader
 * nothing more is read and the server waits, so memory does not depend on the number or length of rows.
 */
export class RowBlocks {
  readonly query: pg.Query;
  readonly #source: Source;
  readonly #ready: RawRows[] = [];
  readonly #rowsAtOnce: (fields: number) => number;
  #fields: readonly PostgresField[] = [];
  #rows: (string | null)[][] = [];
  #letters = 0;
  #most = 0;
  #ended = false;
  #failed: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor({ sql, values }: Statement, types: pg.CustomTypesConfig, source: Source, rowsAtOnce: (fields: number) => number) {
    this.#source = source;
    this.#rowsAtOnce = rowsAtOnce;
    this.query = new pg.Query({ text: sql, values: [...values], rowMode: 'array', types } as pg.QueryConfig);
    this.query.on('row', (row, result) =>
      this.#take(row as (string | null)[], result as unknown as { fields: readonly PostgresField[] }),
    );
    this.query.on('error', (error) => this.#end({ error }));
    this.query.on('end', () => this.#end());
  }

  /** The server has reported the end of the rows. */
  get ended(): boolean {
    return this.#ended && this.#failed === undefined && this.#ready.length === 0;
  }

  /** Undefined after the last. */
  async next(): Promise<RawRows | undefined> {
    if (this.#ready.length === 0 && !this.#ended) {
      this.#source.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    // Rows before an error are of no use to anybody.
    if (this.#failed) throw this.#failed.error;
    return this.#ready.shift();
  }

  #take(row: (string | null)[], { fields }: { readonly fields: readonly PostgresField[] }): void {
    if (this.#most === 0) {
      this.#fields = fields;
      this.#most = this.#rowsAtOnce(fields.length);
    }
    this.#rows.push(row);
    for (const cell of row) if (cell !== null) this.#letters += cell.length;
    if (this.#rows.length >= this.#most || this.#letters >= lettersAtOnce) this.#close();
  }

  #close(): void {
    this.#ready.push({ fields: this.#fields, rows: this.#rows });
    this.#rows = [];
    this.#letters = 0;
    this.#source.pause();
    this.#wake();
  }

  #end(failed?: { readonly error: unknown }): void {
    if (this.#ended) return;
    if (this.#rows.length > 0) this.#close();
    this.#ended = true;
    this.#failed = failed;
    // The next statement uses the same connection.
    this.#source.resume();
    this.#wake();
  }
}
