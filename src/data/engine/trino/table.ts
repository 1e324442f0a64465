import { Fault } from '../../../base/errors.js';
import type { ClusterAddress } from '../../../policy/address.js';
import { didYouMean } from '../../../policy/suggest.js';
import { declaredColumn, longestText, type NumberReadings, type ShownColumn, type ShownTable } from '../shown-table.js';
import { quoteName, quoteText } from '../structure.js';
import type { StatementRunner } from './client.js';
import { trino } from './dialect.js';
import { TrinoRefused } from './fault.js';
import type { TrinoField } from './page.js';
import { tableName } from './spelling.js';

/** Qualified name of a table: `people` in the schema of the address, or `other.people`. Names have no case. */
export interface TrinoTableName {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
}
export function trinoTableName({ catalog, schema }: ClusterAddress, named: string): TrinoTableName {
  const [first, second, ...more] = named.toLowerCase().split('.');
  if (more.length > 0 || first === '' || second === '')
    throw new Fault(
      'DATA_NOT_FOUND',
      `"${named}" names no table.`,
      'Write table or schema.table; the catalog stands in data.source.',
    );
  return { catalog, schema: second === undefined ? schema : first!, table: second ?? first! };
}

/** The cluster reports the column types itself. */
export async function describeTrinoTable(
  client: StatementRunner,
  place: TrinoTableName,
  version: string,
  readings: NumberReadings,
): Promise<ShownTable> {
  // A view has no version, but is read even if a version is given. It has no
  // "$path" column either, so a statement fails if a view has replaced the table.
  const own = `${tableName(place)}${version}`;
  const from = version === '' ? own : `(SELECT * FROM ${own} WHERE "$path" IS NOT NULL) AS fugu_version`;
  const { fields } = await client.all(`SELECT * FROM ${from} LIMIT 0`).catch(async (error: unknown) => {
    throw error instanceof TrinoRefused && error.errorName === 'TABLE_NOT_FOUND' ? await notFound(client, place) : error;
  });
  const columns = fields.flatMap((field) => {
    const shown = show(field);
    return shown ? [declaredColumn(trino, { name: field.name, ...shown }, readings)] : [];
  });
  return { from, columns };
}

async function notFound(client: StatementRunner, { catalog, schema, table }: TrinoTableName): Promise<Fault> {
  const sql = `SELECT table_name FROM ${tableName({ catalog, schema: 'information_schema', table: 'tables' })} WHERE table_schema = ${quoteText(schema)}`;
  const known = (await client.all(sql)).rows.map(([own]) => String(own));
  return new Fault(
    'DATA_NOT_FOUND',
    `The schema "${schema}" of the cluster has no table "${table}".`,
    didYouMean(table, known, 'Tables'),
  );
}

/**
 * Decimals with up to this many digits are whole numbers over powers of
 * ten that doubles hold exactly, so division gives the nearest double.
 */
const exactDigits = 15;

/** Lists, maps, rows and what a plugin brings are not shown. */
function show({ name, type }: TrinoField): Pick<ShownColumn, 'type' | 'expression' | 'short'> | undefined {
  const own = quoteName(name);
  const [, base, , digits, scale] = /^([a-z ]+?)(\((\d+)(?:,\s*(\d+))?\)(?: with(?:out)? time zone)?)?$/.exec(type) ?? [];
  const text = (expression: string) => ({ type: 'text', expression }) as const;
  if (base === 'boolean') return { type: 'boolean', expression: own };
  if (base === 'bigint') return { type: 'integer', expression: own };
  if (base === 'integer' || base === 'smallint' || base === 'tinyint')
    return { type: 'integer', expression: `CAST(${own} AS BIGINT)` };
  if (base === 'double') return { type: 'real', expression: own };
  if (base === 'real') return { type: 'real', expression: `CAST(${own} AS DOUBLE)` };
  if (base === 'decimal') {
    const written = `CAST(${own} AS VARCHAR)`;
    if (Number(scale) === 0)
      return Number(digits) <= 18 ? { type: 'integer', expression: `CAST(${own} AS BIGINT)` } : text(written);
    return { type: 'real', expression: Number(digits) <= exactDigits ? `CAST(${own} AS DOUBLE)` : `CAST(${written} AS DOUBLE)` };
  }
  if (base === 'char') return text(`rtrim(CAST(${own} AS VARCHAR))`);
  if (base === 'varbinary') return text(`CASE WHEN length(${own}) <= ${longestText / 2} THEN lower(to_hex(${own})) END`);
  if (base === 'json') return { ...text(`json_format(${own})`), short: trino.short!(`json_format(${own})`) };
  if (base === 'varchar') return { ...text(`CAST(${own} AS VARCHAR)`), short: trino.short!(`CAST(${own} AS VARCHAR)`) };
  if (/^(time|timestamp)(\(\d+\))? with time zone$/.test(type)) return text(`CAST(${own} AT TIME ZONE 'UTC' AS VARCHAR)`);
  return /^(varchar|date|time|timestamp|uuid|ipaddress|interval (day to second|year to month))$/.test(base ?? '')
    ? text(`CAST(${own} AS VARCHAR)`)
    : undefined;
}
