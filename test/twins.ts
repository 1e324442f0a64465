import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Snapshot } from '../src/data/engine/engine.js';
import type { EngineSource } from '../src/data/engine/source.js';
import { openEngine } from '../src/data/terms/open.js';
import type { Twins } from './engine-equal.js';

/** Location of the other of two twins. */
export interface OtherTown {
  /** Its word for a type of DuckDB; undefined for text. */
  readonly type: (duckdb: string) => string | undefined;
  /** Makes a table anew, of cells as text. */
  readonly make: (
    table: string,
    columns: readonly (readonly [name: string, type: string | undefined])[],
    cells: readonly (readonly (string | null)[])[],
  ) => Promise<unknown>;
  readonly source: (table: string, more: Partial<EngineSource>) => Parameters<typeof openEngine>[0];
  readonly close: () => Promise<void>;
}

/** A type by the first pattern that fits it. */
export const renaming =
  (types: readonly (readonly [pattern: RegExp, own: string])[]) =>
  (type: string): string => {
    const [pattern, own] = types.find(([known]) => known.test(type)) ?? [];
    return pattern ? type.replace(pattern, own!) : type;
  };

/** The same tables in a DuckDB file and in another database: statements are in the words of DuckDB, and cells go over as text. */
export function twinsWith(town: OtherTown): Twins {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-twins-'));
  let made = 0;
  return {
    async make(...statements) {
      const file = join(folder, `twin-${++made}.duckdb`);
      const instance = await DuckDBInstance.create(file);
      const connection = await instance.connect();
      for (const sql of statements) await connection.run(sql);
      const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRows() as (string | null)[][];
      const tables = (await read('SELECT table_name FROM duckdb_tables() ORDER BY 1')).map(([name]) => String(name));
      for (const table of tables) {
        const columns = (await read(`DESCRIBE "${table}"`)).map(
          ([name, type]) => [String(name), town.type(String(type))] as const,
        );
        const cells = await read(`SELECT ${columns.map(([name]) => `CAST("${name}" AS VARCHAR)`).join(', ')} FROM "${table}"`);
        await town.make(table, columns, cells);
      }
      connection.closeSync();
      instance.closeSync();
      return { file, tables };
    },
    /** Both at one moment: looking for another before every statement takes its time. */
    async open(file, table, more = {}) {
      return { duckdb: await held({ source: file, table, ...more }), other: await held(town.source(table, more)) };
    },
    places: (file) => ({ duckdb: file, other: (town.source('', {}) as { readonly source: string }).source }),
    async remove() {
      rmSync(folder, { recursive: true, force: true });
      await town.close();
    },
  };
}

/** One moment of the data, closed with its engine. */
async function held(source: Parameters<typeof openEngine>[0]): Promise<Snapshot> {
  const engine = await openEngine(source);
  const data = await engine.snapshot();
  const bound = {
    id: () => data.id(),
    columns: (table?: string) => data.columns(table),
    size: () => data.size(),
    rows: (statement) => data.rows(statement),
    count: (statement) => data.count(statement),
    stream: (statement) => data.stream(statement),
  } satisfies Partial<Snapshot>;
  return Object.assign(Object.create(data) as Snapshot, bound, { close: () => engine.close() });
}
