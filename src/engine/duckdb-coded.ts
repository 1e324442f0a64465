import type { DuckDBConnection } from '@duckdb/node-api';
import { codeText } from '../policy/code.js';
import { name, type Scan, text } from './duckdb-scan.js';
import type { SourceColumn } from './engine.js';
import type { EngineSource } from './source.js';

/** Positions of so many codes fit one byte. */
const mostCodes = 255;
/** As a literal: a thousand expressions to be folded are a second of planning. */
const blanks = `' \t\r\n'`;

export interface CodedScan {
  readonly columns: readonly SourceColumn[];
  readonly select: string;
}

/**
 * The columns of a scan, its categories as positions of their codes in the declared domain, one byte a cell. Text outside the domain becomes NULL, which
 * every reading of a category takes for the same. Which columns are shown so depends on the policy alone. `beside` leaves the text as it is, to be grouped
 * by, and shows the positions in a column of their own.
 */
export async function codeColumns(
  connection: DuckDBConnection,
  scan: Scan,
  domains: EngineSource['domains'],
  beside: boolean,
): Promise<CodedScan> {
  const types = await codeTypes(connection, domains ?? new Map());
  const taken = new Set(scan.columns.map((c) => c.name.toLowerCase()));
  const list: string[] = [];
  const columns = scan.columns.map(({ name: own, type, expression, code = expression }, i): SourceColumn => {
    const codeType = type === 'text' ? types.get(own) : undefined;
    const shown = `fugu_code_${i}`;
    if (codeType === undefined || (beside && taken.has(shown))) {
      list.push(`${expression} AS ${name(own)}`);
      return { name: own, type };
    }
    // Nearly every cell is a code as it stands; only the others are worth a closer look.
    const coded = `coalesce(TRY_CAST(${name(own)} AS ${codeType}), TRY_CAST(trim(${code}, ${blanks}) AS ${codeType}))`;
    list.push(...(beside ? [`${expression} AS ${name(own)}`, `${coded} AS ${shown}`] : [`${coded} AS ${name(own)}`]));
    return { name: own, type, ...(beside && { coded: shown }) };
  });
  return { columns, select: `SELECT ${list.join(', ')} FROM ${scan.from}` };
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
