import { DuckDBInstance } from '@duckdb/node-api';

/** The table as DuckDB itself would store it, and its own query for all histograms. */
export async function rawSurvey(file: string): Promise<{ unpivot: () => Promise<unknown>; close: () => void }> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE survey AS FROM '${file}'`);
  return {
    unpivot: () =>
      connection.runAndReadAll('SELECT name, value, count(*) FROM (UNPIVOT survey ON COLUMNS(*)) GROUP BY name, value'),
    close: () => instance.closeSync(),
  };
}
