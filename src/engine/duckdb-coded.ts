import type { DuckDBConnection } from '@duckdb/node-api';
import { codeText } from '../policy/code.js';
import { name, type Scan, text } from './duckdb-scan.js';
import type { EngineSource } from './source.js';

/** Positions of so many codes fit one byte. */
const mostCodes = 255;
const blanks = `' ' || chr(9) || chr(13) || chr(10)`;

/**
 * Holds a table as `fugu_loaded`, its categories one byte a cell: the position of the code in the declared domain. Text outside the domain becomes
 * NULL, which every reading of a category takes for the same. Which columns are stored so depends on the policy alone.
 */
export async function loadCoded(
  connection: DuckDBConnection,
  { from, columns }: Scan,
  domains: EngineSource['domains'],
): Promise<void> {
  const types = await codeTypes(connection, domains ?? new Map());
  const select = columns.map(({ name: own, type, expression }) => {
    const codeType = type === 'text' ? types.get(own) : undefined;
    // Nearly every cell is a code as it stands; only the others are worth a closer look.
    const coded = `coalesce(TRY_CAST(${name(own)} AS ${codeType}), TRY_CAST(trim(${expression}, ${blanks}) AS ${codeType}))`;
    return `${codeType ? coded : expression} AS ${name(own)}`;
  });
  await connection.run(`CREATE OR REPLACE TABLE fugu_loaded AS SELECT ${select.join(', ')} FROM ${from}`);
}

/** The type of each column whose domain is small enough; columns with one domain share a type. */
async function codeTypes(
  connection: DuckDBConnection,
  domains: NonNullable<EngineSource['domains']>,
): Promise<ReadonlyMap<string, string>> {
  const byList = new Map<string, string>();
  const types = new Map<string, string>();
  for (const [own, codes] of domains) {
    if (codes.length === 0 || codes.length > mostCodes || codes.some((code) => code === '' || codeText(code) !== code)) continue;
    const list = codes.map(text).join(', ');
    if (!byList.has(list)) {
      byList.set(list, `fugu_codes_${byList.size}`);
      await connection.run(`CREATE TYPE IF NOT EXISTS ${byList.get(list)!} AS ENUM (${list})`);
    }
    types.set(own, byList.get(list)!);
  }
  return types;
}
