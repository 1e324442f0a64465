import type { DuckDBConnection } from '@duckdb/node-api';
import { Fault } from '../../../base/errors.js';
import { wholeCode } from '../../../policy/code.js';
import { didYouMean } from '../../../policy/suggest.js';
import { hasTables } from '../../statfile/statfile.js';
import { longestIn, longestLine } from '../csv/cut.js';
import type { CsvHeader } from '../csv/header.js';
import type { CsvPart } from '../csv/split.js';
import { isPacked } from '../csv/text.js';
import type { FileState } from '../data-file.js';
import { declaredColumn, longestText, type ShownColumn, type ShownTable } from '../shown-table.js';
import type { CellReadings } from '../source.js';
import { quoteName, quoteText } from '../structure.js';
import { duckdb } from './dialect.js';
import { duckdbFault } from './fault.js';
import { loadStatFile } from './statfile.js';

/** Around the rest, not within: inside a function or an AND, a thousand such conditions take seconds to plan. */
export const unless = (missing: string | undefined, expression: string): string =>
  missing === undefined ? expression : `CASE WHEN ${missing} THEN NULL ELSE ${expression} END`;

export type Scan = ShownTable<ScanColumn>;
export interface ScanColumn extends ShownColumn {
  /** The same as `expression` wherever that is a code, and quicker to plan: a survey has a thousand such columns. */
  readonly code?: string;
  /** Cells for which this is true are missing. */
  readonly missing?: string;
  /** Longest cell in bytes. */
  readonly longest?: number;
}

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

export interface ScanRequest {
  readonly file: FileState;
  /** Of a database or a workbook. */
  readonly table?: string | undefined;
  readonly csv?: CsvScan | undefined;
  readonly readings: CellReadings;
  /** Bytes that the database may hold. */
  readonly memory: number;
  /** The table into which a survey file is loaded. */
  readonly into: string;
}

export async function scanFile(connection: DuckDBConnection, request: ScanRequest): Promise<Scan> {
  const { file, table, csv, readings, into } = request;
  if (table !== undefined && file.kind !== 'duckdb' && !hasTables(file.path))
    throw new Fault('DATA_NOT_FOUND', 'Only a DuckDB file or a workbook has tables to choose from.', 'Leave data.table out.', {
      place: { file: file.path },
    });
  if (csv) return scanCsv(csv, request);
  if (file.kind === 'statfile') {
    const columns = await loadStatFile(connection, file.path, table, into);
    const longest = longestIn(columns.length);
    const shown = (c: (typeof columns)[number]) =>
      c.type === 'text' || readings.dates?.has(c.name)
        ? textColumn(c.name, readings, longest)
        : { ...c, expression: quoteName(c.name) };
    return { from: into, columns: columns.map(shown) };
  }
  const from = file.kind === 'parquet' ? `read_parquet(${quoteText(file.path)})` : await findTable(connection, file.path, table);
  const columns = await describe(connection, from, file.path);
  return { from, columns: columns.map((column) => declaredColumn(duckdb, column, readings)) };
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
    const plain = expression === quoteName(own) && { code: expression, missing };
    return { ...column, expression: unless(missing, expression), ...plain };
  }),
});
const isLong = (expression: string): string => `strlen(${expression}) > ${longestText}::BIGINT`;

/** DuckDB's planning time grows with the square of the number of columns: wider tables are processed in blocks of this many. */
export const blockOfColumns = 1000;

/**
 * Reads every cell; returns the columns with texts longer than the limit. Invalid UTF-8 in Parquet, a
 * view that fails on a row, or a cell that does not fit into memory must show now, not during a release.
 */
export async function columnsWithLongTexts(
  connection: DuckDBConnection,
  { from, columns }: Scan,
): Promise<ReadonlySet<ScanColumn>> {
  const long = new Set<ScanColumn>();
  const ask = async (list: readonly string[]) =>
    (await connection.runAndReadAll(`SELECT ${list.join(', ')} FROM ${from}`)).getRows()[0]!;
  for (let first = 0; first < columns.length; first += blockOfColumns) {
    const block = columns.slice(first, first + blockOfColumns);
    const texts = block.filter(({ type }) => type === 'text');
    const all = `bit_xor(hash(${block.map((c) => c.expression).join(', ')}))`;
    const any = texts.length > 0 ? `bool_or(${texts.map((c) => isLong(c.expression)).join(' OR ')})` : 'false';
    if ((await ask([all, any]))[1] !== true) continue;
    const found = await ask(texts.map((c) => `bool_or(${isLong(c.expression)})`));
    for (const [i, column] of texts.entries()) if (found[i] === true) long.add(column);
  }
  return long;
}

function scanCsv(csv: CsvScan, request: ScanRequest): Scan {
  const { header, parts } = csv;
  const { from, columns } = scanText(csv, header.names.length, request);
  if (!parts) return { from, columns };
  const inParts = parts.flatMap(({ path, names }, block) => {
    const part = scanText({ ...csv, path, header: { ...header, names, before: 0 } }, header.names.length, request);
    return part.columns.map((column) => ({ ...column, from: part.from, block }));
  });
  return { from, columns: inParts };
}

/** `all`: how many columns the CSV has; a cell is too long by their number, wherever it is read. */
function scanText(
  { header: { names, delimiter, before }, path, single }: CsvScan,
  all: number,
  { memory, readings }: ScanRequest,
): Scan {
  const line = longestLine(names.length);
  // Each thread holds several buffers of this size.
  const buffer = Math.max(memory < 256 * 1024 ** 2 ? 2 ** 22 : 2 ** 25, 2 * line);
  const settings = [
    quoteText(path),
    'auto_detect=false',
    'header=true',
    ...(before > 0 ? [`skip=${before}`] : []),
    `delim=${quoteText(delimiter)}`,
    `quote='"'`,
    `escape='"'`,
    `columns={${names.map((n) => `${quoteText(n)}: 'VARCHAR'`).join(', ')}}`,
    // DuckDB itself looks for a name in small letters.
    ...(isPacked(path) ? ["compression='gzip'"] : []),
    `buffer_size=${buffer}`,
    `max_line_size=${line}`,
    ...(single ? ['parallel=false'] : []),
  ];
  const longest = longestIn(all);
  return { from: `read_csv(${settings.join(', ')})`, columns: names.map((n) => textColumn(n, readings, longest)) };
}

/** Text without the blanks around it, or the number it holds; cells that are too long to be read wherever they lie are missing. */
function textColumn(name: string, readings: CellReadings, longest: number): ScanColumn {
  const own = quoteName(name);
  const missing = `strlen(${own}) > ${longest}::BIGINT`;
  const declared = declaredColumn(duckdb, { name, type: 'text', expression: own }, readings);
  if (declared.type !== 'text') return { ...declared, expression: unless(missing, declared.expression) };
  const trimmed = `trim(${own})`;
  const filled = `nullif(${trimmed}, '')`;
  if (!readings.codes.has(name)) return { name, type: 'text', expression: unless(missing, filled) };
  const code = `regexp_replace(${trimmed}, '${wholeCode}', '\\1')`;
  const expression = unless(missing, `CASE WHEN ends_with(${trimmed}, '0') THEN ${code} ELSE ${filled} END`);
  return { name, type: 'text', expression, code, missing, longest };
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
  if (first && chosen.length === 1) return `${attached}.${quoteName(first.schema)}.${quoteName(first.own)}`;
  const known = tables.map(({ schema, own }) => (schema === 'main' ? own : `${schema}.${own}`));
  const wrong = (message: string, hint: string) => new Fault('DATA_NOT_FOUND', message, hint, { place: { file: path } });
  if (table !== undefined)
    throw wrong(`The database has ${first ? 'several tables' : 'no table'} "${table}".`, didYouMean(table, known, 'Tables'));
  throw wrong(
    first ? 'The database holds several tables.' : 'The database holds no tables.',
    `Choose one with data: {table: …}. ${didYouMean('', known, 'Tables')}`,
  );
}

type Show = (column: string, size: readonly number[]) => Pick<ScanColumn, 'type' | 'expression'>;
const asText = (column: string): string => `TRY(CAST(${column} AS VARCHAR))`;

/**
 * Every stored type is shown as text, an integer of at most 64 bits, a real or a boolean, by expressions that no value makes fail: TRY, because even
 * TRY_CAST throws on some times. A real is the double nearest to the stored number: of up to 15 digits a cast gives it, of more the text does.
 */
const shown: readonly [RegExp, Show][] = [
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
      return { name: own, ...show(quoteName(own), sign.exec(String(row[1]))!.slice(1).map(Number)) };
    });
  } catch (error) {
    throw duckdbFault(error, { file });
  }
}
