import { sha256 } from '../../base/platform/hash.js';
import { viewInjector } from './data-view.js';
import type { Dialect } from './dialect.js';
import type { Cell, Chunk, Snapshot, SourceColumn, Statement } from './engine.js';
import { Exact } from './exact.js';
import { once } from './once.js';
import { type ShownTable, shortTable } from './shown-table.js';
import type { EngineSource } from './source.js';
import { allRows } from './without-rows.js';

/** Views and columns for statements, valid while the tables of the server are unchanged. */
export interface ServerSchema {
  readonly columns: readonly SourceColumn[];
  readonly tableColumns: ReadonlyMap<string, readonly SourceColumn[]>;
  readonly show: (statement: Statement) => Statement;
  /** For statements whose cells are fetched, or that put rows together: texts that are longer than any that is read are missing. */
  readonly showShort: (statement: Statement) => Statement;
  size?: Promise<number>;
}

/** `relations`: the WITH clauses of each by its view. */
export function serverSchema(
  data: ShownTable,
  relations: ReadonlyMap<string, readonly string[]>,
  sideTables: ReadonlyMap<string, ShownTable>,
): ServerSchema {
  const typed = ({ columns }: ShownTable) => columns.map(({ name, type }) => ({ name, type }));
  const eachTable = <T>(change: (table: ShownTable) => T) => new Map([...sideTables].map(([name, own]) => [name, change(own)]));
  return {
    columns: typed(data),
    tableColumns: eachTable(typed),
    show: viewInjector(data, relations, sideTables),
    showShort: viewInjector(shortTable(data), relations, eachTable(shortTable)),
  };
}

/** Snapshot of tables on a server: an adapter runs the statements and notices changes. */
export abstract class ServerSnapshot implements Snapshot {
  abstract readonly dialect: Dialect;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  protected readonly schema: ServerSchema;
  /** Identifiers of its statements in the log of the server. */
  protected readonly logged = new Set<string>();

  constructor({ source, room }: Pick<Snapshot, 'source' | 'room'>, schema: ServerSchema) {
    this.source = source;
    this.room = room;
    this.schema = schema;
  }

  get queries(): readonly string[] {
    return [...this.logged];
  }

  async columns(table?: string): Promise<readonly SourceColumn[]> {
    return table === undefined ? this.schema.columns : this.schema.tableColumns.get(table)!;
  }

  async beneath(values: Statement['values']) {
    return { from: allRows, values };
  }

  async size(): Promise<Exact<number>> {
    const all = { sql: 'SELECT 1 AS one FROM fugu_data', values: [] };
    return new Exact(await once(this.schema, 'size', () => this.#count(all)));
  }

  async count(statement: Statement): Promise<Exact<number>> {
    return statement.everyRow ? this.size() : new Exact(await this.#count(statement));
  }

  async #count(statement: Statement): Promise<number> {
    const { sql, values } = this.schema.show(statement);
    const rows = await this.answer({ sql: `SELECT count(*) FROM (${sql}) AS fugu_counted`, values });
    return Number(rows[0]![0]);
  }

  async rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return new Exact(await this.answer(this.schema.show(statement)));
  }

  protected digestWith(content: unknown): string {
    const namesAndTypes = (list: readonly SourceColumn[]) => list.map(({ name, type }) => [name, type]);
    const { columns, tableColumns } = this.schema;
    return sha256(JSON.stringify([namesAndTypes(columns), content, ...[...tableColumns.values()].map(namesAndTypes)]));
  }

  abstract id(): Promise<string>;
  abstract stream(statement: Statement): AsyncIterable<Exact<Chunk>>;
  abstract close(): Promise<void>;
  /** All rows of a statement that names tables of the server. */
  protected abstract answer(shown: Statement): Promise<readonly (readonly Cell[])[]>;
}
