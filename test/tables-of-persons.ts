import { DuckDBInstance } from '@duckdb/node-api';
import { duckdb } from '../src/data/engine/duckdb/dialect.js';
import type { Cell, Snapshot, SourceColumn, Statement } from '../src/data/engine/engine.js';
import { Exact } from '../src/data/engine/exact.js';

/** Rows of small tables, changed at will: for counting the same question over many databases. */
export interface Rows {
  readonly columns: readonly SourceColumn[];
  readonly rows: readonly (readonly Cell[])[];
}
export type Tables = ReadonlyMap<string, Rows>;

const stored = { text: 'VARCHAR', integer: 'BIGINT', real: 'DOUBLE', boolean: 'BOOLEAN' } as const;
const literal = (cell: Cell): string =>
  cell === null ? 'NULL' : typeof cell === 'string' ? `'${cell.replaceAll("'", "''")}'` : `${cell}`;

export async function smallDatabase() {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const show = ({ columns, rows }: Rows): string => {
    const typed = columns.map(({ name, type }, i) => `CAST(c${i} AS ${stored[type]}) AS "${name}"`).join(', ');
    const list = rows.length > 0 ? rows : [columns.map(() => null)];
    const values = list.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
    return `SELECT ${typed} FROM (VALUES ${values}) AS v(${columns.map((_, i) => `c${i}`).join(', ')})${rows.length > 0 ? '' : ' WHERE false'}`;
  };
  let made = 0;
  let kept: string[] = [];
  /**
   * The database with these tables, the data's own under `data`. `holds`: results of up to so many rows are held, until the next database. `spoil`: how a planted fault changes a statement.
   */
  const pinned = (
    tables: Tables,
    { holds, spoil = (sql) => sql }: { holds?: number; spoil?: (sql: string) => string } = {},
  ): Snapshot => {
    const before = kept;
    kept = [];
    const dropped = (async () => {
      for (const table of before) await connection.run(`DROP TABLE IF EXISTS ${table}`);
    })();
    const views = [...tables].map(
      ([name, rows]) => `${name === 'data' ? 'fugu_all_rows' : `fugu_table_${name}`} AS MATERIALIZED (${show(rows)})`,
    );
    const shown = (sql: string): string => {
      const spoiled = spoil(sql);
      const own = /^WITH /.test(spoiled)
        ? `, ${spoiled.slice('WITH '.length)}`
        : `, fugu_data AS (SELECT * FROM fugu_all_rows) ${spoiled}`;
      return `WITH ${views.join(', ')}${own}`;
    };
    const hold = async (most: number, { sql, values }: Statement) => {
      await dropped;
      // No name is used twice: tables of the last database may still be dropped.
      const table = `kept_${++made}`;
      kept.push(table);
      await connection.run(`CREATE TABLE ${table} AS ${shown(sql)}`, [...values] as never);
      const rows = Number((await connection.runAndReadAll(`SELECT count(*) FROM ${table}`)).getRows()[0]![0]);
      return rows <= most ? { table, rows } : undefined;
    };
    const ask = async ({ sql, values }: Statement): Promise<Exact<readonly (readonly Cell[])[]>> => {
      const found = await connection.runAndReadAll(shown(sql), [...values] as never);
      return new Exact(found.getRows() as unknown as Cell[][]);
    };
    const data: Snapshot = {
      dialect: duckdb,
      source: { source: '', relations: [], codes: new Set() },
      get whole() {
        return data;
      },
      room: 0,
      ...(holds !== undefined && { hold: (statement: Statement) => hold(holds, statement) }),
      id: async () => '',
      columns: async (table) => tables.get(table ?? 'data')!.columns,
      beneath: async (values) => ({ from: 'fugu_all_rows', values }),
      size: async () => new Exact(tables.get('data')!.rows.length),
      rows: ask,
      count: async (statement) => new Exact((await ask(statement)).open().length),
      // biome-ignore lint/correctness/useYield: nothing is streamed
      async *stream() {
        throw new Error('not streamed');
      },
      close: async () => undefined,
    };
    return data;
  };
  return { pinned, close: () => instance.closeSync() };
}
