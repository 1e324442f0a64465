import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll } from 'vitest';

type Connection = Awaited<ReturnType<DuckDBInstance['connect']>>;

/** A database in memory for the tests of a file, without anything of ours. */
export function ownDuckDb(): { readonly connection: Connection } {
  let instance: DuckDBInstance;
  let connection: Connection;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    connection = await instance.connect();
  });
  afterAll(() => {
    connection.closeSync();
    instance.closeSync();
  });
  return {
    get connection() {
      return connection;
    },
  };
}
