import { DuckDBInstance } from '@duckdb/node-api';
import { readFileSync } from '../../../base/platform/files.js';
import { join } from '../../../base/platform/paths.js';
import { quoteName, quoteText } from '../structure.js';
import { makeTempFolder, removeTempFolder } from '../temp-folder.js';
import { duckdbFault } from './fault.js';

/** A column of a file that is made here: nothing of it comes from protected data. */
export interface FileColumn {
  readonly name: string;
  readonly type: 'text' | 'number';
  /** Of numbers: none has a fraction. */
  readonly whole?: boolean;
  readonly values: readonly (string | number | null)[];
}

function typeOf({ type, whole }: FileColumn): string {
  if (type === 'text') return 'VARCHAR';
  return whole ? 'BIGINT' : 'DOUBLE';
}

export async function parquetOf(columns: readonly FileColumn[]): Promise<Uint8Array> {
  const folder = await makeTempFolder();
  let instance: DuckDBInstance | undefined;
  try {
    instance = await DuckDBInstance.create(':memory:', {
      temp_directory: folder,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    const types = columns.map((column) => `${quoteName(column.name)} ${typeOf(column)}`);
    await connection.run(`CREATE TABLE made (${types.join(', ')})`);
    const appender = await connection.createAppender('made');
    for (let r = 0; r < (columns[0]?.values.length ?? 0); r++) {
      for (const { values, whole } of columns) {
        const value = values[r] ?? null;
        if (value === null) appender.appendNull();
        else if (typeof value === 'string') appender.appendVarchar(value);
        else if (whole) appender.appendBigInt(BigInt(value));
        else appender.appendDouble(value);
      }
      appender.endRow();
    }
    appender.closeSync();
    const file = join(folder, 'made.parquet');
    await connection.run(`COPY made TO ${quoteText(file)} (FORMAT PARQUET)`);
    connection.closeSync();
    return readFileSync(file);
  } catch (error) {
    throw duckdbFault(error);
  } finally {
    instance?.closeSync();
    await removeTempFolder(folder);
  }
}
