import type { DuckDBConnection } from '@duckdb/node-api';
import { Fault } from '../errors.js';
import { didYouMean } from '../policy/suggest.js';
import { readCsvHeader } from './csv-header.js';
import type { FileState } from './data-file.js';
import { duckdbFault } from './duckdb-fault.js';
import type { SourceColumn } from './engine.js';

export const name = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`;
export const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** How to read one table: what follows FROM, and each column as an expression over it. */
export interface Scan {
  readonly from: string;
  readonly columns: readonly ScanColumn[];
}
export interface ScanColumn extends SourceColumn {
  readonly expression: string;
  /** The same as `expression` wherever that is a code, and quicker to plan: a survey has a thousand such columns. */
  readonly code?: string;
}

export interface ScanOptions {
  /** Columns declared as categories, whose text is brought to the one spelling of policy/code.ts. */
  readonly codes: ReadonlySet<string>;
  readonly memory: number;
  /** Read a CSV by one thread: DuckDB cannot split every file. */
  readonly single?: boolean;
}

export async function scanFile(
  connection: DuckDBConnection,
  file: FileState,
  table: string | undefined,
  options: ScanOptions,
): Promise<Scan> {
  if (table !== undefined && file.kind !== 'duckdb')
    throw new Fault('DATA_NOT_FOUND', 'Only a DuckDB file has tables to choose from.', 'Leave data.table out.', {
      place: { file: file.path },
    });
  if (file.kind === 'csv') return scanCsv(file.path, options);
  const from = file.kind === 'parquet' ? `read_parquet(${text(file.path)})` : await findTable(connection, file.path, table);
  return { from, columns: await describe(connection, from, file.path) };
}

async function scanCsv(path: string, { codes, memory, single }: ScanOptions): Promise<Scan> {
  const { names, delimiter } = await readCsvHeader(path);
  const options = [
    text(path),
    'auto_detect=false',
    'header=true',
    `delim=${text(delimiter)}`,
    `quote='"'`,
    `escape='"'`,
    `columns={${names.map((n) => `${text(n)}: 'VARCHAR'`).join(', ')}}`,
    // Each thread holds several buffers of this size.
    ...(memory < 256 * 1024 ** 2 ? ['buffer_size=4194304', 'max_line_size=1048576'] : []),
    ...(single ? ['parallel=false'] : []),
  ];
  const column = (n: string): ScanColumn => {
    const trimmed = `trim(${name(n)})`;
    const filled = `nullif(${trimmed}, '')`;
    if (!codes.has(n)) return { name: n, type: 'text', expression: filled };
    const code = `regexp_replace(${trimmed}, '^([+-]?[0-9]+)\\.0+$', '\\1')`;
    return { name: n, type: 'text', expression: `CASE WHEN ends_with(${trimmed}, '0') THEN ${code} ELSE ${filled} END`, code };
  };
  return { from: `read_csv(${options.join(', ')})`, columns: names.map(column) };
}

export const attached = 'fugu_source';

async function findTable(connection: DuckDBConnection, path: string, table: string | undefined): Promise<string> {
  const found = await connection.runAndReadAll(
    `SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '${attached}' AND NOT internal
     UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = '${attached}' AND NOT internal ORDER BY 1, 2`,
  );
  const tables = found.getRows().map(([schema, own]) => ({ schema: String(schema), own: String(own) }));
  const chosen = table === undefined ? tables : tables.filter(({ schema, own }) => own === table || `${schema}.${own}` === table);
  const [first] = chosen;
  if (first && chosen.length === 1) return `${attached}.${name(first.schema)}.${name(first.own)}`;
  const known = tables.map(({ schema, own }) => (schema === 'main' ? own : `${schema}.${own}`));
  throw new Fault(
    'DATA_NOT_FOUND',
    table === undefined
      ? tables.length === 0
        ? 'The database holds no tables.'
        : 'The database holds several tables.'
      : `The database has ${first ? 'several tables' : 'no table'} "${table}".`,
    table === undefined
      ? `Choose one with data: {table: …}. ${didYouMean('', known, 'Tables')}`
      : didYouMean(table, known, 'Tables'),
    { place: { file: path } },
  );
}

/** Every stored type is shown as text, an integer, a real or a boolean, by casts that cannot fail. */
const shown: readonly [RegExp, SourceColumn['type'], (column: string) => string][] = [
  [/^VARCHAR$/, 'text', (c) => c],
  [/^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/, 'integer', (c) => c],
  [/^DOUBLE$/, 'real', (c) => c],
  [/^(FLOAT|DECIMAL)/, 'real', (c) => `CAST(${c} AS DOUBLE)`],
  [/^BOOLEAN$/, 'boolean', (c) => c],
  [/^/, 'text', (c) => `CAST(${c} AS VARCHAR)`],
];

async function describe(connection: DuckDBConnection, from: string, file: string): Promise<Scan['columns']> {
  try {
    const found = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${from}`);
    return found.getRows().map((row) => {
      const own = String(row[0]);
      const [, type, cast] = shown.find(([sign]) => sign.test(String(row[1])))!;
      return { name: own, type, expression: cast(name(own)) };
    });
  } catch (error) {
    throw duckdbFault(error, { file });
  }
}
