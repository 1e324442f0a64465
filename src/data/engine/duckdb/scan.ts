import type { DuckDBConnection } from '@duckdb/node-api';
import { Fault } from '../../../base/errors.js';
import { wholeCode } from '../../../policy/code.js';
import type { DecimalMark } from '../../../policy/number-text.js';
import { didYouMean } from '../../../policy/suggest.js';
import { hasTables } from '../../statfile/statfile.js';
import { longestIn, longestLine } from '../csv/cut.js';
import type { CsvHeader } from '../csv/header.js';
import type { CsvPart } from '../csv/split.js';
import { isPacked } from '../csv/text.js';
import type { FileState } from '../data-file.js';
import type { SourceColumn } from '../engine.js';
import { longestText } from '../short-text.js';
import { duckdbDayInText, duckdbNumberInText } from './dialect.js';
import { duckdbFault } from './fault.js';
import { loadStatFile } from './statfile.js';

export const identifierSql = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`;
export const textLiteral = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Around the rest, not within: inside a function or an AND, a thousand such conditions take seconds to plan. */
export const unless = (missing: string | undefined, expression: string): string =>
  missing === undefined ? expression : `CASE WHEN ${missing} THEN NULL ELSE ${expression} END`;

/** Access to one table: its FROM clause, and each column as an expression over it. */
export interface Scan {
  readonly from: string;
  readonly columns: readonly ScanColumn[];
}
export interface ScanColumn extends SourceColumn {
  readonly expression: string;
  /** The same as `expression` wherever that is a code, and quicker to plan: a survey has a thousand such columns. */
  readonly code?: string;
  /** Cells for which this is true are missing. */
  readonly missing?: string;
  /** Longest cell in bytes. */
  readonly longest?: number;
  /** FROM clause with fewer columns that also contains this column. */
  readonly from?: string;
}

export interface ScanOptions {
  /** Columns declared as categories, whose text is brought to the one spelling of policy/code.ts. */
  readonly codes: ReadonlySet<string>;
  /** Columns from which only numbers are read: their text is parsed as a number. */
  readonly numbers: ReadonlySet<string>;
  /** Those of them that have a comma before the fraction. */
  readonly commas: ReadonlySet<string>;
  /** Those of them that are dates. */
  readonly dates: ReadonlySet<string>;
  readonly memory: number;
  /** The table into which a survey file is loaded. */
  readonly into: string;
}

/** A CSV in a form in which DuckDB can read it. */
export interface CsvScan {
  readonly header: CsvHeader;
  /** The file itself or a readable copy of it. */
  readonly path: string;
  readonly records: number;
  /** By one thread: DuckDB cannot split every file. */
  readonly single: boolean;
  /** The same in several files of some columns each. */
  readonly parts?: readonly CsvPart[];
}

export async function scanFile(
  connection: DuckDBConnection,
  file: FileState,
  table: string | undefined,
  options: ScanOptions,
  csv?: CsvScan,
): Promise<Scan> {
  if (table !== undefined && file.kind !== 'duckdb' && !hasTables(file.path))
    throw new Fault('DATA_NOT_FOUND', 'Only a DuckDB file or a workbook has tables to choose from.', 'Leave data.table out.', {
      place: { file: file.path },
    });
  if (csv) return scanCsv(csv, options);
  if (file.kind === 'statfile') {
    const columns = await loadStatFile(connection, file.path, table, options.into);
    const longest = longestIn(columns.length);
    const shown = (c: (typeof columns)[number]) =>
      c.type === 'text' || options.dates.has(c.name)
        ? textColumn(c.name, options, longest)
        : { ...c, expression: identifierSql(c.name) };
    return { from: options.into, columns: columns.map(shown) };
  }
  const from =
    file.kind === 'parquet' ? `read_parquet(${textLiteral(file.path)})` : await findTable(connection, file.path, table);
  const columns = await describe(connection, from, file.path);
  return {
    from,
    columns: columns.map((column) => {
      if (options.dates.has(column.name))
        return { ...column, type: 'integer', expression: duckdbDayInText(`CAST(${column.expression} AS VARCHAR)`) };
      return options.numbers.has(column.name) ? asNumber(column, markOf(column.name, options)) : column;
    }),
  };
}

/**
 * Treats texts beyond the limit as missing in these columns, as on every server:
 * processing one of hundreds of megabytes takes several times that much memory.
 */
export const withoutLong = ({ from, columns }: Scan, may: (column: ScanColumn) => boolean): Scan => ({
  from,
  columns: columns.map((column) => {
    const { name: own, type, expression } = column;
    if (type !== 'text' || !may(column)) return column;
    const missing = isLong(expression);
    const plain = expression === identifierSql(own) && { code: expression, missing };
    return { ...column, expression: unless(missing, expression), ...plain };
  }),
});
export const isLong = (expression: string): string => `strlen(${expression}) > ${longestText}::BIGINT`;

const markOf = (column: string, { commas }: ScanOptions): DecimalMark => (commas.has(column) ? ',' : '.');
const asNumber = (column: ScanColumn, mark: DecimalMark): ScanColumn =>
  column.type === 'text' ? { ...column, type: 'real', expression: duckdbNumberInText(column.expression, mark) } : column;

function scanCsv(csv: CsvScan, options: ScanOptions): Scan {
  const { header, parts } = csv;
  const { from, columns } = scanText(csv, header.names.length, options);
  if (!parts) return { from, columns };
  const inParts = parts.flatMap(({ path, names }, block) => {
    const part = scanText({ ...csv, path, header: { ...header, names, before: 0 } }, header.names.length, options);
    return part.columns.map((column) => ({ ...column, from: part.from, block }));
  });
  return { from, columns: inParts };
}

/** `all`: how many columns the CSV has; a cell is too long by their number, wherever it is read. */
function scanText({ header: { names, delimiter, before }, path, single }: CsvScan, all: number, options: ScanOptions): Scan {
  const { memory } = options;
  const line = longestLine(names.length);
  // Each thread holds several buffers of this size.
  const buffer = Math.max(memory < 256 * 1024 ** 2 ? 2 ** 22 : 2 ** 25, 2 * line);
  const settings = [
    textLiteral(path),
    'auto_detect=false',
    'header=true',
    ...(before > 0 ? [`skip=${before}`] : []),
    `delim=${textLiteral(delimiter)}`,
    `quote='"'`,
    `escape='"'`,
    `columns={${names.map((n) => `${textLiteral(n)}: 'VARCHAR'`).join(', ')}}`,
    // DuckDB itself looks for a name in small letters.
    ...(isPacked(path) ? ["compression='gzip'"] : []),
    `buffer_size=${buffer}`,
    `max_line_size=${line}`,
    ...(single ? ['parallel=false'] : []),
  ];
  const longest = longestIn(all);
  return { from: `read_csv(${settings.join(', ')})`, columns: names.map((n) => textColumn(n, options, longest)) };
}

/** Text without the blanks around it, or the number it holds; cells that are too long to be read wherever they lie are missing. */
function textColumn(own: string, options: ScanOptions, longest: number): ScanColumn {
  const { codes, numbers, dates } = options;
  const missing = `strlen(${identifierSql(own)}) > ${longest}::BIGINT`;
  if (dates.has(own)) return { name: own, type: 'integer', expression: unless(missing, duckdbDayInText(identifierSql(own))) };
  if (numbers.has(own))
    return { name: own, type: 'real', expression: unless(missing, duckdbNumberInText(identifierSql(own), markOf(own, options))) };
  const trimmed = `trim(${identifierSql(own)})`;
  const filled = `nullif(${trimmed}, '')`;
  if (!codes.has(own)) return { name: own, type: 'text', expression: unless(missing, filled) };
  const code = `regexp_replace(${trimmed}, '${wholeCode}', '\\1')`;
  const expression = unless(missing, `CASE WHEN ends_with(${trimmed}, '0') THEN ${code} ELSE ${filled} END`);
  return { name: own, type: 'text', expression, code, missing, longest };
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
  if (first && chosen.length === 1) return `${attached}.${identifierSql(first.schema)}.${identifierSql(first.own)}`;
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

type Shown = (column: string, size: readonly number[]) => Pick<ScanColumn, 'type' | 'expression'>;
const asText = (column: string): string => `TRY(CAST(${column} AS VARCHAR))`;

/**
 * Every stored type is shown as text, an integer of at most 64 bits, a real or a boolean, by expressions that no value makes fail: TRY, because even
 * TRY_CAST throws on some times. A real is the double nearest to the stored number: of up to 15 digits a cast gives it, of more the text does.
 */
const shown: readonly [RegExp, Shown][] = [
  [/^VARCHAR$/, (c) => ({ type: 'text', expression: c })],
  [/^(U?(TINYINT|SMALLINT|INTEGER)|BIGINT)$/, (c) => ({ type: 'integer', expression: c })],
  [/^DOUBLE$/, (c) => ({ type: 'real', expression: c })],
  [/^FLOAT$/, (c) => ({ type: 'real', expression: `CAST(${c} AS DOUBLE)` })],
  [
    /^DECIMAL\((\d+),(\d+)\)$/,
    (c, [width = 0, scale = 0]) => {
      if (scale > 0)
        return { type: 'real', expression: width <= 15 ? `CAST(${c} AS DOUBLE)` : `TRY_CAST(${asText(c)} AS DOUBLE)` };
      return width <= 18 ? { type: 'integer', expression: `CAST(${c} AS BIGINT)` } : { type: 'text', expression: asText(c) };
    },
  ],
  [/^BOOLEAN$/, (c) => ({ type: 'boolean', expression: c })],
  [/^/, (c) => ({ type: 'text', expression: asText(c) })],
];

async function describe(connection: DuckDBConnection, from: string, file: string): Promise<Scan['columns']> {
  try {
    const found = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${from}`);
    return found.getRows().map((row) => {
      const own = String(row[0]);
      const [sign, show] = shown.find(([type]) => type.test(String(row[1])))!;
      return { name: own, ...show(identifierSql(own), sign.exec(String(row[1]))!.slice(1).map(Number)) };
    });
  } catch (error) {
    throw duckdbFault(error, { file });
  }
}
