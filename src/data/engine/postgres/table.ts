import { Fault } from '../../../base/errors.js';
import { didYouMean } from '../../../policy/suggest.js';
import { declaredColumn, longestText, type NumberReadings, type ShownColumn, type ShownTable } from '../shown-table.js';
import { quoteName } from '../structure.js';
import { firstUserOid } from './catalog-marks.js';
import type { PostgresConnection, PostgresField } from './connection.js';
import { byLetters, postgres } from './dialect.js';

export interface PostgresTable extends ShownTable {
  /** Its cells are computed by user-defined expressions: a view, row security, columns that are not stored. */
  readonly view: boolean;
  /** By which the server knows it and all that it is made of. */
  readonly oids: readonly number[];
  /** Some of it goes through functions or types that did not come with the server. */
  readonly made: boolean;
}
type Found = Pick<PostgresTable, 'from' | 'view' | 'oids' | 'made'>;

export async function findTable(connection: PostgresConnection, named: string): Promise<Found> {
  const { rows } = await connection.run(
    `SELECT n.nspname, c.relname, c.relkind, has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE'), c.oid
     FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'`,
  );
  const tables = rows.map(([schema, own, kind, readable, oid]) => ({
    schema: schema!,
    own: own!,
    kind: kind!,
    readable: readable === 't',
    oid: oid!,
  }));
  const found = tables.filter(({ schema, own }) => own === named || `${schema}.${own}` === named);
  const known = tables.filter((t) => t.readable).map((t) => (t.schema === 'public' ? t.own : `${t.schema}.${t.own}`));
  const [first] = found;
  if (!first || found.length > 1)
    throw new Fault(
      'DATA_NOT_FOUND',
      `The database has ${first ? 'several tables' : 'no table'} "${named}".`,
      first
        ? `Write its schema, too: ${found.map((t) => `${t.schema}.${t.own}`).join(', ')}.`
        : didYouMean(named, known, 'Tables'),
    );
  if (!first.readable)
    throw new Fault(
      'ACCESS_DENIED',
      `The database does not let this user read "${named}".`,
      'GRANT SELECT on the table, and USAGE on its schema.',
    );
  return { from: `${quoteName(first.schema)}.${quoteName(first.own)}`, ...(await reachedFrom(connection, first.oid, named)) };
}

/** Built-in functions that depend only on settings which every connection has (connection.ts), though they are not declared immutable. */
const steady =
  '^(date|time|timetz|timestamp|timestamptz|timezone|extract|overlaps|in_range|generate_series|make_timestamptz|interval_pl_timestamptz|date_(part|trunc|bin|add|subtract)|(date|timestamp|timestamptz)_[a-z_]+|to_(char|date|timestamp|number|json|jsonb)|concat|concat_ws|format|convert|convert_from|convert_to|length|quote_[a-z]+|anytextcat|textanycat|numeric|money|array_[a-z_]+|enum_[a-z_]+|(multi)?range_[a-z_]+|jsonb?_[a-z_]+|row_to_json|xml)$';

/**
 * Dates and times, and lists and ranges of them: a text cast to one may
 * be 'today' or 'now', and a cast does not appear as a function call.
 */
const datedTypes =
  '1082|1083|1114|1184|1266|1182|1183|1115|1185|1270|3908|3910|3912|3909|3911|3913|4533|4534|4535|6150|6151|6152|6153|6155|6157';

/**
 * Foreign tables, sequences and functions that may change their results are read outside of any snapshot, also behind views, row security and
 * partitions. Built-in functions are found in stored expressions, others by dependencies too. A sample depends on the physical order of rows.
 */
function reachedSql(oid: number): string {
  const from = (kind: 'pg_rewrite' | 'pg_policy', to: 'pg_class' | 'pg_proc' | 'pg_type', own: string) =>
    `pg_depend AS d ON d.classid = CAST('${kind}' AS REGCLASS) AND d.objid = ${own} AND d.refclassid = CAST('${to}' AS REGCLASS)`;
  // A materialized view holds rows of its own, and rules of tables are for those who write.
  const views = `JOIN pg_class AS v ON v.oid = r.oid AND v.relkind = 'v' JOIN pg_rewrite AS w ON w.ev_class = v.oid AND w.ev_type = '1'`;
  return `WITH RECURSIVE reached(oid) AS (
       SELECT CAST(${oid} AS OID)
       UNION
       SELECT further.oid FROM reached AS r CROSS JOIN LATERAL (
         SELECT d.refobjid FROM pg_class AS v JOIN pg_rewrite AS w ON w.ev_class = v.oid AND w.ev_type = '1' JOIN ${from('pg_rewrite', 'pg_class', 'w.oid')} WHERE v.oid = r.oid AND v.relkind = 'v'
         UNION SELECT d.refobjid FROM pg_policy AS p JOIN ${from('pg_policy', 'pg_class', 'p.oid')} WHERE p.polrelid = r.oid
         UNION SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = r.oid
       ) AS further(oid)
     ), written(expression) AS (
       SELECT CAST(w.ev_action AS TEXT) FROM reached AS r ${views}
       UNION ALL
       SELECT CAST(p.polqual AS TEXT) FROM reached AS r JOIN pg_class AS c ON c.oid = r.oid AND c.relrowsecurity JOIN pg_policy AS p ON p.polrelid = r.oid
     ), called(oid) AS (
       SELECT CAST(found[1] AS OID) FROM written, regexp_matches(expression, ':(?:funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') AS found
       UNION
       SELECT d.refobjid FROM reached AS r ${views} JOIN ${from('pg_rewrite', 'pg_proc', 'w.oid')}
       UNION
       SELECT d.refobjid FROM reached AS r JOIN pg_policy AS p ON p.polrelid = r.oid JOIN ${from('pg_policy', 'pg_proc', 'p.oid')}
     ), typed(oid) AS (
       SELECT a.atttypid FROM reached AS r JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0
       UNION
       SELECT d.refobjid FROM reached AS r ${views} JOIN ${from('pg_rewrite', 'pg_type', 'w.oid')}
       UNION
       SELECT d.refobjid FROM reached AS r JOIN pg_policy AS p ON p.polrelid = r.oid JOIN ${from('pg_policy', 'pg_type', 'p.oid')}
     )
     SELECT
       (SELECT count(*) FROM reached AS r JOIN pg_class AS c ON c.oid = r.oid WHERE c.relkind IN ('f', 'S')),
       (SELECT count(*) FROM called AS f JOIN pg_proc AS p ON p.oid = f.oid
          WHERE p.provolatile <> 'i' AND NOT (p.provolatile = 's' AND p.oid < ${firstUserOid} AND p.proname ~ '${steady}')),
       (SELECT count(*) FROM written WHERE expression ~ '[{](SQLVALUEFUNCTION :op [0-8] |TABLESAMPLECLAUSE )'),
       (SELECT count(*) FROM written WHERE expression ~ ':resulttype (${datedTypes}) :resultcollid '),
       (SELECT count(*) FROM reached AS r JOIN pg_class AS c ON c.oid = r.oid WHERE c.relkind = 'v' OR c.relrowsecurity
          OR EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attgenerated = 'v')),
       (SELECT count(*) FROM (SELECT oid FROM called UNION ALL SELECT oid FROM typed) AS o WHERE o.oid >= ${firstUserOid}),
       (SELECT string_agg(CAST(oid AS TEXT), ',') FROM reached)`;
}

async function reachedFrom(
  connection: PostgresConnection,
  oid: string,
  named: string,
): Promise<Pick<PostgresTable, 'view' | 'oids' | 'made'>> {
  const { rows } = await connection.run(reachedSql(Number(oid)));
  const [foreign, functions, chance, dated, computed, own] = rows[0]!.slice(0, 6).map(Number);
  if (foreign! > 0)
    throw new Fault(
      'DATA_NOT_FOUND',
      `"${named}" is read from another server or from a sequence, or a part of it is.`,
      'Such a table may change while it is being read. Copy it into this database.',
    );
  if (functions! + chance! > 0)
    throw new Fault(
      'DATA_NOT_FOUND',
      `"${named}" is a view, or has row security, that asks the clock or chance, or calls functions which may change their answers.`,
      'Declare functions IMMUTABLE if they are, write the day itself instead of the clock, or copy what is shown into a table.',
    );
  if (dated! > 0)
    throw new Fault(
      'DATA_NOT_FOUND',
      `"${named}" is a view, or has row security, that casts text to a date or a time: a text may say "today" or "now" there, and asks the clock.`,
      "Write to_date(text, 'YYYY-MM-DD') or to_timestamp(text, …) instead of the cast, or copy what is shown into a table.",
    );
  return { view: computed! > 0, made: own! > 0, oids: rows[0]![6]!.split(',').map(Number) };
}

/** The server reports the column types itself: it resolves domains. */
export async function describePostgresTable(
  connection: PostgresConnection,
  found: Found,
  readings: NumberReadings,
): Promise<PostgresTable> {
  const { fields } = await connection.run(`SELECT * FROM ${found.from} LIMIT 0`);
  const columns = fields.map((field) => declaredColumn(postgres, { name: field.name, ...show(field) }, readings));
  return { ...found, columns };
}

/** Decimals with this many digits on either side of the point are far from the limits of a double. */
const maxDigits = 100;

/**
 * Limit on the stored size of lists, documents and the like, which is quick to read; even compressed a hundredfold
 * they are written out quickly. Larger cells have thousands of letters and are missing: they are no code.
 */
const maxStoredBytes = longestText / 4;

/** A cell as text. Writing it out may take many times the bytes that are stored, and fails beyond a gigabyte: what will be too long is not written. */
function asText(
  own: string,
  { dataTypeID, dataTypeSize, dataTypeModifier }: PostgresField,
): Pick<ShownColumn, 'expression' | 'short'> {
  // Of what the catalog names, the name may change or go while the cell stays.
  const text = `CAST(${catalogued.has(dataTypeID) ? `CAST(${own} AS OID)` : own} AS TEXT)`;
  const within = (size: string, most: number) => ({ expression: byLetters(`CASE WHEN ${size} <= ${most} THEN ${text} END`) });
  const bounded =
    dataTypeSize > 0 || (letters.has(dataTypeID) && dataTypeModifier > 4 && 4 * (dataTypeModifier - 4) <= longestText);
  if (bounded) return { expression: byLetters(text) };
  if (letters.has(dataTypeID))
    return { expression: byLetters(text), short: within(`octet_length(${own})`, longestText).expression };
  if (dataTypeID === 17) return within(`octet_length(${own})`, longestText / 2 - 1);
  if (dataTypeID === 1560 || dataTypeID === 1562) return within(`octet_length(${own})`, longestText / 8);
  const { expression } = within(`pg_column_size(${own})`, maxStoredBytes);
  return { expression, short: byLetters(postgres.short!(expression)) };
}
/** REGPROC, REGCLASS, REGROLE and their like: numbers of things that the catalog knows, shown by the names these have. */
const catalogued = new Set([24, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191]);
/** TEXT, VARCHAR and CHAR are text as they are. */
const letters = new Set([25, 1042, 1043]);

function show(field: PostgresField): Pick<ShownColumn, 'type' | 'expression' | 'short'> {
  const { name, dataTypeID, dataTypeModifier } = field;
  const own = quoteName(name);
  const text = { type: 'text', ...asText(own, field) } as const;
  if (dataTypeID === 16) return { type: 'boolean', expression: own };
  if (dataTypeID === 20 || dataTypeID === 21 || dataTypeID === 23) return { type: 'integer', expression: own };
  if (dataTypeID === 701) return { type: 'real', expression: own };
  if (dataTypeID === 700) return { type: 'real', expression: `CAST(${own} AS DOUBLE PRECISION)` };
  if (dataTypeID !== 1700 || dataTypeModifier < 4) return text;
  const [digits, scale] = [(dataTypeModifier - 4) >> 16, (((dataTypeModifier - 4) & 0x7ff) ^ 1024) - 1024];
  const finite = `${own} <> CAST('NaN' AS NUMERIC)`;
  if (scale <= 0)
    return digits - scale <= 18 ? { type: 'integer', expression: `CASE WHEN ${finite} THEN CAST(${own} AS BIGINT) END` } : text;
  return digits <= maxDigits && scale <= maxDigits ? { type: 'real', expression: `CAST(${own} AS DOUBLE PRECISION)` } : text;
}
