import { Fault } from '../../errors.js';
import type { DecimalMark } from '../../policy/number-text.js';
import { didYouMean } from '../../policy/suggest.js';
import type { SourceColumn } from '../engine.js';
import type { EngineSource } from '../source.js';
import { quoteName } from '../structure.js';
import type { Connection, Field } from './connection.js';
import { byLetters, dayInText, numberInText } from './dialect.js';

/** A table as it is shown: what follows FROM, and each column as an expression that no cell makes fail. */
export interface Table {
  readonly from: string;
  readonly columns: readonly (SourceColumn & { readonly expression: string; readonly costly?: boolean })[];
  /** What it shows is worked out from other tables, by expressions of somebody else. */
  readonly view: boolean;
  /** By which the server knows it and all that it is made of. */
  readonly oids: readonly number[];
  /** Rows of tables that inherit from one of these are read with it, also of one that comes to inherit meanwhile. */
  readonly heirs: boolean;
}
type Found = Pick<Table, 'from' | 'view' | 'oids' | 'heirs'>;

export async function findTable(connection: Connection, named: string): Promise<Found> {
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
  const { oids, parents } = await reachedFrom(connection, first.oid, named);
  const from = `${quoteName(first.schema)}.${quoteName(first.own)}`;
  // Of a plain table that nothing inherits from no other rows are read, whatever comes to inherit from it.
  const alone = first.kind === 'r' && !parents;
  return { from: alone ? `ONLY ${from}` : from, view: first.kind === 'v', oids, heirs: first.kind === 'v' || parents };
}

interface Reached {
  readonly oids: readonly number[];
  /** One of them is a plain table that others inherit from. */
  readonly parents: boolean;
}

/** Foreign tables are read outside of any snapshot, and so is whatever a function that may change its mind reads: also behind views and partitions. */
async function reachedFrom(connection: Connection, oid: string, named: string): Promise<Reached> {
  const { rows } = await connection.run(
    `WITH RECURSIVE reached(oid) AS (
       SELECT CAST(${Number(oid)} AS OID)
       UNION
       SELECT further.oid FROM reached AS r CROSS JOIN LATERAL (
         SELECT d.refobjid FROM pg_rewrite AS w JOIN pg_depend AS d ON d.classid = CAST('pg_rewrite' AS REGCLASS) AND d.objid = w.oid
           AND d.refclassid = CAST('pg_class' AS REGCLASS) WHERE w.ev_class = r.oid
         UNION SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = r.oid
       ) AS further(oid)
     )
     SELECT
       (SELECT count(*) FROM reached AS r JOIN pg_class AS c ON c.oid = r.oid WHERE c.relkind = 'f'),
       (SELECT count(*) FROM reached AS r JOIN pg_rewrite AS w ON w.ev_class = r.oid
          JOIN pg_depend AS d ON d.classid = CAST('pg_rewrite' AS REGCLASS) AND d.objid = w.oid AND d.refclassid = CAST('pg_proc' AS REGCLASS)
          JOIN pg_proc AS p ON p.oid = d.refobjid WHERE p.provolatile <> 'i'),
       (SELECT string_agg(CAST(oid AS TEXT), ',') FROM reached),
       (SELECT count(*) FROM reached AS r JOIN pg_class AS c ON c.oid = r.oid JOIN pg_inherits AS i ON i.inhparent = c.oid WHERE c.relkind = 'r')`,
  );
  const [foreign, functions] = rows[0]!.slice(0, 2).map(Number);
  if (foreign! > 0)
    throw new Fault(
      'DATA_NOT_FOUND',
      `"${named}" is read from another server, or a part of it is.`,
      'Such a table may change while it is being read. Copy it into this database.',
    );
  if (functions! > 0)
    throw new Fault(
      'DATA_NOT_FOUND',
      `"${named}" is a view that calls functions which may change their answers.`,
      'Declare them IMMUTABLE if they are, or copy what the view shows into a table.',
    );
  return { oids: rows[0]![2]!.split(',').map(Number), parents: Number(rows[0]![3]) > 0 };
}

/** Column types are asked of the server itself: it names what a domain is made of. */
export async function describeTable(
  connection: Connection,
  found: Found,
  { numbers = new Set(), commas = new Set(), dates = new Set() }: Pick<EngineSource, 'numbers' | 'commas' | 'dates'>,
): Promise<Table> {
  const { fields } = await connection.run(`SELECT * FROM ${found.from} LIMIT 0`);
  return {
    ...found,
    columns: fields.map((field) => {
      const column = { name: field.name, ...show(field) };
      if (dates.has(field.name))
        return {
          name: field.name,
          type: 'integer' as const,
          expression: dayInText(`CAST(${column.expression} AS TEXT)`),
          costly: true,
        };
      const mark: DecimalMark = commas.has(field.name) ? ',' : '.';
      return column.type === 'text' && numbers.has(field.name)
        ? { name: field.name, type: 'real' as const, expression: numberInText(column.expression, mark), costly: true }
        : column;
    }),
  };
}

/** Decimals of so many digits, on either side of the point, are far from the ends of a double. */
const mostDigits = 100;

function show({ name, dataTypeID, dataTypeModifier }: Field): { type: SourceColumn['type']; expression: string } {
  const own = quoteName(name);
  const text = { type: 'text', expression: byLetters(`CAST(${own} AS TEXT)`) } as const;
  if (dataTypeID === 16) return { type: 'boolean', expression: own };
  if (dataTypeID === 20 || dataTypeID === 21 || dataTypeID === 23) return { type: 'integer', expression: own };
  if (dataTypeID === 701) return { type: 'real', expression: own };
  if (dataTypeID === 700) return { type: 'real', expression: `CAST(${own} AS DOUBLE PRECISION)` };
  if (dataTypeID !== 1700 || dataTypeModifier < 4) return text;
  const [digits, scale] = [(dataTypeModifier - 4) >> 16, (((dataTypeModifier - 4) & 0x7ff) ^ 1024) - 1024];
  const finite = `${own} <> CAST('NaN' AS NUMERIC)`;
  if (scale <= 0)
    return digits - scale <= 18 ? { type: 'integer', expression: `CASE WHEN ${finite} THEN CAST(${own} AS BIGINT) END` } : text;
  return digits <= mostDigits && scale <= mostDigits ? { type: 'real', expression: `CAST(${own} AS DOUBLE PRECISION)` } : text;
}
